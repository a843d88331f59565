/* Other tools' files: a profile written in the format of each of them.
 *
 * One file per format, one row each in export.c. An encoder streams into a
 * sink; what it keeps in memory grows with the number of distinct stacks, never
 * with the length of the recording, except where it says so at its head. */
#ifndef PYROMETER_FORMAT_FORMAT_H
#define PYROMETER_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/profile.h"
#include "base/error.h"
#include "format/sink.h"

struct format_options {
	bool threads; /* processes and threads as the roots of stacks, in the
		       * formats that know only stacks */
	const char *recording; /* what the recording is called to people, in the
				* formats that can say it; NULL: "recording" */
	/* In the formats that hold several recordings: those after the first,
	 * which is the profile's. */
	struct reader *const *others;
	const char *const *other_names;
	size_t n_others;
};

struct format_ops {
	const char *name; /* what -f takes */
	/* The default name of the output is prefix + the recording's name
	 * without .pyro + suffix. A name that begins and ends so is guessed to
	 * be of this format. */
	const char *prefix, *suffix;
	const char *summary; /* who reads it: "speedscope.app" */
	/* Write all of `p`, from the first byte to the last. Never NULL. Calls
	 * sink_drain() as it goes and returns its failure at once, without a
	 * text; any other failure with its text in `err`. Does not finish the
	 * sink. Every name in the profile is hostile text. */
	int (*write)(struct profile *p, const struct format_options *options,
		     struct sink *sink, struct error *err);
};

/* Every format, in the order in which help lists them. */
extern const struct format_ops *const formats[];
extern const size_t n_formats;

/* The format called `name`, or NULL with a sentence that lists them all. */
const struct format_ops *format_find(const char *name, struct error *err);

/* The format that a file with this name has, or NULL: no format's. */
const struct format_ops *format_guess(const char *path);

/* The default output for the recording `path`, beside it; free() it. For "-"
 * and the like the program is called "profile". */
char *format_default_path(const struct format_ops *f, const char *path);

/* Write the profile to `path`; "-" is standard output. A file of that name is
 * replaced once the new one is complete, and untouched when anything fails. */
int format_export(struct profile *p, const struct format_ops *f,
		  const char *path, struct error *err);
/* The same with options (NULL: the defaults). */
int format_export_with(struct profile *p, const struct format_ops *f,
		       const struct format_options *options, const char *path,
		       struct error *err);

extern const struct format_ops format_collapsed, format_speedscope,
	format_pprof, format_firefox, format_chrome, format_callgrind,
	format_pstats, format_flamegraph, format_html;

#endif
