#include "os/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

#define STAT_STATE     3 /* field numbers of proc(5) */
#define STAT_PROCESSOR 39

static int open_file(pid_t pid, pid_t tid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid,
		 name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int os_thread_open(struct os_thread *t, pid_t pid, pid_t tid)
{
	t->stat_fd = open_file(pid, tid, "stat");
	t->sched_fd = open_file(pid, tid, "schedstat");
	t->syscall_fd = open_file(pid, tid, "syscall");
	return t->stat_fd < 0 ? -ERR_GONE : 0;
}

void os_thread_release(struct os_thread *t)
{
	if (t->stat_fd >= 0)
		close(t->stat_fd);
	if (t->sched_fd >= 0)
		close(t->sched_fd);
	if (t->syscall_fd >= 0)
		close(t->syscall_fd);
	t->stat_fd = t->sched_fd = t->syscall_fd = -1;
}

int os_thread_look(struct os_thread *t, struct os_thread_look *out)
{
	char text[1024];
	ssize_t n = pread(t->stat_fd, text, sizeof(text) - 1, 0);
	char *p;

	if (n <= 0)
		return -ERR_GONE;
	text[n] = 0;
	p = strrchr(text, ')');
	if (!p || !p[1] || !p[2])
		return -ERR_GONE;
	p += 2;
	out->state = *p;
	for (int field = STAT_STATE; p && field < STAT_PROCESSOR; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	out->cpu = p ? atoi(p) : -1;
	return 0;
}

uint64_t os_thread_runtime(struct os_thread *t)
{
	char text[128];
	ssize_t n = pread(t->sched_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

/* The file reads "202 0x7f... ..." (number, arguments), or "running". */
bool os_thread_futex(struct os_thread *t, uint64_t *address)
{
	char text[256], *end;
	ssize_t n = pread(t->syscall_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	if (strtol(text, &end, 10) != SYS_futex || end == text)
		return false;
	*address = strtoull(end, NULL, 16);
	return true;
}

void os_thread_name(pid_t pid, pid_t tid, char name[32])
{
	int fd = open_file(pid, tid, "comm");
	ssize_t n = fd < 0 ? -1 : read(fd, name, 31);

	if (fd >= 0)
		close(fd);
	name[n < 0 ? 0 : n] = 0;
	name[strcspn(name, "\n")] = 0;
}
