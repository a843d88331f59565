/* The threads of a profile: what each did, which belong together, which only
 * wait. */
#ifndef PYROMETER_ANALYZE_THREADS_H
#define PYROMETER_ANALYZE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "analyze/tally.h"
#include "base/arena.h"

struct thread_row {
	uint32_t thread;
	struct profile_thread counts;
	/* The function that most samples are in, or ID_NONE: the innermost that
	 * is no native code of a library, unless all are. */
	uint32_t top;
	uint64_t top_samples;
	/* Waits: almost never on a CPU, and almost always in one place. Such a
	 * thread costs nothing and its time says nothing; reports name it in
	 * one line. Never true when all threads of the profile wait. */
	bool idle;
};

struct threads {
	struct thread_row *rows; /* with samples; busiest first */
	uint32_t n_rows;
};

void threads_count(struct threads *out, const struct profile *p,
		   const struct tally *tally, struct arena *arena);

/* Rows that are shown as one: a thread, or the many of a pool, whose names
 * differ only in their numbers. */
struct thread_group {
	const char *name; /* "MainThread", "worker-*" */
	uint32_t process;
	uint32_t first; /* row: of its only, or busiest thread */
	uint32_t n_threads;
	uint32_t *threads; /* ids */
	struct profile_thread counts;
	uint32_t top;	      /* that of the busiest thread, and */
	uint64_t top_samples; /* those of all threads that have it */
	bool idle;	      /* all of it */
};

struct thread_groups {
	struct thread_group *groups; /* busiest first, idle ones last */
	uint32_t n_groups;
};

/* Group the rows: pools of at least THREADS_POOL threads become one group,
 * unless `apart`. In the arena. */
#define THREADS_POOL 4
void threads_group(struct thread_groups *out, const struct threads *threads,
		   const struct profile *p, bool apart, struct arena *arena);

#endif
