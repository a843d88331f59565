/* Files as another process names them, opened below that process's root.
 *
 * Paths and symbolic links come from the target. Below a container's root an
 * absolute link or a ".." means the container's file and never ours; and a
 * name may belong to a FIFO, which blocks who opens it, or to a device, which
 * may do something. So links are resolved inside the root, and what is no
 * regular file is not opened at all. */
#ifndef PYROMETER_OS_ROOTED_H
#define PYROMETER_OS_ROOTED_H

#include <limits.h>
#include <stdbool.h>

/* The folder that is somebody's root ("/proc/PID/root", "/proc/self/fd/N";
 * NULL: our own). A descriptor to close, or -1. */
int rooted_begin(const char *root);

/* Open the regular file at `path` below the root to read it. A descriptor, or
 * -1 when there is none, it is something else, or it is forbidden. */
int rooted_open(int root, const char *path);

/* What kernels before 5.6 leave to us: the path below the root without
 * symbolic links, relative to it. False when it cannot be told. A link that is
 * put there meanwhile by somebody quick is not noticed. */
bool rooted_resolve(int root, const char *path, char out[PATH_MAX]);

#endif
