#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "os/descriptors.h"

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
	int why;

	t->stat_fd = open_file(pid, tid, "stat");
	t->sched_fd = open_file(pid, tid, "schedstat");
	t->syscall_fd = open_file(pid, tid, "syscall");
	if (t->stat_fd >= 0 && !descriptors_scarce(t->stat_fd))
		return 0;
	if (t->stat_fd >= 0)
		errno = EMFILE;
	why = errno;
	os_thread_release(t);
	errno = why;
	return why == EMFILE || why == ENFILE ? -ERR_LIMIT : -ERR_GONE;
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

/* Read a file from its beginning as a string; false when there is nothing. */
static bool read_text(int fd, char *into, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, into, size - 1, 0);

	into[n < 0 ? 0 : n] = 0;
	return n > 0;
}

/* Field `number` of stat, counted from the state on: the name before it may
 * hold anything. NULL when the thread is gone. */
static const char *stat_field(struct os_thread *t, int number, char text[1024])
{
	char *p;

	if (!read_text(t->stat_fd, text, 1024) || !(p = strrchr(text, ')')) ||
	    !p[1] || !p[2])
		return NULL;
	p += 2;
	for (int field = STAT_STATE; p && field < number; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	return p;
}

char os_thread_letter(struct os_thread *t)
{
	char text[1024];
	const char *field = stat_field(t, STAT_STATE, text);

	return field ? *field : 0;
}

int os_thread_core(struct os_thread *t)
{
	char text[1024];
	const char *field = stat_field(t, STAT_PROCESSOR, text);

	return field ? atoi(field) : -1;
}

/* For those who may not read `syscall`. */
static int look_by_stat(struct os_thread *t, struct os_thread_look *out)
{
	char letter = os_thread_letter(t);

	if (!letter)
		return -ERR_GONE;
	out->state = letter == 'R' ? 'R' : 'S';
	return 0;
}

/* The file reads "running", or "202 0x7f... ..." (number, arguments). */
int os_thread_look(struct os_thread *t, struct os_thread_look *out)
{
	char text[256], *end;

	memset(out, 0, sizeof(*out));
	if (!read_text(t->syscall_fd, text, sizeof(text)))
		return look_by_stat(t, out);
	out->state = text[0] == 'r' ? 'R' : 'S';
	out->futex = strtol(text, &end, 10) == SYS_futex && end != text;
	if (out->futex)
		out->address = strtoull(end, NULL, 16);
	return 0;
}

/* ns on a CPU, ns of waiting for one, and turns on one. */
static bool read_schedstat(struct os_thread *t, uint64_t *ran, uint64_t *turns)
{
	char text[128], *end;

	if (!read_text(t->sched_fd, text, sizeof(text)))
		return false;
	*ran = strtoull(text, &end, 10);
	strtoull(end, &end, 10);
	*turns = strtoull(end, NULL, 10);
	return *ran;
}

uint64_t os_thread_mark(struct os_thread *t)
{
	uint64_t ran, turns;

	return read_schedstat(t, &ran, &turns) ? ran + (turns << 40) : 0;
}

uint64_t os_thread_ran(struct os_thread *t)
{
	uint64_t ran, turns;

	return read_schedstat(t, &ran, &turns) ? ran : 0;
}

uint64_t os_thread_turns(struct os_thread *t)
{
	uint64_t ran, turns;

	return read_schedstat(t, &ran, &turns) ? turns : 0;
}

bool os_thread_sleeps(pid_t pid, pid_t tid, uint64_t *out)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	int fd = open_file(pid, tid, "status");
	char text[8192];
	const char *at = NULL;

	if (fd < 0)
		return false;
	if (read_text(fd, text, sizeof(text)))
		at = strstr(text, key);
	close(fd);
	if (at)
		*out = strtoull(at + sizeof(key) - 1, NULL, 10);
	return at;
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
