/* What every thread did in time: its states in buckets of a window, a single
 * moment of it, and its stacks in the order in which they were seen.
 *
 * A sample stands for a time (spans.h), so that a window may be as narrow as
 * one sample and ticks that were missed stay blank. */
#ifndef PYROMETER_ANALYZE_TIMELINE_H
#define PYROMETER_ANALYZE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"

/* What is shown of a sample's state, the most telling first that applies. */
enum lane_state {
	LANE_GC,     /* collecting garbage */
	LANE_WAIT,   /* waiting for the GIL */
	LANE_GIL,    /* holding it */
	LANE_CPU,    /* on a CPU without it */
	LANE_OFF,    /* neither */
	LANE_MARKED, /* beside one of these: with a marked stack */
	LANE_STATES,
};

enum lane_state lane_state(uint32_t state);

struct timeline {
	uint64_t from, to;
	uint32_t n_buckets, n_threads;
	/* By thread: NULL, or for each bucket the share of it, 0 to 1, that the
	 * thread spent in each state. */
	float (**lanes)[LANE_STATES];
};

/* Of the window of the profile's filter (which must end), all threads that pass
 * it. `marked` says by node which stacks count as LANE_MARKED; NULL: none. Free
 * with timeline_release. */
int timeline_count(struct timeline *t, struct profile *p, uint32_t n_buckets,
		   const bool *marked, struct error *err);
void timeline_release(struct timeline *t);

/* What a thread was seen doing at the tick nearest to a moment. */
struct moment {
	bool found;
	uint64_t when;	      /* of the tick */
	uint64_t first, last; /* of the run, within its block */
	/* The ticks beside this one, and beside the run's; the same again where
	 * the recording ends. */
	uint64_t before, after, run_before, run_after;
	uint32_t state, node; /* as in struct run */
	uint32_t holder;      /* thread of its process with the GIL */
	uint32_t holder_node; /* what that one did */
};

int moment_find(struct moment *m, struct reader *reader, uint32_t thread,
		uint64_t when, struct error *err);

#define CHRONO_GC ID_NONE /* in place of a function: collecting garbage */

struct chrono_options {
	bool mine;     /* library code below library code is folded into it */
	bool inverted; /* the innermost functions first */
};

/* A box of a flame graph in order of time. */
struct chrono_box {
	uint32_t function, depth;
	uint32_t start, end; /* columns */
};

struct chrono {
	struct chrono_box *items; /* by their end */
	uint32_t count, capacity;
	uint32_t depth;
};

/* The stacks of one thread: of each column the one that was seen longest in one
 * go; what neighbours have in common is one box. Free with chrono_release. */
int chrono_count(struct chrono *c, struct profile *p, uint32_t thread,
		 uint32_t n_columns, const struct chrono_options *options,
		 struct error *err);
void chrono_release(struct chrono *c);

#endif
