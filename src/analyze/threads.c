#include "analyze/threads.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "analyze/running.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"

/* A thread waits when no more than this share of it is on a CPU, and at least
 * that share in one function. */
#define IDLE_CPU_MOST	 0.01
#define IDLE_PLACE_LEAST 0.95

/* By function: whether it is native code of a library, or the kernel's. */
static bool *find_native(const struct reader *reader)
{
	uint32_t n = reader_functions(reader);
	bool *native = xcalloc(n, sizeof(*native));

	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(reader, i);

		native[i] = (f->kind == FUNCTION_NATIVE ||
			     f->kind == FUNCTION_KERNEL) &&
			    origin_is_library(f);
	}
	return native;
}

/* Where a stack is, for people: its innermost function, but not the native code
 * of libraries that it is in, unless there is nothing else.
 * "Condition.wait" says more than the name of a futex. By node; parents come
 * first. */
static uint32_t *find_places(const struct reader *reader)
{
	uint32_t n = reader_nodes(reader);
	uint32_t *places = xcalloc(n, sizeof(*places));
	bool *native = find_native(reader);

	for (uint32_t i = 0; i < n; i++) {
		struct node_info node = reader_node(reader, i);

		places[i] = reader_frame(reader, node.frame).function;
		if (native[places[i]] && node.parent != ID_NONE &&
		    !native[places[node.parent]])
			places[i] = places[node.parent];
	}
	free(native);
	return places;
}

/* Samples per place within one thread. */
struct leaves {
	uint32_t *places;  /* by node */
	uint64_t *samples; /* by function; zero between threads */
	uint32_t *touched;
};

static void find_top(struct thread_row *row, const struct stratum *stratum,
		     struct leaves *leaves)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < stratum->n_cells; i++) {
		const struct tally_cell *cell = &stratum->cells[i];
		uint32_t function;

		if (cell->node == ID_NONE)
			continue;
		function = leaves->places[cell->node];
		if (!leaves->samples[function])
			leaves->touched[n++] = function;
		leaves->samples[function] += cell->samples;
	}
	row->top = ID_NONE;
	while (n-- > 0) {
		uint32_t function = leaves->touched[n];

		if (leaves->samples[function] > row->top_samples) {
			row->top = function;
			row->top_samples = leaves->samples[function];
		}
		leaves->samples[function] = 0;
	}
}

static bool is_idle(const struct thread_row *row)
{
	double n = (double)row->counts.samples;

	return (double)running_samples(&row->counts) <= IDLE_CPU_MOST * n &&
	       (row->top == ID_NONE ||
		(double)row->top_samples >= IDLE_PLACE_LEAST * n);
}

static int busiest_first(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;
	uint64_t a_ran = running_samples(&x->counts);
	uint64_t b_ran = running_samples(&y->counts);

	if (x->idle != y->idle)
		return x->idle ? 1 : -1;
	if (a_ran != b_ran)
		return a_ran < b_ran ? 1 : -1;
	if (x->counts.samples != y->counts.samples)
		return x->counts.samples < y->counts.samples ? 1 : -1;
	return x->thread < y->thread ? -1 : 1;
}

/* When everything waits, what is waited for is the answer. */
static void spare_if_all_idle(struct threads *t)
{
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (!t->rows[i].idle)
			return;
	for (uint32_t i = 0; i < t->n_rows; i++)
		t->rows[i].idle = false;
}

void threads_count(struct threads *out, const struct profile *p,
		   const struct tally *tally, struct arena *arena)
{
	uint32_t n = reader_functions(p->reader);
	struct leaves leaves = { find_places(p->reader),
				 xcalloc(n, sizeof(*leaves.samples)),
				 xcalloc(n, sizeof(*leaves.touched)) };

	out->n_rows = 0;
	out->rows = arena_calloc(arena, (size_t)p->n_threads + 1,
				 sizeof(*out->rows));
	for (uint32_t i = 0; i < p->n_threads; i++) {
		struct thread_row *row = &out->rows[out->n_rows];

		if (!p->threads[i].samples)
			continue;
		row->thread = i;
		row->counts = p->threads[i];
		find_top(row, &tally->threads[i], &leaves);
		row->idle = is_idle(row);
		out->n_rows++;
	}
	spare_if_all_idle(out);
	qsort(out->rows, out->n_rows, sizeof(*out->rows), busiest_first);
	free(leaves.places);
	free(leaves.samples);
	free(leaves.touched);
}

/* "worker-12 (crawl)" is of the pool "worker-* (crawl)". */
static void add_pool_name(struct buffer *out, const char *name)
{
	while (*name) {
		size_t digits = strspn(name, "0123456789");
		size_t others = strcspn(name, "0123456789");

		if (digits)
			buffer_add_byte(out, '*');
		buffer_add(out, name + digits, digits ? 0 : others);
		name += digits ? digits : others;
	}
}

struct grouping {
	const struct threads *threads;
	const struct profile *profile;
	struct arena *arena;
	struct intern names;
	uint32_t *pool_of; /* by row: its pool */
	uint32_t *sizes;   /* by pool */
	uint32_t n_pools;
};

/* Threads are of one pool when process, name without numbers and idleness are
 * the same. */
static void find_pools(struct grouping *g)
{
	struct map pools = MAP_INIT;
	struct buffer name = BUFFER_INIT;

	for (uint32_t i = 0; i < g->threads->n_rows; i++) {
		const struct thread_row *row = &g->threads->rows[i];
		const struct thread_info *info =
			reader_thread(g->profile->reader, row->thread);
		uint64_t process = (uint64_t)info->process << 1 | row->idle;
		uint32_t text;

		buffer_reset(&name);
		add_pool_name(&name, info->name);
		text = intern_string(&g->names, buffer_text(&name));
		g->pool_of[i] = map_get(&pools, process, text);
		if (g->pool_of[i] == MAP_NONE) {
			g->pool_of[i] = g->n_pools++;
			map_put(&pools, process, text, g->pool_of[i]);
		}
		g->sizes[g->pool_of[i]]++;
	}
	buffer_release(&name);
	map_release(&pools);
}

static const char *group_name(const struct grouping *g, uint32_t row, bool pool)
{
	uint32_t thread = g->threads->rows[row].thread;
	const char *own = reader_thread(g->profile->reader, thread)->name;
	struct buffer name = BUFFER_INIT;
	const char *kept = own;

	if (pool) {
		add_pool_name(&name, own);
		kept = arena_strdup(g->arena, buffer_text(&name));
		buffer_release(&name);
	}
	return kept;
}

static struct thread_group *open_group(struct thread_groups *out,
				       const struct grouping *g, uint32_t row,
				       uint32_t room)
{
	struct thread_group *group = &out->groups[out->n_groups++];
	uint32_t thread = g->threads->rows[row].thread;

	*group = (struct thread_group){
		.name = group_name(g, row, room > 1),
		.process = reader_thread(g->profile->reader, thread)->process,
		.first = row,
		.top = g->threads->rows[row].top,
		.threads =
			arena_calloc(g->arena, room, sizeof(*group->threads)),
		.idle = g->threads->rows[row].idle,
	};
	return group;
}

static void join(struct thread_group *group, const struct thread_row *row)
{
	struct profile_thread *sum = &group->counts;

	group->threads[group->n_threads++] = row->thread;
	sum->samples += row->counts.samples;
	sum->on_cpu += row->counts.on_cpu;
	sum->ready += row->counts.ready;
	sum->gil += row->counts.gil;
	sum->gil_wait += row->counts.gil_wait;
	sum->gc += row->counts.gc;
	if (row->top == group->top)
		group->top_samples += row->top_samples;
}

static int busiest_group_first(const void *a, const void *b)
{
	const struct thread_group *x = a, *y = b;
	uint64_t a_ran = running_samples(&x->counts);
	uint64_t b_ran = running_samples(&y->counts);

	if (x->idle != y->idle)
		return x->idle ? 1 : -1;
	if (a_ran != b_ran)
		return a_ran < b_ran ? 1 : -1;
	return x->first < y->first ? -1 : 1;
}

static void make_groups(struct thread_groups *out, const struct grouping *g,
			bool apart)
{
	uint32_t *group_of_pool = xcalloc(g->n_pools, sizeof(uint32_t));

	memset(group_of_pool, 0xff, g->n_pools * sizeof(uint32_t));
	for (uint32_t i = 0; i < g->threads->n_rows; i++) {
		uint32_t pool = g->pool_of[i];
		bool alone = apart || g->sizes[pool] < THREADS_POOL;

		if (alone || group_of_pool[pool] == ID_NONE) {
			group_of_pool[pool] = out->n_groups;
			open_group(out, g, i, alone ? 1 : g->sizes[pool]);
		}
		join(&out->groups[group_of_pool[pool]], &g->threads->rows[i]);
	}
	free(group_of_pool);
}

void threads_group(struct thread_groups *out, const struct threads *threads,
		   const struct profile *p, bool apart, struct arena *arena)
{
	struct grouping g = { threads, p, arena, .names = INTERN_INIT };

	g.pool_of = xcalloc(threads->n_rows, sizeof(*g.pool_of));
	g.sizes = xcalloc(threads->n_rows, sizeof(*g.sizes));
	out->n_groups = 0;
	out->groups = arena_calloc(arena, (size_t)threads->n_rows + 1,
				   sizeof(*out->groups));
	find_pools(&g);
	make_groups(out, &g, apart);
	qsort(out->groups, out->n_groups, sizeof(*out->groups),
	      busiest_group_first);
	intern_release(&g.names);
	free(g.pool_of);
	free(g.sizes);
}
