/* What a thread that waited for the GIL waited for: who held it meanwhile. */
#ifndef PYROMETER_ANALYZE_WAITS_H
#define PYROMETER_ANALYZE_WAITS_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "record/reader.h"

/* A thread in a function, holding the GIL. */
struct holder {
	uint32_t thread;
	uint32_t function; /* its innermost one, or ID_NONE */
	uint64_t samples;  /* of the other one's waiting */
};

struct waits {
	uint64_t samples;     /* of waiting in the window */
	uint64_t unknown;     /* of these, with nobody seen to hold it */
	struct holder *items; /* the most frequent first */
	uint32_t count, capacity;
	struct map by_holder; /* private */
};

/* Count the waits of `thread` at ticks of [from, to), looking at one block of
 * samples in `stride`. Free with waits_release, also when it fails. */
int waits_count(struct waits *w, struct reader *reader, uint32_t thread,
		uint64_t from, uint64_t to, uint32_t stride, struct error *err);
void waits_release(struct waits *w);

#endif
