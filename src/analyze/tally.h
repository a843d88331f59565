/* The samples of a profile counted by stack within strata: thread by thread,
 * and slice of time by slice of time.
 *
 * One pass over the runs; a stratum keeps only the stacks seen in it, so the
 * cost goes by runs and by what was seen, never by strata times nodes. */
#ifndef PYROMETER_ANALYZE_TALLY_H
#define PYROMETER_ANALYZE_TALLY_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/arena.h"

#define TALLY_SLICES 20

struct tally_cell {
	uint32_t node; /* ID_NONE: no Python stack */
	uint64_t samples;
};

struct stratum {
	uint64_t samples;
	uint32_t n_cells;
	struct tally_cell *cells;
};

struct tally {
	uint64_t ticks; /* moments with at least one sample */
	uint32_t n_threads;
	struct stratum *threads; /* by thread id */
	struct stratum slices[TALLY_SLICES];
};

/* Fill *out; what it points to lives in the arena. */
int tally_count(struct tally *out, struct profile *p, struct arena *arena,
		struct error *err);

/* A stratum's counts carried from its leaves to the roots. The arrays are as
 * long as the recording has nodes, but only the listed nodes are ever touched;
 * one spread serves many strata in turn. */
struct spread {
	const struct reader *reader;
	uint64_t *self, *total; /* by node; 0 for every node not listed */
	uint32_t *nodes;	/* that have samples or descendants with some,
				 * descending: each before its parent */
	uint32_t n_nodes;
	uint64_t no_stack; /* samples without a Python stack */
};

void spread_init(struct spread *s, const struct reader *reader);
/* Add a stratum. Several may be added before spread_sum. */
void spread_add(struct spread *s, const struct stratum *stratum);
/* Order the list and carry the totals up. Once, after the last spread_add. */
void spread_sum(struct spread *s);
void spread_clear(struct spread *s);
void spread_release(struct spread *s);

#endif
