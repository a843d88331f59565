/* The input is a recording as it is when it begins like one. Otherwise it is a
 * list of blocks (kind, size of 16 bits, first and last time of 64 bits, the
 * payload unpacked), of which a recording is made whose hashes all fit: what
 * hides behind them is then within reach of small mutations. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "record/block.h"
#include "record/format.h"
#include "record/hash.h"
#include "record/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void add_block(struct buffer *out, struct cursor *in)
{
	unsigned char header[BLOCK_HEADER_SIZE];
	struct block_header h = { .kind = cursor_byte(in) };
	const void *payload;

	h.stored = cursor_byte(in);
	h.stored |= (uint32_t)cursor_byte(in) << 8;
	h.first = cursor_u64(in);
	h.last = cursor_u64(in);
	if (h.stored > cursor_left(in))
		h.stored = (uint32_t)cursor_left(in);
	payload = cursor_bytes(in, h.stored);
	if (!payload)
		return;
	h.raw = h.stored;
	h.hash = hash32(payload, h.stored);
	block_header_put(header, &h);
	buffer_add(out, header, sizeof(header));
	buffer_add(out, payload, h.stored);
}

static void build(struct buffer *out, const uint8_t *data, size_t size)
{
	struct cursor in = cursor_over(data, size);
	unsigned char header[FILE_HEADER_SIZE];

	file_header_put(header);
	buffer_add(out, header, sizeof(header));
	while (cursor_left(&in))
		add_block(out, &in);
}

/* The innermost of the nodes of a site has the others above it. */
static void check_inlined(const struct reader *r, uint32_t node)
{
	struct frame_info frame = reader_frame(r, reader_node(r, node).frame);
	uint32_t n =
		frame.site == ID_NONE ? 1 : reader_site_depth(r, frame.site);

	for (; n > 1; n--) {
		node = reader_node(r, node).parent;
		require(node != ID_NONE);
		frame = reader_frame(r, reader_node(r, node).frame);
		require(frame.site == ID_NONE);
	}
}

static void check_definitions(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_processes(r); i++) {
		uint32_t parent = reader_process(r, i)->parent;

		require(parent == ID_NONE || parent < i);
		reader_process_end(r, i, NULL);
	}
	for (uint32_t i = 0; i < reader_threads(r); i++) {
		require(reader_thread(r, i)->process < reader_processes(r));
		require(strlen(reader_thread(r, i)->name) < LIMIT_RAW);
		reader_thread_end(r, i);
		reader_thread_times(r, i);
	}
	for (uint32_t i = 0; i < reader_functions(r); i++)
		require(strlen(reader_function(r, i)->name) < LIMIT_RAW &&
			reader_function(r, i)->kind <= FUNCTION_MARK);
	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info frame = reader_frame(r, i);

		require(frame.function < reader_functions(r));
		require(frame.site == ID_NONE || frame.site < reader_sites(r));
	}
	for (uint32_t i = 0; i < reader_nodes(r); i++) {
		struct node_info node = reader_node(r, i);

		require(node.frame < reader_frames(r));
		require(node.parent == ID_NONE || node.parent < i);
		check_inlined(r, i);
	}
	for (uint32_t i = 0; i < reader_markers(r); i++)
		require(reader_marker(r, i)->start <= reader_marker(r, i)->end);
}

static void check_native(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_modules(r); i++) {
		const struct module_info *m = reader_module(r, i);

		require(strlen(m->path) < LIMIT_RAW && m->start <= m->end &&
			strlen(m->build_id) < LIMIT_RAW);
	}
	for (uint32_t i = 0; i < reader_sites(r); i++) {
		struct site_info s = reader_site(r, i);

		require(s.module == ID_NONE || s.module < reader_modules(r));
		require(s.kind == FUNCTION_NATIVE || s.kind == FUNCTION_KERNEL);
		require(reader_site_depth(r, i) >= 1 &&
			reader_site_depth(r, i) <= LIMIT_INLINED);
	}
}

/* What a reader that looks names up itself says; any will do. */
static void name_site(void *context, uint32_t site,
		      const struct site_info *info,
		      const struct module_info *module)
{
	struct function_info f[2] = { { .name = "inlined" },
				      { .name = module ? module->path : "f" } };
	uint32_t lines[2] = { (uint32_t)info->address, site % 7 };

	reader_set_symbols(context, site, f, lines, site % 3);
}

static void check_run(const struct reader *r, const struct sample_block *b,
		      uint32_t i)
{
	const struct run *run = &b->runs[i];

	require(run->thread < reader_threads(r));
	require(run->node == ID_NONE || run->node < reader_nodes(r));
	require(run->ticks && run->first_tick < b->n_ticks &&
		run->ticks <= b->n_ticks - run->first_tick);
	require(run->state <= LIMIT_STATE);
	require(!i || b->runs[i - 1].first_tick <= run->first_tick);
}

static void check_samples(struct reader *r)
{
	uint64_t before = 0;

	for (size_t i = 0; i < reader_blocks(r); i++) {
		struct sample_block b;

		require(!reader_block(r, i, &b, NULL));
		require(b.first >= before && b.last >= b.first);
		before = b.last;
		require(!b.n_ticks || (b.ticks[0] == b.first &&
				       b.ticks[b.n_ticks - 1] == b.last));
		for (uint32_t k = 1; k < b.n_ticks; k++)
			require(b.ticks[k - 1] <= b.ticks[k]);
		for (uint32_t k = 0; k < b.n_runs; k++)
			check_run(r, &b, k);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer bytes = BUFFER_INIT;
	struct error err = ERROR_INIT;
	struct reader *r = NULL;

	if (!size || data[0] == 0x89)
		buffer_add(&bytes, data, size);
	else
		build(&bytes, data, size);
	if (reader_open_memory(&r, bytes.data, bytes.size, &err)) {
		require(err.text[0] && !strchr(err.text, '\n'));
	} else {
		check_definitions(r);
		check_native(r);
		check_samples(r);
		reader_each_site(r, name_site, r);
		reader_resolve(r);
		check_definitions(r);
		check_native(r);
		check_samples(r);
		reader_source(r, "/srv/shop/main.py", NULL);
		require(strlen(reader_info(r)->note) < LIMIT_RAW);
	}
	reader_free(r);
	buffer_release(&bytes);
	return 0;
}
