/* Take proven samples of a target's threads. */
#ifndef PYROMETER_SAMPLE_SAMPLER_H
#define PYROMETER_SAMPLE_SAMPLER_H

#include <stdint.h>

#include "sample/ride.h"
#include "sample/target.h"

struct sampler_counts {
	uint64_t samples, torn, unproven, unreadable, lost, retried, ridden;
	uint64_t visited, clocked;
	uint64_t native, broken, unmerged;
};

struct sampler {
	struct rider rider;
	bool bursts;   /* several looks in a read, where that can be; burst.h */
	uint64_t woke; /* since when we are awake, for this tick; 0: unknown */
	struct sampler_counts counts;
};

/* Count a sample in that state. */
void sampler_count(struct sampler_counts *c, uint32_t state);
/* Count what a state says of a native stack. */
void sampler_count_native(struct sampler_counts *c, uint32_t state);

void sampler_init(struct sampler *s, enum ride_mode mode, uint64_t period);

/* Look at all threads of a target and prove each stack, so that thread->good,
 * ->state and ->stack are final. -ERR_GONE when the target has ended; after any
 * failure the threads are as they were and must not be recorded. */
int sampler_take(struct sampler *s, struct target *t, uint64_t now);
/* The same, without counting Python's threads and what is lost. */
int sampler_look(struct sampler *s, struct target *t, uint64_t now);

/* After it, when there are bursts: let the threads be as another look of the
 * same read found them, proven as well, and tell when that was. False when
 * there is none. */
bool sampler_next(struct sampler *s, struct target *t, uint64_t *when);

/* Whether the kernel can take the stack of a thread that runs, on its core. */
bool sampler_may_visit(const struct sampler *s, struct target *t,
		       const struct target_thread *thread);

/* Prove the stack of a thread that was just looked at, retry and mark it. */
void sampler_prove(struct sampler *s, struct target *t,
		   struct target_thread *thread);

/* Before sleeping: go to the core where the next look is best taken. */
void sampler_settle(struct sampler *s, struct target *const *targets,
		    uint32_t n);
/* Settle, and sleep until that look. */
void sampler_sleep(struct sampler *s, struct target *const *targets, uint32_t n,
		   uint64_t until);

#endif
