/* Of the samples on a CPU, how many only could have run.
 *
 * Where there are more threads than cores, a thread that is ready to run looks
 * like one that runs, unless the kernel reports context switches (-n). But it
 * counts how long each thread has run, and the recording has that beside the
 * samples of the same time (struct thread_times). */
#ifndef PYROMETER_ANALYZE_RUNNING_H
#define PYROMETER_ANALYZE_RUNNING_H

#include "analyze/profile.h"

/* Fill in p->ready, and `ready` of its threads, once all else is counted. */
void running_estimate(struct profile *p);

/* The samples of a thread that ran. */
static inline uint64_t running_samples(const struct profile_thread *t)
{
	return t->on_cpu - t->ready;
}

#endif
