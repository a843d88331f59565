/* Names are looked up after a program has ended, when /proc no longer leads to
 * its files: so its root is held open from the beginning. Most live in ours,
 * and then there is nothing to hold. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/process.h"
#include "os/rooted.h"
#include "sample/symbolise.h"

#define ROOTS_MAX 64 /* held open at once; containers, not processes */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The same folder may be the root of another mount namespace with another /tmp.
 */
static bool lives_with_us(pid_t pid)
{
	char root[64], mounts[64];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
	return same_file(root, "/proc/self/root") &&
	       same_file(mounts, "/proc/self/ns/mnt");
}

static size_t roots_held(const struct symbolise_targets *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		n += t->items[i].root >= 0;
	return n;
}

void symbolise_targets_add(struct symbolise_targets *t, pid_t pid)
{
	struct symbolise_target new = { .pid = pid, .root = -1 };
	char path[64];
	struct stat st;

	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].pid == pid)
			return;
	new.inner = process_inner_pid(pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	new.owner = stat(path, &st) ? geteuid() : st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (!lives_with_us(pid) && roots_held(t) < ROOTS_MAX)
		new.root = rooted_begin(path);
	ALLOC_GROW(t->items, t->count + 1, t->capacity);
	t->items[t->count++] = new;
}

void symbolise_targets_release(struct symbolise_targets *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].root >= 0)
			close(t->items[i].root);
	free(t->items);
	*t = (struct symbolise_targets)SYMBOLISE_TARGETS_INIT;
}
