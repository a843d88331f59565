#include "record/define.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
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
	map_release(&d->module_ids);
	map_release(&d->site_ids);
	free(d->modules);
	free(d->sites);
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
void define_each_file(struct definer *d, enum function_kind kind, bool *done,
		      bool (*visit)(void *context,
				    const struct function_info *function),
		      void *context)
{
	struct map seen = MAP_INIT;

	for (size_t i = 0; d->functions.mask && i <= d->functions.mask; i++) {
		const struct map_slot *s = &d->functions.slots[i];
		uint32_t file = (uint32_t)s->a;
		uint64_t module = s->b >> 34;
		struct function_info f = { .name = "", .kind = kind };

		if (s->value == MAP_NONE || (s->b >> 32 & 3) != kind ||
		    done[file] || map_get(&seen, file, module) != MAP_NONE)
			continue;
		map_put(&seen, file, module, 0);
		f.file = intern_text(&d->strings, file);
		f.module = intern_text(&d->strings, (uint32_t)module);
		done[file] = visit(context, &f);
	}
	map_release(&seen);
}

uint32_t define_frame(struct definer *d, uint32_t function, uint32_t line)
{
	uint32_t id = map_get(&d->frames, function, line);

	if (id != MAP_NONE)
		return id;
	assert(function < d->n_functions);
	add(d, TABLE_FRAMES, (uint64_t[]){ function, line, 0 });
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

uint32_t define_module(struct definer *d, const struct module_info *info)
{
	uint32_t path = define_string(d, info->path);
	uint32_t build_id = define_string(d, info->build_id);
	uint32_t id = map_get(&d->module_ids, path, build_id);
	struct module_info module = *info;

	if (id != MAP_NONE)
		return id;
	if (module.end < module.start)
		module.start = module.end = 0;
	module.path = intern_text(&d->strings, path);
	module.build_id = intern_text(&d->strings, build_id);
	add(d, TABLE_MODULES,
	    (uint64_t[]){ path, build_id, module.bias, module.start,
			  module.end - module.start });
	map_put(&d->module_ids, path, build_id, d->n_modules);
	ALLOC_GROW(d->modules, d->n_modules + 1, d->modules_capacity);
	d->modules[d->n_modules] = module;
	return d->n_modules++;
}

uint32_t define_site(struct definer *d, const struct site_info *info)
{
	uint64_t rest = (uint64_t)info->module << 2 | info->kind;
	uint32_t id = map_get(&d->site_ids, info->address, rest);

	if (id != MAP_NONE)
		return id;
	assert(info->module == ID_NONE || info->module < d->n_modules);
	add(d, TABLE_SITES,
	    (uint64_t[]){ or_none(info->module), info->address, info->kind });
	map_put(&d->site_ids, info->address, rest, d->n_sites);
	ALLOC_GROW(d->sites, d->n_sites + 1, d->sites_capacity);
	d->sites[d->n_sites] = (struct known_site){ *info, ID_NONE, false };
	return d->n_sites++;
}

/* What a reader without sites shows for one: the library. */
static uint32_t stand_in(struct definer *d, const struct site_info *site)
{
	struct function_info f = { .name = "[unknown]", .kind = site->kind };

	if (site->kind == FUNCTION_KERNEL)
		f.name = "[kernel]";
	if (site->module != ID_NONE) {
		f.module = d->modules[site->module].path;
		f.name = path_base(f.module);
	}
	return define_function(d, &f);
}

uint32_t define_site_frame(struct definer *d, uint32_t site)
{
	uint32_t function;

	assert(site < d->n_sites);
	if (d->sites[site].frame != ID_NONE)
		return d->sites[site].frame;
	function = stand_in(d, &d->sites[site].info);
	add(d, TABLE_FRAMES, (uint64_t[]){ function, 0, or_none(site) });
	return d->sites[site].frame = d->n_frames++;
}

void define_symbol(struct definer *d, uint32_t site,
		   const struct function_info *functions, const uint32_t *lines,
		   uint32_t n)
{
	const struct site_info *info = &d->sites[site].info;
	uint32_t left_out = n > LIMIT_INLINED ? n - LIMIT_INLINED : 0;

	assert(site < d->n_sites);
	if (d->sites[site].named || !n)
		return;
	d->sites[site].named = true;
	/* The outermost is the one that has code of its own; it stays. */
	for (uint32_t i = left_out; i < n; i++) {
		struct function_info f = functions[i];

		f.kind = info->kind;
		if (info->module != ID_NONE && !(f.module && f.module[0]))
			f.module = d->modules[info->module].path;
		add(d, TABLE_SYMBOLS,
		    (uint64_t[]){ site, define_function(d, &f), lines[i] });
	}
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

void define_thread_times(struct definer *d, uint32_t thread,
			 const struct thread_times *times)
{
	assert(thread < d->n_threads);
	add(d, TABLE_THREAD_TIMES,
	    (uint64_t[]){ thread, times->ran, times->on_cpu });
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

/* What a table mentions comes before it. */
static const enum table_tag order[] = {
	TABLE_STRINGS,	    TABLE_PROCESSES,	TABLE_THREADS,
	TABLE_FUNCTIONS,    TABLE_MODULES,	TABLE_SITES,
	TABLE_FRAMES,	    TABLE_NODES,	TABLE_SYMBOLS,
	TABLE_THREAD_NAMES, TABLE_PROCESS_ENDS, TABLE_THREAD_ENDS,
	TABLE_THREAD_TIMES,
};

static_assert(sizeof(order) / sizeof(order[0]) == TABLE_TAGS - 2,
	      "each table but the markers (and none has tag 0)");

void definer_flush(struct definer *d, struct buffer *out)
{
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		table_flush(&d->tables[order[i]], order[i], out);
	d->pending = 0;
}

void definer_flush_markers(struct definer *d, struct buffer *out)
{
	table_flush(&d->tables[TABLE_MARKERS], TABLE_MARKERS, out);
}
