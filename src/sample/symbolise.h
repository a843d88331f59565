/* Give names to the native code in a recording.
 *
 * This happens after the recording: a site is looked up once, however many
 * samples it is in, and nobody is being watched meanwhile. The names go into
 * the recording, so that it can be read where the program's files are not. A
 * recording that broke off has sites without names; they are looked up when it
 * is opened, as far as the same files (by their build ids) are at hand. */
#ifndef PYROMETER_SAMPLE_SYMBOLISE_H
#define PYROMETER_SAMPLE_SYMBOLISE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/reader.h"
#include "record/writer.h"

/* A process whose code is in the recording, remembered while it lives. */
struct symbolise_target {
	pid_t pid, inner; /* as we see it, and as it sees itself */
	uid_t owner;
	int root; /* a descriptor of its root folder; -1: the same as ours */
};

struct symbolise_targets {
	struct symbolise_target *items;
	size_t count, capacity;
};

#define SYMBOLISE_TARGETS_INIT \
	{                      \
		0              \
	}

/* Remember a process; one that is known already is not taken again. */
void symbolise_targets_add(struct symbolise_targets *t, pid_t pid);
void symbolise_targets_release(struct symbolise_targets *t);

struct symbolise_options {
	/* Whose files to look for; our own come last. */
	const struct symbolise_targets *targets;
	/* Fold nothing; see inlined.h. A recording does not say whether it was
	 * asked for, so that names that come late are folded. */
	bool internals;
	/* Called first with done = 0, then several times a second; may be
	 * NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
	/* Set by a signal handler: leave the rest without names. May be NULL.
	 */
	const volatile sig_atomic_t *stop;
};

struct symbolise_counts {
	uint32_t sites, named;	   /* looked up, and found */
	uint32_t modules, missing; /* files, and those that were not there */
	uint32_t without_lines;	   /* files without debug information */
	bool stopped;
};

void symbolise_writer(struct writer *w, const struct symbolise_options *o,
		      struct symbolise_counts *counts);

/* What a recording notes of itself when that was stopped. */
#define SYMBOLISE_NOTE                                                       \
	"the lookup of native names was interrupted; opening the recording " \
	"where the program's files are goes on with it"

/* Whether the recorder did not get to look names up. (Those that it did not
 * find there are not here either.) */
bool symbolise_wanted(const struct reader *r);

/* Only files whose build id is known are believed, and neither the kernel's
 * addresses nor code made at run time: those are others by now. Resolves the
 * reader if anything was found. */
void symbolise_reader(struct reader *r, const struct symbolise_options *o,
		      struct symbolise_counts *counts);

#endif
