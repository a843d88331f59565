/* What is mapped into a process. */
#ifndef PYROMETER_OS_MAPS_H
#define PYROMETER_OS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

struct mapping {
	uint64_t start, end, offset;
	uint64_t device, inode;
	bool readable, executable;
	const char *path; /* as the target sees it; "" when anonymous */
};

struct maps {
	struct mapping *items; /* by address */
	size_t count, capacity;
	struct arena arena;
};

#define MAPS_INIT \
	{         \
		0 \
	}

/* Read /proc/PID/maps. -ERR_NO_PROCESS, -ERR_PERMISSION or -ERR_IO with a
 * sentence. */
int maps_read(struct maps *m, pid_t pid, struct error *err);
void maps_release(struct maps *m);
/* A number that changes when the process maps other files; 0 when it cannot be
 * told. */
uint64_t maps_fingerprint(pid_t pid);

/* Parse one line of /proc/PID/maps in place; false when it is no such line. */
bool maps_parse_line(char *line, struct mapping *out);

#endif
