/* A call tree laid out as a flame graph: a box for each function in its place,
 * as wide as it has samples. */
#ifndef PYROMETER_FORMAT_BOXES_H
#define PYROMETER_FORMAT_BOXES_H

#include <stdint.h>

#include "format/function_tree.h"

struct box {
	uint32_t node;	/* of the tree; has its samples */
	uint32_t row;	/* 0: the root */
	uint64_t start; /* samples to the left of it */
};

struct boxes_limits {
	uint64_t narrowest; /* samples: what has fewer is left out */
	uint32_t most;	    /* boxes; beyond, the narrowest are left out too */
	uint32_t rows;	    /* deeper ones are left out */
};

struct boxes {
	struct box *items; /* a caller, then all that it calls, widest first */
	uint32_t count;
	uint32_t rows; /* that are used */
	uint32_t left_out;
};

#define BOXES_INIT \
	{          \
		0  \
	}

/* Lay out a filled tree; at least its root is there. */
void boxes_arrange(struct boxes *b, const struct function_tree *tree,
		   const struct boxes_limits *limits);
void boxes_release(struct boxes *b);

#endif
