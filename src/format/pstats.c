/* The file that cProfile writes and pstats.Stats, snakeviz and others load:
 *
 *   marshal of {(file, line, name): (cc, nc, tt, ct, callers)}
 *   callers: {(file, line, name): (cc, nc, tt, ct)}
 *
 * Only types are used that every marshal since Python 2.5 reads. cc and nc are
 * samples, not calls, which a sampler cannot count; tt and ct are seconds. A
 * tuple would have to say its functions' names again and again: that is how the
 * format is. Functions that share file, line and name are one entry, or one
 * would hide the other. */
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "format/call_graph.h"
#include "format/label.h"

#define DIGIT_BITS 15 /* of marshal's long integers */

struct pstats {
	struct profile *profile;
	struct sink *sink;
	struct call_graph graph;
};

static void add_int(struct buffer *out, uint64_t v)
{
	uint64_t digits = 0;

	if (v <= INT32_MAX) {
		buffer_add_byte(out, 'i');
		buffer_add_u32(out, (uint32_t)v);
		return;
	}
	for (uint64_t rest = v; rest; rest >>= DIGIT_BITS)
		digits++;
	buffer_add_byte(out, 'l');
	buffer_add_u32(out, (uint32_t)digits);
	for (; v; v >>= DIGIT_BITS) {
		buffer_add_byte(out, v & 0xff);
		buffer_add_byte(out, (v >> 8) & 0x7f);
	}
}

static void add_double(struct buffer *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	buffer_add_byte(out, 'g');
	buffer_add_u64(out, bits);
}

static void add_text(struct buffer *out, const char *s)
{
	struct buffer clean = BUFFER_INIT;

	label_add_clean(&clean, s, "", ' ');
	buffer_add_byte(out, 'u');
	buffer_add_u32(out, (uint32_t)clean.size);
	buffer_add(out, clean.data, clean.size);
	buffer_release(&clean);
}

static void add_tuple(struct buffer *out, uint32_t n)
{
	buffer_add_byte(out, '(');
	buffer_add_u32(out, n);
}

static void add_key(struct buffer *out, const struct function_info *f)
{
	const char *file = *f->file ? f->file : f->module;

	add_tuple(out, 3);
	add_text(out, *file ? file : "~");
	add_int(out, f->line);
	add_text(out, f->name);
}

/* cc, nc, tt, ct */
static void add_costs(struct pstats *w, uint64_t self, uint64_t total)
{
	double seconds = w->profile->seconds_per_sample;

	add_int(&w->sink->out, total);
	add_int(&w->sink->out, total);
	add_double(&w->sink->out, (double)self * seconds);
	add_double(&w->sink->out, (double)total * seconds);
}

static void add_callers(struct pstats *w, uint32_t function, uint32_t *edge)
{
	struct buffer *out = &w->sink->out;

	buffer_add_byte(out, '{');
	for (;
	     *edge < w->graph.count && w->graph.edges[*edge].callee == function;
	     ++*edge) {
		const struct call_edge *e = &w->graph.edges[*edge];

		add_key(out, reader_function(w->profile->reader, e->caller));
		add_tuple(out, 4);
		add_costs(w, e->self, e->total);
	}
	buffer_add_byte(out, '0');
}

static void add_no_stack(struct pstats *w)
{
	static const struct function_info none = { LABEL_NO_STACK, "", 0,
						   FUNCTION_MARK, "" };

	add_key(&w->sink->out, &none);
	add_tuple(&w->sink->out, 5);
	add_costs(w, w->profile->no_stack, w->profile->no_stack);
	buffer_add_string(&w->sink->out, "{0");
}

static int add_functions(struct pstats *w)
{
	const struct reader *r = w->profile->reader;
	uint32_t n = reader_functions(r), edge = 0;
	int status = 0;

	buffer_add_byte(&w->sink->out, '{');
	for (uint32_t i = 0; i < n && !status; i++) {
		if (!w->graph.total[i])
			continue;
		add_key(&w->sink->out, reader_function(r, i));
		add_tuple(&w->sink->out, 5);
		add_costs(w, w->graph.self[i], w->graph.total[i]);
		add_callers(w, i, &edge);
		status = sink_drain(w->sink);
	}
	if (w->profile->no_stack)
		add_no_stack(w);
	buffer_add_byte(&w->sink->out, '0');
	return status;
}

/* For each function the first that has the same key; free() it. */
static uint32_t *find_same(const struct reader *r)
{
	uint32_t n = reader_functions(r), known = 0;
	uint32_t *same = xcalloc((size_t)n + 1, sizeof(*same));
	uint32_t *first = xcalloc((size_t)n + 1, sizeof(*first));
	struct intern keys = INTERN_INIT;
	struct buffer key = BUFFER_INIT;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id;

		buffer_reset(&key);
		add_key(&key, reader_function(r, i));
		id = intern_bytes(&keys, (char *)key.data, key.size);
		if (id == known)
			first[known++] = i;
		same[i] = first[id];
	}
	free(first);
	intern_release(&keys);
	buffer_release(&key);
	return same;
}

static int write_pstats(struct profile *p, const struct format_options *options,
			struct sink *sink, struct error *err)
{
	struct pstats w = { .profile = p, .sink = sink };
	uint32_t *same = find_same(p->reader);
	struct call_graph_options by_key = { .same_as = same };
	int status;

	(void)options;
	(void)err;
	call_graph_fill(&w.graph, p, &by_key);
	call_graph_sort_by_callee(&w.graph);
	status = add_functions(&w);
	call_graph_release(&w.graph);
	free(same);
	return status;
}

const struct format_ops format_pstats = {
	.name = "pstats",
	.prefix = "",
	.suffix = ".pstats",
	.summary = "pstats, snakeviz and gprof2dot",
	.write = write_pstats,
};
