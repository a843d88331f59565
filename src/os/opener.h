/* How to open the files that a process has mapped.
 *
 * For a live process they are opened through its own root, so that containers
 * and other roots work. A core file only has their paths. */
#ifndef PYROMETER_OS_OPENER_H
#define PYROMETER_OS_OPENER_H

#include <sys/types.h>

#include "os/maps.h"

struct opener {
	/* A descriptor of the file behind a mapping, the caller's to close; -1
	 * when it is no regular file or not to be had. */
	int (*open)(const struct opener *o, const struct mapping *mapping);
};

/* The files of a live process; deleted ones through /proc/PID/map_files or
 * /proc/PID/exe. */
struct process_opener {
	struct opener opener;
	pid_t pid;
};

struct process_opener opener_of_process(pid_t pid);

static inline int opener_open(const struct opener *o,
			      const struct mapping *mapping)
{
	return o->open(o, mapping);
}

/* Open a file if it is a regular one (devices are mapped too, and opening one
 * may do something) with this inode; 0: with any. -1 when it is not. */
int opener_regular(const char *path, uint64_t inode);

#endif
