/* Which part of a recording to look at: the options that every command has that
 * reads one, and how they become the filter of a profile.
 *
 *   static struct filter_options filters;
 *   static const struct option options[] = {
 *           ...
 *           FILTER_OPTIONS(filters),
 *           { OPTION_END },
 *   };
 *
 * Parse, open the recording, filter_resolve(), profile_new(); when the profile
 * is freed, filter_release(). */
#ifndef PYROMETER_CMD_FILTERS_H
#define PYROMETER_CMD_FILTERS_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/error.h"
#include "base/options.h"
#include "record/reader.h"

struct filter_options {
	int mode; /* enum profile_mode */
	struct option_list threads, functions, files, processes;
	double from, to; /* seconds since the start; to 0: the end */
	uint32_t *pids;	 /* `processes` as numbers, once resolved */
};

/* The names of enum profile_mode in its order, NULL-terminated. */
extern const char *const filter_modes[];

/* The rows of an option table that fill the `struct filter_options` o. */
/* clang-format off */
#define FILTER_OPTIONS(o)                                                      \
	{ OPTION_HEADING, .help = "What to look at" },                         \
	{ OPTION_CHOICE, 'm', "mode", "MODE", &(o).mode,                       \
	  "Count wall time, only time on a CPU, or only time with the GIL "    \
	  "(default: wall).",                                                  \
	  filter_modes },                                                      \
	{ OPTION_LIST, 0, "thread", "PATTERN", &(o).threads,                   \
	  "Only threads whose name or id matches; may be repeated." },         \
	{ OPTION_LIST, 0, "function", "PATTERN", &(o).functions,               \
	  "Only stacks with a function that matches; may be repeated." },      \
	{ OPTION_LIST, 0, "file", "PATTERN", &(o).files,                       \
	  "Only stacks with a source or object file that matches; may be "     \
	  "repeated." },                                                       \
	{ OPTION_LIST, 'p', "pid", "PID", &(o).processes,                      \
	  "Only this process; may be repeated." },                             \
	{ OPTION_TIME, 0, "from", "TIME", &(o).from,                           \
	  "Leave out what came before TIME, counted from the start of the "    \
	  "recording: 10s, 500ms, 2m." },                                      \
	{ OPTION_TIME, 0, "to", "TIME", &(o).to,                               \
	  "Leave out what came after TIME." }
/* clang-format on */

/* Fill *out from the options. It borrows their arrays, so they must outlive the
 * profile made with it. Fails (-ERR_USAGE) when a PID is no number or not in
 * the recording, or the time window is empty. */
int filter_resolve(struct filter_options *o, const struct reader *reader,
		   struct profile_filter *out, struct error *err);

/* Free what parsing and resolving allocated. NULL fields are fine. */
void filter_release(struct filter_options *o);

#endif
