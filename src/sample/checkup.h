/* Whether a process can be watched, how well, and if not why. */
#ifndef PYROMETER_SAMPLE_CHECKUP_H
#define PYROMETER_SAMPLE_CHECKUP_H

#include <sys/types.h>

#include "base/error.h"
#include "os/permission.h"

#define CHECKUP_FINDINGS_MAX 8

/* Look at a process as attach would. *n findings are stored, whatever comes
 * out; returns 0 when it can be watched, else the code of what attach would
 * fail with. */
int checkup(struct finding out[CHECKUP_FINDINGS_MAX], int *n, pid_t pid);

#endif
