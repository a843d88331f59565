#include "analyze/running.h"

#include <math.h>

#include "base/clock.h"

/* Samples exceed run times a little by chance, and because a thread that we
 * take the core from is ready: by less than this it says nothing. */
#define CLEARLY	  1.1
#define DEVIATION 3.0  /* of the count, at its most a Poisson's */
#define LATE	  0.02 /* seconds by which the kernel may count late */

/* What all threads together have, of which the kernel has told. */
static struct thread_times sum_times(const struct profile *p)
{
	struct thread_times sum = { 0, 0 };

	for (uint32_t i = 0; i < p->n_threads; i++) {
		struct thread_times t = reader_thread_times(p->reader, i);

		sum.ran += t.ran;
		sum.on_cpu += t.on_cpu;
	}
	return sum;
}

/* The share of the samples on a CPU that was running. */
static double share_running(const struct profile *p,
			    const struct thread_times *t)
{
	double sampled = (double)t->on_cpu * p->seconds_per_sample;

	return fmin(1, (double)t->ran / NS_PER_SECOND / sampled);
}

static bool is_clear(const struct profile *p, const struct thread_times *all)
{
	double n = (double)all->on_cpu, ran = (double)all->ran / NS_PER_SECOND;

	return (n - DEVIATION * sqrt(n)) * p->seconds_per_sample >
	       CLEARLY * ran + LATE;
}

void running_estimate(struct profile *p)
{
	struct thread_times all = sum_times(p);

	/* As fast as can be, samples are not evenly spread over time. */
	if (!reader_info(p->reader)->period || !is_clear(p, &all))
		return;
	for (uint32_t i = 0; i < p->n_threads; i++) {
		struct profile_thread *t = &p->threads[i];
		struct thread_times times = reader_thread_times(p->reader, i);
		double running = share_running(p, times.on_cpu ? &times : &all);

		t->ready = (uint64_t)lround((double)t->on_cpu * (1 - running));
		p->ready += t->ready;
	}
}
