/* /tmp/perf-PID.map: how programs that make code at run time (Python's perf
 * trampolines, node, the JVM's agent, Julia) tell profilers its names. A line
 * has address and size in hexadecimal and a name, which may hold spaces. The
 * program appends while it is read, so the end may be half a line. */
#ifndef PYROMETER_ELF_PERFMAP_H
#define PYROMETER_ELF_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/code_names.h"

struct perfmap {
	struct code_names names;
	int fd;
	uint64_t read; /* bytes of the file that have been taken */
};

/* The map of the process that calls itself `inner`, below its root. Anybody can
 * put such a file into /tmp: one that belongs neither to `owner`, root nor
 * ourselves is not believed. False when there is none. */
bool perfmap_open(struct perfmap *m, const char *root, pid_t inner,
		  uid_t owner);
/* Over a file that is open; takes the descriptor. */
void perfmap_open_fd(struct perfmap *m, int fd);
void perfmap_release(struct perfmap *m);

/* Take the whole lines that have been added since. */
void perfmap_update(struct perfmap *m);

/* Take whole lines out of bytes; returns how many bytes were taken. */
size_t perfmap_parse(struct code_names *names, const char *bytes, size_t size);

#endif
