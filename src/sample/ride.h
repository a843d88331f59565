/* Reading a thread from its own core.
 *
 * While our thread runs on a core, the thread that was running there does not:
 * its stack stands still for as long as we hold the core, with no stop, no
 * signal and no privilege. That matters for code that switches frames every few
 * tens of nanoseconds (generators, coroutines, small recursive functions): read
 * from another core, its stack is torn more often than not, and the samples
 * that happen to be whole are those of its slower moments.
 *
 * The proof that it held: we were not switched away from the core between the
 * beginning and the end, and at the end the thread still names that core as the
 * one it runs on or ran last. The kernel writes that name into the thread's
 * rseq area before the thread runs a single instruction on another core. Where
 * the C library has no rseq area, /proc must name that core, and the thread
 * must not have come to a CPU meanwhile.
 *
 * It costs the target the time we hold its core, and a wake-up on that core, so
 * it is used for threads that need it: a moving average of how often the stack
 * moved while it was read from elsewhere decides.
 *
 * Where BPF programs are permitted, the kernel reads the thread on its core for
 * us (os/visit.h), without our going there: a ride without a horse. It needs no
 * choice of cores and costs the target a fraction. The wake-up is then left to
 * stacks that are too deep for it. */
#ifndef PYROMETER_SAMPLE_RIDE_H
#define PYROMETER_SAMPLE_RIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/cores.h"
#include "sample/target.h"

enum ride_mode {
	RIDE_AUTO,
	RIDE_ALWAYS,
	RIDE_NEVER,
	RIDE_WAKE, /* always, and by waking up there */
};

struct rider {
	enum ride_mode mode;
	bool wanted;  /* mode and rate permit it */
	bool refused; /* the target's core may not be chosen here */
	struct sched_cores permitted;
	bool confined; /* to one core: there is no other to look from */
	int core;      /* that we are pinned to; -1: none */
	/* Of the ride that is going on. */
	uint64_t switches, mark;
};

void rider_init(struct rider *r, enum ride_mode mode, uint64_t period);

/* Cores are chosen whatever the rate: native stacks want it. */
void rider_insist(struct rider *r);

/* Whether this thread should be read from its own core, if that can be done. */
bool rider_wants(const struct rider *r, const struct target_thread *thread);

/* Go to a core; -1: unknown. False when it is not permitted. */
bool rider_go_to(struct rider *r, int core);
/* Go to the thread's core, if that is known and permitted. */
bool rider_go(struct rider *r, const struct target_thread *thread);
/* Leave: run anywhere again. */
void rider_leave(struct rider *r);

/* Begin and end the reading of a thread from its core, by target_look() or
 * target_look_thread(). rider_held() tells whether the thread did not run in
 * between. */
void rider_begin(struct rider *r, const struct target *target,
		 struct target_thread *thread);
bool rider_held(struct rider *r, const struct target *target,
		struct target_thread *thread);

/* A ride teaches nothing about reads from elsewhere; what was learnt fades, so
 * that a thread that has calmed down is left alone again. */
void rider_forget(struct target_thread *thread);

/* Learn from a read from another core: did the stack move? */
void rider_learn(struct target_thread *thread, bool moved);

#endif
