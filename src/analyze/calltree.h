/* A call tree by function, as people read it: one node per function and caller,
 * whatever the lines, and recursion folded away.
 *
 * A function that is called, by whatever way, from itself does not open a new
 * level: what it does is added to its outermost call, which is marked
 * `recursive`. So no function appears twice on a path, a tree is never deeper
 * than the program has functions, and self plus children is total everywhere.
 * The price: time that went through b back into a is shown at a, not at b; the
 * list of functions (top.h) has b's full time.
 *
 * Native code is called from itself only as long as no Python stands between:
 * the interpreter's own functions, which run every generator and every sort,
 * would otherwise gather all that they ever lead to in their outermost call. */
#ifndef PYROMETER_ANALYZE_CALLTREE_H
#define PYROMETER_ANALYZE_CALLTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/tally.h"
#include "base/arena.h"
#include "base/map.h"

struct calltree_node {
	uint32_t function; /* ID_NONE for the root */
	uint32_t parent; /* index, smaller than its own; ID_NONE for the root */
	bool recursive;
	bool python;	       /* a function of Python's */
	uint64_t self, total;  /* samples */
	uint32_t line;	       /* where most of `self` was; 0: unknown */
	uint64_t line_samples; /* how much of it */
};

struct calltree {
	struct calltree_node
		*nodes; /* [0] is the root: no function, all samples */
	uint32_t n_nodes, capacity;
	struct map by_caller; /* (parent, function) to index */
	struct map by_line;   /* (node, line) to an index into `lines` */
	uint64_t *lines;      /* samples */
	uint32_t n_lines, lines_capacity;
};

/* Free with calltree_release. */
void calltree_init(struct calltree *t);
void calltree_release(struct calltree *t);

/* The node for a call of `function` from `parent`, new if need be: a child of
 * it, or the node of the same function on the path to it. */
uint32_t calltree_call(struct calltree *t, const struct reader *reader,
		       uint32_t parent, uint32_t function);

/* Add the stacks of a spread, which was summed. Samples without a stack become
 * self time of the root. */
void calltree_add(struct calltree *t, const struct spread *s);

/* Set every total, once all is added. */
void calltree_sum(struct calltree *t);

#endif
