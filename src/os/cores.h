/* Cores and priorities of the calling thread. */
#ifndef PYROMETER_OS_CORES_H
#define PYROMETER_OS_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* A set of cores that a thread may use. */
struct sched_cores {
	cpu_set_t set;
};

/* The core we are on now. */
int sched_core(void);
/* Move to the one core; returns once we run there. False when not permitted. */
bool sched_pin(int core);
/* The cores the calling thread may use now. */
void sched_permitted(struct sched_cores *out);
/* Use all of these again. */
void sched_unpin(const struct sched_cores *cores);
/* Timers of this thread fire when they are due, not up to 50 us later. */
void sched_precise_timers(void);
/* How often this thread has been switched away from, by will or by force. */
uint64_t sched_switches(void);

#endif
