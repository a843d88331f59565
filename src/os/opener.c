#include "os/opener.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

int opener_regular(const char *path, uint64_t inode)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) ||
	    (inode && st.st_ino != inode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* A path may by now name another file, so the inode is compared. (Overlay file
 * systems report another device in maps than stat does, so the device is not.)
 */
static int open_of_process(const struct opener *o,
			   const struct mapping *mapping)
{
	int pid = (int)((const struct process_opener *)o)->pid;
	char path[PATH_MAX + 64];
	int fd;

	if (mapping->path[0] != '/' || !mapping->inode)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, mapping->path);
	fd = opener_regular(path, mapping->inode);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	fd = opener_regular(path, 0);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return opener_regular(path, mapping->inode);
}

struct process_opener opener_of_process(pid_t pid)
{
	return (struct process_opener){ { open_of_process }, pid };
}
