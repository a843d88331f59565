/* The threads of a target get their Python names.
 *
 * A name costs some fifteen small reads, and a thread is known to Python's
 * threading module only a little after it was born (never, when C made it). So
 * names are read when a thread appears and again at growing intervals while
 * some thread has none, and reading them is given a twentieth of the time at
 * most. */
#ifndef PYROMETER_SAMPLE_NAMING_H
#define PYROMETER_SAMPLE_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/target.h"

/* Set ->name and ->named of the threads that have no name yet, if that was not
 * tried lately; tells the recording of threads that are in it. `fresh`: a
 * thread has appeared, so there is more hope than before. */
void naming_update(struct target *t, uint64_t now, bool fresh);

/* What to call a thread: Python's name, else the kernel's, else "". */
void naming_best(const struct target *t, const struct target_thread *thread,
		 char name[THREAD_NAME_SIZE]);

#endif
