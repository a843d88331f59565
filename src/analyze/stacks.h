/* The stacks of a recording as a forest to walk, and which frames of a stack
 * count: a function that calls itself is in its stack many times, its time has
 * passed only once. */
#ifndef PYROMETER_ANALYZE_STACKS_H
#define PYROMETER_ANALYZE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "record/reader.h"

/* For each node whether no ancestor of it has the same key, where
 * key_of_frame[frame] is below n_keys, or ID_NONE (then the answer is false).
 * Summing the totals of such nodes counts a stack once per key. Time and memory
 * go by nodes, whatever their depth. The result lives in the arena. */
bool *stacks_outermost(const struct reader *reader,
		       const uint32_t *key_of_frame, uint32_t n_keys,
		       struct arena *arena);

#endif
