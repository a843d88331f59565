/* From samples to calls as they were seen: a function that stays on the stack
 * of a thread from one sample to the next is one slice of time.
 *
 * A slice begins with the first sample that has it and ends with the first that
 * has not; slices of a thread nest by construction. Where a thread was not seen
 * for a while (its samples were filtered out, or missed), all its slices end
 * one sample after it was last seen. */
#ifndef PYROMETER_FORMAT_SLICES_H
#define PYROMETER_FORMAT_SLICES_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/error.h"

struct slice {
	uint64_t order; /* counts from 0 as slices begin */
	uint64_t start; /* ns since the start of the recording */
	uint32_t thread;
	uint32_t node;	   /* the stack it was first seen with, up to itself */
	uint32_t function; /* ID_NONE: no Python stack */
};

struct slice_visitor {
	/* A slice begins; in order of time, a caller before what it calls.
	 * A non-zero return ends the visit. May be NULL. */
	int (*begin)(void *context, const struct slice *slice);
	/* A slice ends, what was called before its caller. May be NULL. */
	void (*end)(void *context, const struct slice *slice, uint64_t end);
};

/* Returns 0, the non-zero value of `begin`, or a negative code. */
int slices_each(struct profile *p, const struct slice_visitor *visitor,
		void *context, struct error *err);

#endif
