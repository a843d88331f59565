/* Commands: one file each, one row each in main.c. This layer alone prints and
 * exits. */
#ifndef PYROMETER_CMD_CMD_H
#define PYROMETER_CMD_CMD_H

#include "base/error.h"
#include "base/options.h"

struct command {
	const char *name;
	const char *usage;   /* after "pyrometer ": "attach [options] PID..." */
	const char *summary; /* one line */
	const char
		*details; /* paragraphs for --help and the man page; or NULL */
	/* argv[0] is the command's name. Returns the exit status of the program
	 * (a program's own for `run`), or a negative error code with `err` set,
	 * which main() prints as one line. */
	int (*run)(const struct command *self, int argc, char **argv,
		   struct error *err);
	const struct option *options; /* for --help, man page and completion */
};

extern const struct command command_run, command_attach, command_dump,
	command_report, command_view, command_export, command_doctor;

/* Columns of the terminal behind `fd`; `otherwise` when it is none. $COLUMNS
 * wins. */
int cmd_width(int fd, int otherwise);
/* Whether a line on fd can be taken back: a terminal, and not a dumb one. */
bool cmd_screen(int fd);
/* Put a line of ASCII on stderr, where cmd_screen(), that the next one replaces
 * and "" takes back. */
void cmd_status(const char *text);
/* Whether to colour output to fd: a terminal, and no NO_COLOR. */
bool cmd_colour(int fd);
/* Say on stderr what went wrong, in one line: a sentence may have words of a
 * file or a process, which must not act on the terminal. */
void cmd_complain(const char *sentence);
/* Write all of the text to fd; a closed pipe is no error. */
int cmd_print(int fd, const char *text, size_t size, struct error *err);

#endif
