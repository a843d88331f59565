/* Raw stacks to nodes of the recording's tree.
 *
 * Two samples of a thread mostly share their root part: frames are compared
 * with the last sample's from the root on, and only from the first difference
 * are nodes looked up, by (code, instruction, parent). A stack that was not
 * walked anew since the last sample differs by the leaf's instruction alone.
 * Stacks with native frames are treated alike, these by (address, parent). */
#ifndef PYROMETER_SAMPLE_NODES_H
#define PYROMETER_SAMPLE_NODES_H

#include <stdint.h>

#include "base/map.h"
#include "sample/codes.h"
#include "sample/merge.h"

/* What turns a frame that is not Python's into one of the recording. */
struct node_namer {
	uint32_t (*frame)(struct node_namer *n, const struct merged_frame *f);
};

/* Shared by all threads of a process. */
struct node_table {
	struct codes *codes;
	struct writer *writer;
	struct map by_raw;
	uint64_t epoch; /* moves when an address got another meaning */
};

/* The last stack of one thread, root first. */
struct node_path {
	struct raw_frame *frames;
	uint32_t *nodes;
	uint32_t count, capacity;
	uint64_t epoch;
	uint64_t generation;
	uint64_t walk; /* of the stack, that these frames are from */
};

#define NODE_PATH_INIT \
	{              \
		0      \
	}

void node_table_init(struct node_table *t, struct codes *codes,
		     struct writer *writer);
void node_table_release(struct node_table *t);
void node_path_release(struct node_path *p);

/* The same of a stack with native frames. */
struct merged_path {
	struct merged_frame *frames;
	uint32_t *nodes;
	uint32_t count, capacity;
	uint64_t epoch, generation;
	struct raw_frame *changed; /* Python frames to be checked */
	size_t changed_capacity;
};

void merged_path_release(struct merged_path *p);

/* The generation is the interpreter's count of freed code objects, as
 * codes_check() wants it: when it has changed, all code objects of the stack
 * are compared again. Where nobody counts, it is any number with this bit that
 * changes now and then; until it does, those are compared that were not in the
 * stack before. */
#define NODE_NOT_COUNTED (UINT64_C(1) << 62)

/* The node of a merged stack, ID_NONE when it is empty. */
uint32_t node_of_merged(struct node_table *t, struct merged_path *p,
			const struct merged *stack, uint64_t generation,
			struct node_namer *namer);

/* The node of one more native frame or mark at the leaf of a stack. */
uint32_t node_below(struct node_table *t, uint32_t node,
		    const struct merged_frame *frame, struct node_namer *namer);

/* The node of a stack (leaf first), ID_NONE when it is empty. */
uint32_t node_of_stack(struct node_table *t, struct node_path *p,
		       const struct stack *stack, uint64_t generation);

#endif
