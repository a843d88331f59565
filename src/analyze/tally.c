#include "analyze/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"

/* Cells while they are counted: any stratum's, in the order of first sight. */
struct counting {
	struct profile *profile;
	struct tally *tally;
	struct map cells_by_key; /* (stratum, node) */
	struct cell {
		uint32_t stratum;
		struct tally_cell cell;
	} * cells;
	uint32_t n_cells, capacity;
	uint64_t start, slice;	/* ns: the window's start, a slice's length */
	uint64_t covered_until; /* time of the last tick counted */
	uint32_t covered_end;	/* index after it, within its block */
};

/* Threads are strata 0 to n_threads - 1, slices follow. */
static struct stratum *stratum_of(struct tally *t, uint32_t index)
{
	return index < t->n_threads ? &t->threads[index]
				    : &t->slices[index - t->n_threads];
}

static void count_cell(struct counting *c, uint32_t stratum, uint32_t node,
		       uint64_t samples)
{
	uint32_t index = map_get(&c->cells_by_key, stratum, node);

	if (index == MAP_NONE) {
		index = c->n_cells++;
		map_put(&c->cells_by_key, stratum, node, index);
		ALLOC_GROW(c->cells, c->n_cells, c->capacity);
		c->cells[index] = (struct cell){ stratum, { node, 0 } };
		stratum_of(c->tally, stratum)->n_cells++;
	}
	c->cells[index].cell.samples += samples;
	stratum_of(c->tally, stratum)->samples += samples;
}

/* Runs come by their first tick, and those of one block overlap: count only the
 * ticks that no earlier run has covered. */
static void count_ticks(struct counting *c, const struct run *run,
			uint64_t first, uint64_t last)
{
	uint32_t end = run->first_tick + run->ticks;

	if (!c->tally->ticks || first > c->covered_until)
		c->tally->ticks += run->ticks;
	else if (end > c->covered_end)
		c->tally->ticks += end - c->covered_end;
	else
		return;
	c->covered_until = last;
	c->covered_end = end;
}

static uint32_t slice_at(const struct counting *c, uint64_t when)
{
	uint64_t index = when > c->start ? (when - c->start) / c->slice : 0;

	return index < TALLY_SLICES ? (uint32_t)index : TALLY_SLICES - 1;
}

/* A run that spans slices is divided as if its ticks were evenly spaced. */
static void count_slices(struct counting *c, const struct run *run,
			 uint64_t first, uint64_t last)
{
	uint32_t at = slice_at(c, first), end = slice_at(c, last);
	uint64_t counted = 0, upto;

	for (; at < end; at++) {
		double share =
			(double)(c->start + c->slice * (at + 1) - first) /
			(double)(last - first);

		upto = (uint64_t)(share * run->ticks + 0.5);
		upto = upto > run->ticks ? run->ticks : upto;
		if (upto > counted) {
			count_cell(c, c->tally->n_threads + at, run->node,
				   upto - counted);
			counted = upto;
		}
	}
	if (run->ticks > counted)
		count_cell(c, c->tally->n_threads + at, run->node,
			   run->ticks - counted);
}

static int count_run(void *context, const struct run *run, uint64_t first,
		     uint64_t last)
{
	struct counting *c = context;

	count_ticks(c, run, first, last);
	count_cell(c, run->thread, run->node, run->ticks);
	count_slices(c, run, first, last);
	return 0;
}

/* Lay the cells of each stratum side by side. */
static void place_cells(struct counting *c, struct arena *arena)
{
	struct tally *t = c->tally;
	struct tally_cell *next =
		arena_calloc(arena, c->n_cells + 1, sizeof(*next));

	for (uint32_t i = 0; i < t->n_threads + TALLY_SLICES; i++) {
		struct stratum *s = stratum_of(t, i);

		s->cells = next;
		next += s->n_cells;
		s->n_cells = 0;
	}
	for (uint32_t i = 0; i < c->n_cells; i++) {
		struct stratum *s = stratum_of(t, c->cells[i].stratum);

		s->cells[s->n_cells++] = c->cells[i].cell;
	}
}

int tally_count(struct tally *out, struct profile *p, struct arena *arena,
		struct error *err)
{
	struct counting c = { .profile = p, .tally = out };
	int status;

	*out = (struct tally){ .n_threads = p->n_threads };
	out->threads =
		arena_calloc(arena, p->n_threads + 1, sizeof(*out->threads));
	c.start = p->filter.from;
	c.slice = (uint64_t)(p->duration * NS_PER_SECOND / TALLY_SLICES) + 1;
	status = profile_each_run(p, count_run, &c, err);
	if (!status)
		place_cells(&c, arena);
	map_release(&c.cells_by_key);
	free(c.cells);
	return status;
}

void spread_init(struct spread *s, const struct reader *reader)
{
	uint32_t n = reader_nodes(reader);

	*s = (struct spread){
		.reader = reader,
		.self = xcalloc(n, sizeof(*s->self)),
		.total = xcalloc(n, sizeof(*s->total)),
		.nodes = xcalloc(n, sizeof(*s->nodes)),
	};
}

/* List the node and its ancestors up to the first one that is listed already;
 * until spread_sum, a total of 1 says that a node is. */
static void list_path(struct spread *s, uint32_t node)
{
	while (node != ID_NONE && !s->total[node]) {
		s->total[node] = 1;
		s->nodes[s->n_nodes++] = node;
		node = reader_node(s->reader, node).parent;
	}
}

void spread_add(struct spread *s, const struct stratum *stratum)
{
	for (uint32_t i = 0; i < stratum->n_cells; i++) {
		const struct tally_cell *cell = &stratum->cells[i];

		if (cell->node == ID_NONE) {
			s->no_stack += cell->samples;
			continue;
		}
		s->self[cell->node] += cell->samples;
		list_path(s, cell->node);
	}
}

static int descending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Many nodes are listed faster by looking at all of them than by sorting. */
static void order_nodes(struct spread *s)
{
	uint32_t all = reader_nodes(s->reader), n = 0;

	if (s->n_nodes < all / 16) {
		qsort(s->nodes, s->n_nodes, sizeof(*s->nodes), descending);
		return;
	}
	for (uint32_t i = all; i-- > 0;)
		if (s->total[i])
			s->nodes[n++] = i;
}

void spread_sum(struct spread *s)
{
	order_nodes(s);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		s->total[s->nodes[i]] = s->self[s->nodes[i]];
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		uint32_t node = s->nodes[i];
		uint32_t parent = reader_node(s->reader, node).parent;

		if (parent != ID_NONE)
			s->total[parent] += s->total[node];
	}
}

void spread_clear(struct spread *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		s->self[s->nodes[i]] = s->total[s->nodes[i]] = 0;
	s->n_nodes = 0;
	s->no_stack = 0;
}

void spread_release(struct spread *s)
{
	free(s->self);
	free(s->total);
	free(s->nodes);
}
