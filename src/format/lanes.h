/* The runs of one thread after the other, for formats that keep threads apart.
 *
 * A recording has them mixed, in order of time. Threads are gathered in groups
 * small enough to be held, one pass over the recording for each group: about 32
 * bytes per run of the largest thread, or 64 MB if that is more. */
#ifndef PYROMETER_FORMAT_LANES_H
#define PYROMETER_FORMAT_LANES_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/error.h"

struct lane_run {
	uint64_t first, last; /* ns since the start: its first tick, its last */
	uint32_t node;	      /* ID_NONE: no stack */
	uint32_t state;	      /* enum sample_state */
	uint32_t ticks;
};

struct lane {
	uint32_t thread;
	uint32_t count, capacity;
	struct lane_run *runs; /* in order of time */
};

/* A non-zero return ends the visit and is returned. */
typedef int lane_visit(void *context, const struct lane *lane);

/* Every thread that has a sample in the profile, in order of its id. */
int lanes_each(struct profile *p, lane_visit *visit, void *context,
	       struct error *err);

#endif
