/* Who calls whom, to write a node's frame as a small number: a frame calls few
 * others, and mostly the same ones again. The callees of a frame are counted
 * in the order in which they were first seen; a known one is written as its
 * number, a new one as the count so far plus its frame. Frames that nobody
 * called are the callees of ID_NONE. */
#ifndef PYROMETER_RECORD_EDGES_H
#define PYROMETER_RECORD_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct edges {
	struct map map;	  /* writing: (caller, callee) to number; reading:
			   * (caller, number) to callee */
	uint32_t *counts; /* of callees, by caller; [0] of ID_NONE */
	uint32_t capacity;
};

/* One of the two for each `struct edges`, never both. */
uint64_t edges_encode(struct edges *e, uint32_t caller, uint32_t callee);
/* ID_NONE when the value makes no frame below n_frames. */
uint32_t edges_decode(struct edges *e, uint32_t caller, uint64_t value,
		      uint32_t n_frames);
void edges_release(struct edges *e);

#endif
