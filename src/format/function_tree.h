/* The call tree by function.
 *
 * The recording's nodes tell lines apart; most tools draw one box per function
 * and would show a loop of five lines as five boxes. Here nodes whose paths
 * have the same functions are one. Optionally processes and threads are the
 * first levels below the root. */
#ifndef PYROMETER_FORMAT_FUNCTION_TREE_H
#define PYROMETER_FORMAT_FUNCTION_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"

enum tree_kind {
	TREE_ROOT,
	TREE_PROCESS,  /* id: of the process */
	TREE_THREAD,   /* id: of the thread */
	TREE_FUNCTION, /* id: of the function */
	TREE_NO_STACK, /* samples without any Python stack */
};

struct tree_node {
	uint32_t parent; /* smaller than its own; ID_NONE for the root */
	enum tree_kind kind;
	uint32_t id;
	uint64_t self, total; /* samples; 0 until function_tree_fill */
};

struct function_tree {
	struct profile *profile;
	struct tree_node *nodes; /* 0 is the root */
	uint32_t count, capacity;
	struct map children;  /* (parent, kind and id) to a tree node */
	uint32_t *places;     /* by the recording's node: below the root */
	struct map elsewhere; /* (base, recording's node): below another */
};

/* A tree with nothing but its root. */
void function_tree_init(struct function_tree *t, struct profile *p);
void function_tree_release(struct function_tree *t);

/* The tree node for the stack `node` (ID_NONE: no stack) below the tree node
 * `base`; made when it is new. */
uint32_t function_tree_place(struct function_tree *t, uint32_t base,
			     uint32_t node);

/* Place and count every sample of the profile. */
int function_tree_fill(struct function_tree *t, bool threads,
		       struct error *err);

/* The function of a TREE_FUNCTION node, else NULL. */
const struct function_info *function_tree_function(
	const struct function_tree *t, uint32_t node);

/* Append what a node is called: the function's name, or who the process or the
 * thread is. As hostile as the recording. */
void function_tree_add_name(const struct function_tree *t, uint32_t node,
			    struct buffer *out);

#endif
