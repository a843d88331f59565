#include "format/lanes.h"

#include <stdlib.h>

#include "base/alloc.h"

#define GROUP_RUNS (2u << 20) /* that may be held at once */

struct group {
	struct lane *lanes; /* by thread; capacity says how many runs it has */
	uint32_t first, last; /* threads that are gathered now: [first, last) */
};

static int count_run(void *context, const struct run *run, uint64_t first,
		     uint64_t last)
{
	struct group *g = context;

	(void)first;
	(void)last;
	g->lanes[run->thread].capacity++;
	return 0;
}

static int gather_run(void *context, const struct run *run, uint64_t first,
		      uint64_t last)
{
	struct group *g = context;
	struct lane *lane = &g->lanes[run->thread];

	if (run->thread < g->first || run->thread >= g->last ||
	    lane->count == lane->capacity)
		return 0;
	lane->runs[lane->count++] = (struct lane_run){
		.first = first,
		.last = last,
		.node = run->node,
		.state = run->state,
		.ticks = run->ticks,
	};
	return 0;
}

/* Take threads from `first` on while their runs fit; at least one. */
static void choose(struct group *g, uint32_t first, uint32_t n)
{
	uint64_t runs = 0;

	g->first = g->last = first;
	while (g->last < n) {
		struct lane *lane = &g->lanes[g->last];

		runs += lane->capacity;
		if (runs > GROUP_RUNS && g->last > first)
			return;
		if (lane->capacity)
			lane->runs = xreallocarray(NULL, lane->capacity,
						   sizeof(*lane->runs));
		g->last++;
	}
}

/* Visit the threads of the group (NULL: don't) and let go of their runs. */
static int visit_group(struct group *g, lane_visit *visit, void *context)
{
	int status = 0;

	for (uint32_t i = g->first; i < g->last; i++) {
		struct lane *lane = &g->lanes[i];

		if (!status && visit && lane->count)
			status = visit(context, lane);
		free(lane->runs);
		lane->runs = NULL;
	}
	return status;
}

int lanes_each(struct profile *p, lane_visit *visit, void *context,
	       struct error *err)
{
	uint32_t n = reader_threads(p->reader);
	struct group g = { .lanes = xcalloc((size_t)n + 1, sizeof(*g.lanes)) };
	int status;

	for (uint32_t i = 0; i < n; i++)
		g.lanes[i].thread = i;
	status = profile_each_run(p, count_run, &g, err);
	while (!status && g.last < n) {
		choose(&g, g.last, n);
		status = profile_each_run(p, gather_run, &g, err);
		if (status)
			visit_group(&g, NULL, NULL);
		else
			status = visit_group(&g, visit, context);
	}
	free(g.lanes);
	return status;
}
