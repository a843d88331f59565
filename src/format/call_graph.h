/* Who calls whom, summed over all stacks: what graph-shaped formats need.
 *
 * A stack counts once for a function and once for an edge, however often they
 * recur in it, so that no recursion has more time than has passed. */
#ifndef PYROMETER_FORMAT_CALL_GRAPH_H
#define PYROMETER_FORMAT_CALL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/map.h"

struct call_edge {
	uint32_t caller, line; /* function, and its line; 0 unless asked for */
	uint32_t callee;
	uint64_t total;	 /* samples with this call in their stack */
	uint64_t self;	 /* of these, in the callee itself */
	uint64_t calls;	 /* see struct call_graph_options */
	uint32_t active; /* on the path at hand; 0 when done */
};

struct call_graph {
	uint64_t *self, *total; /* samples by function */
	uint32_t *active;	/* by function; 0 when done */
	struct call_edge *edges;
	uint32_t count, capacity;
	struct map index;
};

#define CALL_GRAPH_INIT \
	{               \
		0       \
	}

struct call_graph_options {
	bool by_line;	       /* tell the lines of callers apart */
	const uint32_t *calls; /* by node, to be summed into edges; or NULL */
	const uint32_t
		*same_as; /* by function: count it as this one; or NULL */
};

/* Sum over the stacks of `p`. Samples without a stack are in no function. */
void call_graph_fill(struct call_graph *g, const struct profile *p,
		     const struct call_graph_options *options);
/* The edges in order of their caller, then line, then callee. */
void call_graph_sort(struct call_graph *g);
/* The same in order of their callee, then caller. */
void call_graph_sort_by_callee(struct call_graph *g);
void call_graph_release(struct call_graph *g);

#endif
