/* Start a program as our child, with its own signals, input and output. */
#ifndef PYROMETER_OS_CHILD_H
#define PYROMETER_OS_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/error.h"

/* Run argv[0] (looked up in PATH). Returns once it has been exec'ed: a program
 * that cannot be run is an error here (-ERR_NOT_FOUND, -ERR_PERMISSION), not a
 * dead child. The child ignores the signals that we were started to ignore (by
 * nohup, or in the background of a script), and no others; it blocks those of
 * `mask`, or with NULL those that we block. */
int child_start(pid_t *out, char *const argv[], const sigset_t *mask,
		struct error *err);

/* Wait for its end; the status as wait(2) gives it, -1 when it is not ours. */
int child_wait(pid_t pid);

#endif
