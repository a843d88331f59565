/* One function per kind of row. Each refuses a row whose ids are not defined
 * yet, so that whatever the tables hold is sound whatever the file said. */
#include "record/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "record/format.h"
#include "record/table.h"

const char *tables_string(const struct tables *t, uint64_t id)
{
	return id < t->n_strings ? t->strings[id] : NULL;
}

/* Take an id that was stored as one more. False when it is out of range. */
static bool take_or_none(uint64_t stored, uint32_t count, uint32_t *id)
{
	*id = (uint32_t)(stored - 1);
	return stored <= count;
}

static bool take_u32(uint64_t stored, uint32_t *value)
{
	*value = (uint32_t)stored;
	return stored <= UINT32_MAX;
}

static bool take_string(const struct tables *t, uint64_t id, const char **text)
{
	const char *found = tables_string(t, id);

	if (found)
		*text = found;
	return found != NULL;
}

static bool add_process(struct tables *t, const uint64_t *v)
{
	struct process_info p = { .start = v[2] };

	if (!take_u32(v[0], &p.pid) ||
	    !take_or_none(v[1], t->n_processes, &p.parent) ||
	    !take_string(t, v[3], &p.command) ||
	    !take_string(t, v[4], &p.exe) || !take_string(t, v[5], &p.python))
		return false;
	ALLOC_GROW(t->processes, t->n_processes + 1, t->processes_capacity);
	ALLOC_GROW(t->process_ends, t->n_processes + 1,
		   t->process_ends_capacity);
	t->process_ends[t->n_processes].when = UINT64_MAX;
	t->process_ends[t->n_processes].status = -1;
	t->processes[t->n_processes++] = p;
	return true;
}

static bool add_thread(struct tables *t, const uint64_t *v)
{
	struct thread_info thread = { .process = (uint32_t)v[0],
				      .start = v[2],
				      .main = v[4] & 1 };

	if (v[0] >= t->n_processes || !take_u32(v[1], &thread.tid) ||
	    !take_string(t, v[3], &thread.name) ||
	    !take_u32(v[5], &thread.interpreter))
		return false;
	ALLOC_GROW(t->threads, t->n_threads + 1, t->threads_capacity);
	ALLOC_GROW(t->thread_ends, t->n_threads + 1, t->thread_ends_capacity);
	ALLOC_GROW(t->thread_times, t->n_threads + 1, t->thread_times_capacity);
	t->thread_ends[t->n_threads] = UINT64_MAX;
	t->thread_times[t->n_threads] = (struct thread_times){ 0, 0 };
	t->threads[t->n_threads++] = thread;
	return true;
}

static bool add_function(struct tables *t, const uint64_t *v)
{
	struct function_info f = { .kind = (enum function_kind)v[3] };

	if (!take_string(t, v[0], &f.name) || !take_string(t, v[1], &f.file) ||
	    !take_u32(v[2], &f.line) || v[3] > FUNCTION_MARK ||
	    !take_string(t, v[4], &f.module))
		return false;
	ALLOC_GROW(t->functions, t->n_functions + 1, t->functions_capacity);
	t->functions[t->n_functions++] = f;
	return true;
}

static bool add_frame(struct tables *t, const uint64_t *v)
{
	struct frame_info f = { .function = (uint32_t)v[0] };

	if (v[0] >= t->n_functions || !take_u32(v[1], &f.line) ||
	    !take_or_none(v[2], t->n_sites, &f.site))
		return false;
	ALLOC_GROW(t->frames, t->n_frames + 1, t->frames_capacity);
	t->frames[t->n_frames++] = f;
	return true;
}

static bool add_node(struct tables *t, const uint64_t *v)
{
	uint32_t id = t->n_nodes;
	uint32_t caller = ID_NONE;
	struct node_info node = { .parent = ID_NONE };

	if (v[0] > id || id == ID_NONE - 1)
		return false;
	if (v[0]) {
		node.parent = id - (uint32_t)v[0];
		caller = t->nodes[node.parent].frame;
	}
	node.frame = edges_decode(&t->edges, caller, v[1], t->n_frames);
	if (node.frame == ID_NONE)
		return false;
	ALLOC_GROW(t->nodes, (size_t)id + 1, t->nodes_capacity);
	t->nodes[t->n_nodes++] = node;
	return true;
}

static bool add_thread_name(struct tables *t, const uint64_t *v)
{
	return v[0] < t->n_threads &&
	       take_string(t, v[1], &t->threads[v[0]].name);
}

static bool add_process_end(struct tables *t, const uint64_t *v)
{
	if (v[0] >= t->n_processes || v[2] > UINT32_MAX)
		return false;
	t->process_ends[v[0]].when = v[1];
	t->process_ends[v[0]].status = (int)(uint32_t)(v[2] - 1);
	return true;
}

static bool add_thread_end(struct tables *t, const uint64_t *v)
{
	if (v[0] >= t->n_threads)
		return false;
	t->thread_ends[v[0]] = v[1];
	return true;
}

static bool add_thread_times(struct tables *t, const uint64_t *v)
{
	if (v[0] >= t->n_threads)
		return false;
	t->thread_times[v[0]] = (struct thread_times){ v[1], v[2] };
	return true;
}

static bool add_marker(struct tables *t, const uint64_t *v)
{
	struct marker_info m = { .start = v[0], .end = v[0] + v[1] };

	if (m.end < m.start || !take_string(t, v[2], &m.name) ||
	    !take_or_none(v[3], t->n_threads, &m.thread) ||
	    !take_string(t, v[4], &m.text))
		return false;
	ALLOC_GROW(t->markers, t->n_markers + 1, t->markers_capacity);
	t->markers[t->n_markers++] = m;
	return true;
}

static bool add_module(struct tables *t, const uint64_t *v)
{
	struct module_info m = { .bias = v[2],
				 .start = v[3],
				 .end = v[3] + v[4] };

	if (m.end < m.start || !take_string(t, v[0], &m.path) ||
	    !take_string(t, v[1], &m.build_id))
		return false;
	ALLOC_GROW(t->modules, t->n_modules + 1, t->modules_capacity);
	t->modules[t->n_modules++] = m;
	return true;
}

static bool add_site(struct tables *t, const uint64_t *v)
{
	struct site_info s = { .address = v[1],
			       .kind = (enum function_kind)v[2] };

	if (!take_or_none(v[0], t->n_modules, &s.module) ||
	    (v[2] != FUNCTION_NATIVE && v[2] != FUNCTION_KERNEL))
		return false;
	ALLOC_GROW(t->sites, t->n_sites + 1, t->sites_capacity);
	ALLOC_GROW(t->site_symbols, t->n_sites + 1, t->site_symbols_capacity);
	t->site_symbols[t->n_sites] = (struct site_symbols){ 0, 0 };
	t->sites[t->n_sites++] = s;
	return true;
}

void tables_add_symbol(struct tables *t, uint32_t site, uint32_t function,
		       uint32_t line)
{
	struct site_symbols *s = &t->site_symbols[site];

	if (!s->count)
		s->first = t->n_symbols;
	if (s->first + s->count != t->n_symbols || s->count == LIMIT_INLINED)
		return;
	s->count++;
	ALLOC_GROW(t->symbols, t->n_symbols + 1, t->symbols_capacity);
	t->symbols[t->n_symbols++] = (struct site_symbol){ function, line };
}

static bool add_symbol(struct tables *t, const uint64_t *v)
{
	uint32_t line;

	if (v[0] >= t->n_sites || v[1] >= t->n_functions ||
	    !take_u32(v[2], &line))
		return false;
	tables_add_symbol(t, (uint32_t)v[0], (uint32_t)v[1], line);
	return true;
}

/* How rows of a table are added, and where those with ids are counted. */
static const struct row_type {
	bool (*add)(struct tables *t, const uint64_t *values);
	size_t count; /* offset in struct tables; 0: rows have no ids */
} row_types[TABLE_TAGS] = {
#define COUNT(name) offsetof(struct tables, n_##name)
	[TABLE_PROCESSES] = { add_process, COUNT(processes) },
	[TABLE_THREADS] = { add_thread, COUNT(threads) },
	[TABLE_FUNCTIONS] = { add_function, COUNT(functions) },
	[TABLE_FRAMES] = { add_frame, COUNT(frames) },
	[TABLE_NODES] = { add_node, COUNT(nodes) },
	[TABLE_THREAD_NAMES] = { add_thread_name, 0 },
	[TABLE_PROCESS_ENDS] = { add_process_end, 0 },
	[TABLE_THREAD_ENDS] = { add_thread_end, 0 },
	[TABLE_MARKERS] = { add_marker, COUNT(markers) },
	[TABLE_MODULES] = { add_module, COUNT(modules) },
	[TABLE_SITES] = { add_site, COUNT(sites) },
	[TABLE_SYMBOLS] = { add_symbol, 0 },
	[TABLE_THREAD_TIMES] = { add_thread_times, 0 },
#undef COUNT
};

/* Texts lie one after the other in the second column: one copy of all, with a
 * NUL behind each. */
static bool read_strings(struct tables *t, struct table_reader *table)
{
	struct cursor *bytes = &table->column[1];
	char *pool = arena_alloc(&t->arena, cursor_left(bytes) + table->rows);
	uint64_t size[TABLE_COLUMNS];

	if (table->first != t->n_strings || !bytes->at)
		return false;
	while (table_next(table, size)) {
		const void *text = size[0] <= cursor_left(bytes)
					   ? cursor_bytes(bytes, size[0])
					   : NULL;

		if (!text)
			return false;
		ALLOC_GROW(t->strings, t->n_strings + 1, t->strings_capacity);
		t->strings[t->n_strings++] = pool;
		memcpy(pool, text, size[0]);
		pool[size[0]] = 0;
		pool += size[0] + 1;
	}
	return table->next == table->rows;
}

static bool read_rows(struct tables *t, const struct row_type *type,
		      struct table_reader *table)
{
	const uint32_t *count = (const uint32_t *)((char *)t + type->count);
	uint64_t values[TABLE_COLUMNS];

	if (type->count && table->first != *count)
		return false;
	while (table_next(table, values))
		if (!type->add(t, values))
			return false;
	return table->next == table->rows;
}

static bool read_table(struct tables *t, uint64_t tag, const void *data,
		       size_t size)
{
	const char *codings = table_columns(tag);
	struct table_reader table;

	if (!codings)
		return true; /* of a later version */
	if (!table_open(&table, codings, data, size))
		return false;
	if (tag == TABLE_STRINGS)
		return read_strings(t, &table);
	return read_rows(t, &row_types[tag], &table);
}

bool tables_read(struct tables *t, const void *data, size_t size)
{
	struct cursor c = cursor_over(data, size);

	while (cursor_left(&c)) {
		uint64_t tag = cursor_varint(&c);
		size_t n;
		const void *body = cursor_blob(&c, &n);

		if (!body || !read_table(t, tag, body, n))
			return false;
	}
	return true;
}

void tables_release(struct tables *t)
{
	arena_release(&t->arena);
	free(t->strings);
	free(t->processes);
	free(t->threads);
	free(t->functions);
	free(t->frames);
	free(t->nodes);
	free(t->markers);
	free(t->modules);
	free(t->sites);
	free(t->symbols);
	free(t->site_symbols);
	edges_release(&t->edges);
	free(t->process_ends);
	free(t->thread_ends);
	free(t->thread_times);
}
