/* Watch processes and write what is seen: the loop behind `run` and `attach`.
 *
 * A process that is not (yet) a Python is kept in mind and asked again, first
 * after a millisecond, later more rarely and when it has mapped other files: it
 * may be about to load one, or to exec one. With `subprocesses` the children of
 * everything watched are watched too; without, only the descendants of a
 * process that is itself no Python (a shell script that starts one). */
#ifndef PYROMETER_SAMPLE_RECORDER_H
#define PYROMETER_SAMPLE_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/model.h"
#include "sample/ride.h"

struct recorder;

struct recorder_options {
	uint64_t period;   /* ns; 0: as fast as can be */
	uint64_t duration; /* ns; 0: until all targets end or `stop` */
	enum ride_mode ride;
	bool subprocesses;
	/* Native stacks; with REGISTERS_NONE none. `own` is not used. */
	struct native_options native;
	uint32_t filter;	    /* enum sample_filter */
	const char *const *threads; /* patterns for FILTER_THREADS */
	size_t n_threads;
	const char *command; /* the command line, for the recording */
	/* Whether to put the text of a function's file into the recording, by
	 * its file, kind and module; NULL: none. */
	bool (*keeps_source)(const struct function_info *function);
	/* Set by a signal handler: end in order. */
	volatile sig_atomic_t *stop;
	/* Set by a signal handler: let go of the targets and stop this process,
	 * until somebody continues it. May be NULL. */
	volatile sig_atomic_t *suspend;
	/* Called about five times a second; may be NULL. */
	void (*progress)(void *context, const struct recording_info *info,
			 uint32_t n_processes);
	/* The same while native code is given its names, at the end; `skip`,
	 * set by a signal handler, leaves the rest without. Either may be NULL.
	 */
	void (*naming)(void *context, uint64_t done, uint64_t total);
	const volatile sig_atomic_t *skip;
	void *context;
};

/* Record to `fd`, which stays the caller's. It is emptied and written to once
 * there is something to record, so that nothing is lost for nothing. */
void recorder_new(struct recorder **out, int fd,
		  const struct recorder_options *options);
void recorder_free(struct recorder *r);

/* Whether a process could be attached to; errors as python_open(). */
int recorder_probe(pid_t pid, struct error *err);

/* Watch a process that must be a Python; errors as python_open(). */
int recorder_attach(struct recorder *r, pid_t pid, struct error *err);
/* Watch a process that we have started and that may become one. The recording
 * ends with it. */
void recorder_expect(struct recorder *r, pid_t pid);

/* Sample until the end and complete the recording. A failure to write is
 * returned after all targets have been let go. */
int recorder_run(struct recorder *r, struct error *err);

/* How many Pythons were seen. */
uint32_t recorder_targets(const struct recorder *r);

#endif
