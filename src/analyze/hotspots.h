/* Where the time goes in the user's own code.
 *
 * A sample belongs to the innermost user's function in its stack, which is
 * either at work itself or waits for the library code that it called: that is
 * where a user can change something. Samples without any user's code, as of
 * workers that wait for work, are apart; but when they are nearly all, each
 * belongs to its innermost function. */
#ifndef PYROMETER_ANALYZE_HOTSPOTS_H
#define PYROMETER_ANALYZE_HOTSPOTS_H

#include <stdint.h>

#include "analyze/tally.h"
#include "base/arena.h"

struct hotspot {
	uint32_t function;
	uint64_t samples;
	uint32_t line; /* of it, with the most samples; 0: unknown */
	uint64_t line_samples;
	uint32_t call; /* the library function it spends most in, or ID_NONE */
	uint64_t call_samples;
};

struct hotspots {
	struct hotspot *spots; /* heaviest first */
	uint32_t n_spots;
	uint64_t samples;   /* of all spots */
	uint64_t elsewhere; /* without user's code, and in no spot */
	/* The function that more of these end in than in any other, or
	 * ID_NONE, and how many. */
	uint32_t elsewhere_in;
	uint64_t elsewhere_in_samples;
};

/* Of a spread that was summed. Lives in the arena. */
void hotspots_count(struct hotspots *out, const struct spread *s,
		    struct arena *arena);

#endif
