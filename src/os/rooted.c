#include "os/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the kernel's own limit */

int rooted_begin(const char *root)
{
	return open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Take the first component off `rest`, without slashes. */
static char *next_component(char **rest)
{
	char *name = *rest + strspn(*rest, "/");

	if (!*name)
		return NULL;
	*rest = name + strcspn(name, "/");
	if (**rest)
		*(*rest)++ = '\0';
	return name;
}

static void remove_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

static bool append(char path[PATH_MAX], const char *name)
{
	size_t have = strlen(path), more = strlen(name);

	if (have + more + 2 > PATH_MAX)
		return false;
	if (have)
		path[have++] = '/';
	memcpy(path + have, name, more + 1);
	return true;
}

/* If `path` is a link, what it says goes in front of `rest`. */
static bool follow(int root, char path[PATH_MAX], char rest[PATH_MAX],
		   char *left, int *links)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlinkat(root, path, target, sizeof(target) - 1);
	int size;

	if (n < 0) {
		memmove(rest, left, strlen(left) + 1);
		return errno == EINVAL; /* no link */
	}
	target[n] = '\0';
	size = snprintf(joined, sizeof(joined), "%s/%s", target, left);
	if (--*links < 0 || size >= PATH_MAX)
		return false;
	memcpy(rest, joined, (size_t)size + 1);
	if (target[0] == '/')
		path[0] = '\0';
	else
		remove_last(path);
	return true;
}

bool rooted_resolve(int root, const char *path, char out[PATH_MAX])
{
	char rest[PATH_MAX], *left = rest, *name;
	int links = LINKS_MAX;

	if (strlen(path) >= sizeof(rest))
		return false;
	memcpy(rest, path, strlen(path) + 1);
	out[0] = '\0';
	while ((name = next_component(&left))) {
		if (!strcmp(name, ".."))
			remove_last(out);
		if (name[0] == '.' && (!name[1] || !strcmp(name, "..")))
			continue;
		if (!append(out, name) ||
		    !follow(root, out, rest, left, &links))
			return false;
		left = rest;
	}
	return out[0] != '\0';
}

static int open_path(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	char plain[PATH_MAX];

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	if (!rooted_resolve(root, path, plain))
		return -1;
	return openat(root, plain, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

/* What is behind an O_PATH descriptor has not been opened yet, and cannot be
 * exchanged any more once it has been looked at. */
int rooted_open(int root, const char *path)
{
	int fd = open_path(root, path), file = -1;
	char self[64];
	struct stat st;

	if (fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		file = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	close(fd);
	return file;
}
