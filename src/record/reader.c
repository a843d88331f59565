/* Opening goes in three steps: find out where blocks are, read those that
 * define things, remember those that hold samples. The index saves the first
 * step's walk through the file, but is believed only as long as everything it
 * points at is sound; otherwise the walk is made after all.
 *
 * Definitions build on each other: after a damaged one nothing that follows
 * can be understood, and reading stops there. Any other damaged block costs
 * only itself. */
#include "record/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/format.h"
#include "record/info.h"
#include "record/late.h"
#include "record/places.h"
#include "record/reader_private.h"
#include "record/resolve.h"
#include "record/samples.h"
#include "record/sources.h"
#include "record/tables.h"

struct reader {
	struct input *input;
	struct tables tables;
	struct resolved resolved;
	struct late_names *late; /* or NULL: none so far */
	struct recording_info info;
	struct places blocks; /* of samples */
	struct sources *sources;
	struct sample_arrays arrays;
	uint64_t definitions; /* bytes of them, unpacked */
	char notice[256];     /* "" when all is well */
};

/* The first thing that was found missing is the one that is told. */
__attribute__((format(printf, 2, 3))) static void notice(struct reader *r,
							 const char *format,
							 ...)
{
	va_list args;

	if (r->notice[0])
		return;
	va_start(args, format);
	vsnprintf(r->notice, sizeof(r->notice), format, args);
	va_end(args);
}

static void notice_damage(struct reader *r, uint64_t offset, const char *cost)
{
	notice(r, "the recording is damaged at byte %llu: %s",
	       (unsigned long long)offset, cost);
}

static uint64_t last_time(const struct reader *r)
{
	const struct places *b = &r->blocks;

	return b->count ? b->items[b->count - 1].last : 0;
}

static bool take_definitions(struct reader *r, const struct block_place *place)
{
	const unsigned char *payload;

	r->definitions += place->raw;
	if (r->definitions > LIMIT_DEFINITIONS) {
		notice(r,
		       "the recording names too much: only its first %.3f s "
		       "are here",
		       (double)last_time(r) / 1e9);
		return false;
	}
	payload = input_payload(r->input, place);
	return payload && tables_read(&r->tables, payload, place->raw);
}

static bool take_info(struct reader *r, const struct block_place *place)
{
	const unsigned char *payload = input_payload(r->input, place);

	return payload &&
	       info_decode(&r->info, &r->tables.arena, payload, place->raw);
}

static bool take_samples(struct reader *r, const struct block_place *place)
{
	if (r->blocks.count && place->first < last_time(r))
		return false;
	places_add(&r->blocks, place);
	return true;
}

static bool take_source(struct reader *r, const struct block_place *place)
{
	places_add(&r->sources->places, place);
	return true;
}

/* What to do with a block when opening. Kinds without a row are passed over:
 * some are none of our business here, the others are of a later version. */
static const struct block_type {
	bool (*take)(struct reader *r, const struct block_place *place);
	const char *cost; /* of damage to one */
	bool vital;	  /* nothing after it can be read without it */
} block_types[] = {
	[BLOCK_INFO] = { take_info, "some of its counts are lost", false },
	[BLOCK_DEFINITIONS] = { take_definitions, "what follows cannot be read",
				true },
	[BLOCK_SAMPLES] = { take_samples, "samples out of order are left out",
			    false },
	[BLOCK_MARKERS] = { take_definitions, "some markers are lost", false },
	[BLOCK_SOURCE] = { take_source, "", false },
};

#define N_BLOCK_TYPES (sizeof(block_types) / sizeof(block_types[0]))

static void take_blocks(struct reader *r, const struct places *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct block_place *place = &all->items[i];
		const struct block_type *type;

		if (place->kind >= N_BLOCK_TYPES)
			continue;
		type = &block_types[place->kind];
		if (!type->take || type->take(r, place))
			continue;
		notice_damage(r, place->offset, type->cost);
		if (type->vital)
			return;
	}
}

static void describe(struct reader *r, const struct places *all)
{
	double seconds = (double)last_time(r) / 1e9;

	if (all->cut)
		notice(r,
		       "the recording breaks off at byte %llu: %.3f s of it "
		       "are here",
		       (unsigned long long)all->cut, seconds);
	else if (!all->ended)
		notice(r,
		       "the recording was not finished: %.3f s of it are here",
		       seconds);
	r->info.complete = all->ended && !r->notice[0];
	if (r->info.duration < last_time(r))
		r->info.duration = last_time(r);
}

static void forget(struct reader *r)
{
	tables_release(&r->tables);
	memset(&r->tables, 0, sizeof(r->tables));
	memset(&r->info, 0, sizeof(r->info));
	info_init(&r->info);
	places_release(&r->blocks);
	places_release(&r->sources->places);
	r->definitions = 0;
	r->notice[0] = 0;
}

static void load(struct reader *r)
{
	struct places all = PLACES_INIT;
	bool indexed = places_from_index(&all, r->input);

	if (indexed)
		take_blocks(r, &all);
	if (!indexed || r->notice[0]) {
		places_release(&all);
		forget(r);
		places_by_hopping(&all, r->input);
		if (all.damaged)
			notice_damage(r, all.damaged,
				      "some of it may be missing");
		take_blocks(r, &all);
	}
	describe(r, &all);
	places_release(&all);
}

static int check_header(struct reader *r, const char *name, struct error *err)
{
	uint64_t size = r->input->source.size;
	size_t n = size < FILE_HEADER_SIZE ? (size_t)size : FILE_HEADER_SIZE;
	const unsigned char *p = input_bytes(r->input, 0, n);

	if (!p && n)
		return fail(err, ERR_IO, "cannot read %s", name);
	return file_header_check(p, n, name, err);
}

int reader_open_source(struct reader **out, const struct source *source,
		       const char *name, struct error *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int rc;

	r->input = xcalloc(1, sizeof(*r->input));
	r->input->source = *source;
	r->sources = xcalloc(1, sizeof(*r->sources));
	info_init(&r->info);
	rc = check_header(r, name, err);
	if (rc) {
		reader_free(r);
		return rc;
	}
	load(r);
	resolve(&r->resolved, &r->tables);
	*out = r;
	return 0;
}

int reader_open_memory(struct reader **out, const void *data, size_t size,
		       struct error *err)
{
	struct source source = { .data = size ? data : "", .size = size };

	return reader_open_source(out, &source, "this", err);
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	input_release(r->input);
	free(r->input);
	sources_release(r->sources);
	free(r->sources);
	tables_release(&r->tables);
	resolved_release(&r->resolved);
	late_names_free(r->late);
	places_release(&r->blocks);
	sample_arrays_release(&r->arrays);
	free(r);
}

struct input *reader_input(struct reader *r)
{
	return r->input;
}

void reader_late_tables(const struct reader *r, struct buffer *out)
{
	if (r->late)
		late_encode(r->late, &r->tables, out);
}

const char *reader_notice(const struct reader *r)
{
	return r->notice[0] ? r->notice : NULL;
}

const struct recording_info *reader_info(const struct reader *r)
{
	return &r->info;
}

uint32_t reader_processes(const struct reader *r)
{
	return r->tables.n_processes;
}

uint32_t reader_threads(const struct reader *r)
{
	return r->tables.n_threads;
}

uint32_t reader_functions(const struct reader *r)
{
	return r->tables.n_functions;
}

uint32_t reader_frames(const struct reader *r)
{
	return resolved_any(&r->resolved) ? r->resolved.n_frames
					  : r->tables.n_frames;
}

uint32_t reader_nodes(const struct reader *r)
{
	return resolved_any(&r->resolved) ? r->resolved.n_nodes
					  : r->tables.n_nodes;
}

uint32_t reader_markers(const struct reader *r)
{
	return r->tables.n_markers;
}

const struct process_info *reader_process(const struct reader *r, uint32_t id)
{
	return &r->tables.processes[id];
}

const struct thread_info *reader_thread(const struct reader *r, uint32_t id)
{
	return &r->tables.threads[id];
}

const struct function_info *reader_function(const struct reader *r, uint32_t id)
{
	return &r->tables.functions[id];
}

struct frame_info reader_frame(const struct reader *r, uint32_t id)
{
	return resolved_any(&r->resolved) ? r->resolved.frames[id]
					  : r->tables.frames[id];
}

struct node_info reader_node(const struct reader *r, uint32_t id)
{
	return resolved_any(&r->resolved) ? r->resolved.nodes[id]
					  : r->tables.nodes[id];
}

const struct marker_info *reader_marker(const struct reader *r, uint32_t id)
{
	return &r->tables.markers[id];
}

uint32_t reader_modules(const struct reader *r)
{
	return r->tables.n_modules;
}

uint32_t reader_sites(const struct reader *r)
{
	return r->tables.n_sites;
}

const struct module_info *reader_module(const struct reader *r, uint32_t id)
{
	return &r->tables.modules[id];
}

struct site_info reader_site(const struct reader *r, uint32_t id)
{
	return r->tables.sites[id];
}

uint32_t reader_site_depth(const struct reader *r, uint32_t id)
{
	uint32_t n = r->tables.site_symbols[id].count;

	return n ? n : 1;
}

uint32_t reader_site_function(const struct reader *r, uint32_t id, uint32_t i,
			      uint32_t *line)
{
	uint32_t at = r->tables.site_symbols[id].first + i;

	*line = r->tables.symbols[at].line;
	return r->tables.symbols[at].function;
}

bool reader_site_named(const struct reader *r, uint32_t id)
{
	return r->tables.site_symbols[id].count > 0;
}

uint32_t reader_unnamed_sites(const struct reader *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->tables.n_sites; i++)
		n += !r->tables.site_symbols[i].count;
	return n;
}

void reader_each_site(struct reader *r, site_visitor *visit, void *context)
{
	const struct tables *t = &r->tables;

	for (uint32_t i = 0; i < t->n_sites; i++) {
		struct site_info info = t->sites[i];

		if (!t->site_symbols[i].count)
			visit(context, i, &info,
			      info.module == ID_NONE
				      ? NULL
				      : &t->modules[info.module]);
	}
}

void reader_set_symbols(struct reader *r, uint32_t site,
			const struct function_info *functions,
			const uint32_t *lines, uint32_t n)
{
	unresolve(&r->resolved, &r->tables);
	if (!r->late)
		r->late = late_names_new(&r->tables);
	late_symbols(r->late, &r->tables, site, functions, lines, n);
}

void reader_resolve(struct reader *r)
{
	unresolve(&r->resolved, &r->tables);
	resolve(&r->resolved, &r->tables);
}

uint64_t reader_process_end(const struct reader *r, uint32_t id, int *status)
{
	if (status)
		*status = r->tables.process_ends[id].status;
	return r->tables.process_ends[id].when;
}

uint64_t reader_thread_end(const struct reader *r, uint32_t id)
{
	return r->tables.thread_ends[id];
}

struct thread_times reader_thread_times(const struct reader *r, uint32_t id)
{
	return r->tables.thread_times[id];
}

const char *reader_source(const struct reader *r, const char *file,
			  size_t *size)
{
	return sources_find(r->sources, r->input, &r->tables, file, size);
}

size_t reader_blocks(const struct reader *r)
{
	return r->blocks.count;
}

void reader_block_times(const struct reader *r, size_t block, uint64_t *first,
			uint64_t *last)
{
	*first = r->blocks.items[block].first;
	*last = r->blocks.items[block].last;
}

/* From the nodes of the file to those that are shown. */
static void resolve_runs(const struct reader *r, uint32_t n)
{
	if (!resolved_any(&r->resolved))
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct run *run = &r->arrays.sorted[i];

		if (run->node != ID_NONE)
			run->node = r->resolved.node_ids[run->node];
	}
}

int reader_block(struct reader *r, size_t block, struct sample_block *out,
		 struct error *err)
{
	const struct block_place *place;
	const unsigned char *payload;

	if (block >= r->blocks.count)
		return fail(err, ERR_NOT_FOUND,
			    "the recording has no sample block %zu", block);
	place = &r->blocks.items[block];
	payload = input_payload(r->input, place);
	if (payload &&
	    samples_decode(&r->arrays, payload, place->raw, place->first,
			   place->last, r->tables.n_threads, r->tables.n_nodes,
			   out)) {
		resolve_runs(r, out->n_runs);
		return 0;
	}
	notice_damage(r, place->offset, "the samples of a block are lost");
	*out = (struct sample_block){ .first = place->first,
				      .last = place->last };
	return 0;
}
