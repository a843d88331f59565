#include "record/define.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/format.h"

#define ROW_SIZE 8 /* about the bytes of a row */

void definer_release(struct definer *d)
{
	intern_release(&d->strings);
	map_release(&d->functions);
	map_release(&d->frames);
	map_release(&d->nodes);
	edges_release(&d->edges);
	free(d->node_frames);
	for (int i = 0; i < TABLE_TAGS; i++)
		table_release(&d->tables[i]);
}

static void add(struct definer *d, enum table_tag tag, const uint64_t *values)
{
	table_add(&d->tables[tag], tag, values);
	d->pending += ROW_SIZE;
}

uint32_t define_string(struct definer *d, const char *text)
{
	size_t size = text ? strnlen(text, LIMIT_STRING) : 0;
	uint32_t known = d->strings.count;
	uint32_t id = intern_bytes(&d->strings, text ? text : "", size);

	if (id == known) {
		add(d, TABLE_STRINGS, (uint64_t[]){ size, 0 });
		buffer_add(&d->tables[TABLE_STRINGS].column[1], text, size);
		d->pending += size;
	}
	return id;
}

/* Ids of which ID_NONE is one are stored as one more, so that none is 0. */
static uint64_t or_none(uint32_t id)
{
	return (uint32_t)(id + 1);
}

uint32_t define_process(struct definer *d, const struct process_info *info)
{
	add(d, TABLE_PROCESSES,
	    (uint64_t[]){ info->pid, or_none(info->parent), info->start,
			  define_string(d, info->command),
			  define_string(d, info->exe),
			  define_string(d, info->python) });
	return d->n_processes++;
}

uint32_t define_thread(struct definer *d, const struct thread_info *info)
{
	assert(info->process < d->n_processes);
	add(d, TABLE_THREADS,
	    (uint64_t[]){ info->process, info->tid, info->start,
			  define_string(d, info->name), info->main,
			  info->interpreter });
	return d->n_threads++;
}

uint32_t define_function(struct definer *d, const struct function_info *info)
{
	uint64_t name = define_string(d, info->name);
	uint64_t file = define_string(d, info->file);
	uint64_t module = define_string(d, info->module);
	uint64_t place = name << 32 | file;
	uint64_t rest = (module << 2 | info->kind) << 32 | info->line;
	uint32_t id = map_get(&d->functions, place, rest);

	if (id != MAP_NONE)
		return id;
	add(d, TABLE_FUNCTIONS,
	    (uint64_t[]){ name, file, info->line, info->kind, module });
	map_put(&d->functions, place, rest, d->n_functions);
	return d->n_functions++;
}

/* The keys of the map are as define_function() makes them. */
void define_mark_files(const struct definer *d, bool *is_file)
{
	for (size_t i = 0; d->functions.mask && i <= d->functions.mask; i++) {
		const struct map_slot *s = &d->functions.slots[i];

		if (s->value != MAP_NONE && (s->b >> 32 & 3) == FUNCTION_PYTHON)
			is_file[(uint32_t)s->a] = true;
	}
}

uint32_t define_frame(struct definer *d, uint32_t function, uint32_t line)
{
	uint32_t id = map_get(&d->frames, function, line);

	if (id != MAP_NONE)
		return id;
	assert(function < d->n_functions);
	add(d, TABLE_FRAMES, (uint64_t[]){ function, line });
	map_put(&d->frames, function, line, d->n_frames);
	return d->n_frames++;
}

static void add_node(struct definer *d, uint32_t parent, uint32_t frame)
{
	uint32_t id = d->n_nodes;
	uint32_t caller = parent == ID_NONE ? ID_NONE : d->node_frames[parent];

	/* How far back the parent is; 0: none. */
	add(d, TABLE_NODES,
	    (uint64_t[]){ parent == ID_NONE ? 0 : id - parent,
			  edges_encode(&d->edges, caller, frame) });
	ALLOC_GROW(d->node_frames, (size_t)id + 1, d->node_frames_capacity);
	d->node_frames[id] = frame;
}

uint32_t define_node(struct definer *d, uint32_t parent, uint32_t frame)
{
	uint32_t id = map_get(&d->nodes, parent, frame);

	if (id != MAP_NONE)
		return id;
	id = d->n_nodes;
	assert(frame < d->n_frames && (parent == ID_NONE || parent < id));
	add_node(d, parent, frame);
	map_put(&d->nodes, parent, frame, id);
	return d->n_nodes++;
}

void define_thread_name(struct definer *d, uint32_t thread, const char *name)
{
	assert(thread < d->n_threads);
	add(d, TABLE_THREAD_NAMES,
	    (uint64_t[]){ thread, define_string(d, name) });
}

void define_process_end(struct definer *d, uint32_t process, uint64_t when,
			int status)
{
	assert(process < d->n_processes);
	add(d, TABLE_PROCESS_ENDS,
	    (uint64_t[]){ process, when, or_none((uint32_t)status) });
}

void define_thread_end(struct definer *d, uint32_t thread, uint64_t when)
{
	assert(thread < d->n_threads);
	add(d, TABLE_THREAD_ENDS, (uint64_t[]){ thread, when });
}

void define_marker(struct definer *d, const struct marker_info *info)
{
	uint64_t end = info->end < info->start ? info->start : info->end;

	assert(info->thread == ID_NONE || info->thread < d->n_threads);
	add(d, TABLE_MARKERS,
	    (uint64_t[]){ info->start, end - info->start,
			  define_string(d, info->name), or_none(info->thread),
			  define_string(d, info->text) });
}

void definer_flush(struct definer *d, struct buffer *out)
{
	for (int tag = 1; tag < TABLE_MARKERS; tag++)
		table_flush(&d->tables[tag], tag, out);
	d->pending = 0;
}

void definer_flush_markers(struct definer *d, struct buffer *out)
{
	table_flush(&d->tables[TABLE_MARKERS], TABLE_MARKERS, out);
}
