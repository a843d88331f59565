/* What is written of the threads of a target: who they are, when they are met
 * first, and at each tick the node of their stack and their state, as far as
 * the recording wants them. */
#ifndef PYROMETER_SAMPLE_SCRIBE_H
#define PYROMETER_SAMPLE_SCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include "record/writer.h"
#include "sample/clocks.h"

struct scribe {
	struct writer *writer;
	uint64_t start;	 /* clock_now() that is time 0 of the recording */
	uint32_t filter; /* enum sample_filter */
	const char *const *threads; /* patterns of their names; all with 0 */
	size_t n_threads;
};

/* After a look that came out well: what is to be written of each thread. What
 * they run is given its names here, as soon as can be. */
void scribe_see(const struct scribe *s, struct target *t, uint64_t now);
/* Write it, at the tick that was begun. */
void scribe_write(const struct scribe *s, const struct target *t);
/* The same for another tick, and count what is written. */
void scribe_write_again(const struct scribe *s, const struct target *t,
			struct sampler_counts *counts);

/* Write how long its threads have been on a CPU, as the kernel counts. */
void scribe_write_times(const struct scribe *s, struct target *t);

/* Write and count what is known of a tick of a window; see clocks.h. */
void scribe_write_window(const struct scribe *s, struct target *t,
			 const struct clock_window *w, uint32_t tick,
			 struct sampler_counts *counts);

#endif
