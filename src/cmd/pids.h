/* Process ids on the command line. */
#ifndef PYROMETER_CMD_PIDS_H
#define PYROMETER_CMD_PIDS_H

#include <sys/types.h>

#include "cmd/cmd.h"

/* The words as process ids, at least one; *out is the caller's to free(), also
 * after a failure. */
int pids_parse(const struct command *self, int n, char **words, pid_t **out,
	       struct error *err);

/* One word as a process id. */
int pids_parse_one(const char *text, pid_t *pid, struct error *err);

#endif
