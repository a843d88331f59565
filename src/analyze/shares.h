/* The share that each of many things has in a profile: functions, lines.
 *
 * A thing is a key of frames. Its `flat` samples have it as their innermost
 * frame, its `cum` samples have it anywhere, once however often. */
#ifndef PYROMETER_ANALYZE_SHARES_H
#define PYROMETER_ANALYZE_SHARES_H

#include <stdint.h>

#include "analyze/statistics.h"
#include "analyze/tally.h"

struct share_count {
	uint64_t samples;
	struct confidence sure;
};

struct key_share {
	uint32_t key;
	struct share_count flat, cum;
};

enum share_order { BY_FLAT, BY_CUM };

struct shares {
	struct key_share *items; /* only those with samples */
	uint32_t n_items;
};

/* Count by key: key_of_frame[frame] is below n_keys, or ID_NONE for frames that
 * do not count. Sorted by `order`, descending. Lives in the arena. */
void shares_count(struct shares *out, const struct profile *p,
		  const struct tally *tally, const uint32_t *key_of_frame,
		  uint32_t n_keys, enum share_order order, struct arena *arena);

#endif
