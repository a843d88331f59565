/* How often each thread was seen with each stack in each state, in whatever
 * order: what formats need that keep no time. */
#ifndef PYROMETER_FORMAT_CENSUS_H
#define PYROMETER_FORMAT_CENSUS_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/error.h"
#include "base/map.h"

struct census_entry {
	uint32_t thread;
	uint32_t node;	/* ID_NONE: no stack */
	uint32_t state; /* enum sample_state, the bits that were asked for */
	uint64_t samples;
};

struct census {
	struct census_entry *entries;
	uint32_t count, capacity;
	struct map index;
};

#define CENSUS_INIT \
	{           \
		0   \
	}

/* Count all of `p`, telling states apart by the bits in `mask` only. */
int census_fill(struct census *t, struct profile *p, uint32_t mask,
		struct error *err);
void census_release(struct census *t);

#endif
