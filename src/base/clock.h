/* The one clock of a recording: CLOCK_MONOTONIC in nanoseconds. */
#ifndef PYROMETER_BASE_CLOCK_H
#define PYROMETER_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_SECOND 1000000000u

uint64_t clock_now(void);	 /* CLOCK_MONOTONIC */
uint64_t clock_wall(void);	 /* CLOCK_REALTIME, to date a recording */
uint64_t clock_thread_cpu(void); /* CPU time of the calling thread */
uint64_t clock_process_cpu(void);
/* Sleep until clock_now() would give `when`; returns early on a signal. */
void clock_sleep_until(uint64_t when);

#endif
