/* Options as tables: one row per option, in the file of its command. Parsing,
 * --help, the man page and shell completion all read the same rows. */
#ifndef PYROMETER_BASE_OPTIONS_H
#define PYROMETER_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

enum option_kind {
	OPTION_END = 0,
	OPTION_HEADING, /* `help` is a heading in --help; no option */
	OPTION_FLAG, /* bool *: set to true; of letter '-': that "--" was met */
	OPTION_STRING, /* const char **: the argument itself */
	OPTION_NUMBER, /* long *: a whole number, not negative */
	OPTION_RATE,   /* double *: per second: 100, 1k, 10khz */
	OPTION_TIME,   /* double *: seconds: 30, 30s, 500ms, 2m, 1h */
	OPTION_CHOICE, /* int *: index into `choices` */
	OPTION_LIST,   /* struct option_list *: may be given again and again */
};

struct option_list {
	const char **items; /* free() it; the strings belong to argv */
	size_t count;
};

struct option {
	enum option_kind kind;
	char letter;	      /* 0: long only */
	const char *name;     /* NULL: letter only */
	const char *argument; /* what --help calls the argument */
	void *target;	      /* see enum option_kind */
	const char *help;     /* one sentence; with the default in it. NULL:
			       * the option is not shown */
	const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
	bool optional; /* --name alone is fine: the argument is "" */
	bool last;     /* ends the options, as -c and -m of python do */
};

/* Read options from argv[1..]. Options may stand anywhere before "--"; with
 * `stop_at_operand` (for `run`) the first operand ends them. Operands are moved
 * to argv[0], argv[1]... in order; *n_operands says how many, and a NULL
 * follows them. argv[0] is the name of the command until then. Returns 0 or
 * -ERR_USAGE (argv is then as it was); -ERR_HELP when --help or -h is met. */
int options_parse(const struct option *options, int argc, char **argv,
		  bool stop_at_operand, int *n_operands, struct error *err);

/* The table as the indented lines of --help, wrapped to `width` columns. */
void options_help(const struct option *options, int width, struct buffer *out);

/* The table in roff (for the man page). */
void options_man(const struct option *options, struct buffer *out);

/* Parse one value as the options do; used by tests and by other commands. */
int options_parse_rate(const char *text, double *per_second, struct error *err);
int options_parse_time(const char *text, double *seconds, struct error *err);

#endif
