/* A flame graph: the call tree by function, every level as it was called, and
 * which boxes of it are wide enough to be drawn.
 *
 * Unlike calltree.h, recursion is kept: the picture shows stacks as they are.
 * Nodes of the recording that differ only in lines are one. */
#ifndef PYROMETER_ANALYZE_FLAME_H
#define PYROMETER_ANALYZE_FLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/callers.h"
#include "analyze/profile.h"
#include "analyze/tally.h"
#include "base/map.h"

enum flame_kind {
	FLAME_ROOT,
	FLAME_FUNCTION, /* id: of the function */
	FLAME_THREAD,	/* id: of the thread */
	FLAME_NO_STACK, /* samples without any Python stack */
	FLAME_GC,	/* garbage collection, below who set it off */
};

struct flame_node {
	uint32_t parent; /* smaller than its own; ID_NONE for the root */
	enum flame_kind kind;
	uint32_t id;
	uint64_t self, total; /* samples */
};

struct flame {
	struct flame_node *nodes; /* 0 is the root */
	uint32_t n_nodes, capacity;
	struct map by_caller; /* (parent, kind and id) to a node */
	uint32_t *children;   /* all nodes but the root, siblings together,
			       * the widest first */
	uint32_t *first;      /* by node: its children begin here; one more */
};

struct flame_options {
	bool inverted; /* the root's children are the innermost functions */
	bool mine;     /* library code below library code is folded into it */
	bool threads;  /* the root's children are threads */
};

/* Build the tree of a profile; `tally` is of the same profile and only needed
 * for `threads`. Free with flame_release. */
void flame_build(struct flame *f, const struct profile *p,
		 const struct tally *tally,
		 const struct flame_options *options);
/* The tree of what a function calls, or of what calls it (a caller being a
 * child), the function itself being the only child of the root. `mine` folds
 * library code as flame_build does. */
void flame_around(struct flame *f, const struct profile *p,
		  const struct callers *callers, bool above, bool mine);
void flame_release(struct flame *f);

/* To build one otherwise: begin, add nodes (each call gives the node of that
 * kind and id below `parent`, new if need be), set every total, finish. */
void flame_init(struct flame *f);
uint32_t flame_child(struct flame *f, uint32_t parent, enum flame_kind kind,
		     uint32_t id);
void flame_finish(struct flame *f);

/* The node that a path of (kind, id) words leads to from the root, as
 * flame_path_word makes them; ID_NONE when there is none. */
uint32_t flame_find(const struct flame *f, const uint64_t *path, size_t n);
static inline uint64_t flame_path_word(enum flame_kind kind, uint32_t id)
{
	return (uint64_t)kind << 32 | id;
}

struct flame_box {
	uint32_t node;
	uint32_t depth; /* of the root: 0 */
	uint64_t start; /* samples to the left of it */
};

struct flame_boxes {
	struct flame_box *items; /* a caller, then all that it calls */
	uint32_t count, capacity;
	uint32_t depth;	   /* of the deepest */
	uint32_t left_out; /* for being narrow, with all that is below them */
};

#define FLAME_BOXES_INIT \
	{                \
		0        \
	}

/* Lay out what is below and including `root`: boxes of at least `narrowest`
 * samples, at most `most` of them. Free with flame_boxes_release. */
void flame_arrange(struct flame_boxes *b, const struct flame *f, uint32_t root,
		   uint64_t narrowest, uint32_t most);
void flame_boxes_release(struct flame_boxes *b);

#endif
