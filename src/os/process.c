#include "os/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#define STAT_STATE	3 /* field numbers of proc(5) */
#define STAT_START_TIME 22
#define STAT_IMAGE	28

int process_check_proc(struct error *err)
{
	char own[32] = "";

	if (readlink("/proc/self", own, sizeof(own) - 1) < 0)
		return fail(err, ERR_UNSUPPORTED,
			    "/proc/self: %s; to mount it: mount -t proc proc "
			    "/proc",
			    strerror(errno));
	if (strtol(own, NULL, 10) != getpid())
		return fail(err, ERR_UNSUPPORTED,
			    "/proc is that of another pid namespace; to mount "
			    "the right one: mount -t proc proc /proc, or "
			    "unshare --mount-proc");
	return 0;
}

bool process_exists(pid_t pid)
{
	return pid > 0 && (!kill(pid, 0) || errno == EPERM);
}

int process_find(pid_t pid, struct error *err)
{
	if (!process_exists(pid))
		return fail(err, ERR_NO_PROCESS, "no process %d", (int)pid);
	return process_check_proc(err);
}

/* The beginning of a /proc file as a string; the length, or -1. Lists come in
 * several reads. */
static ssize_t slurp(const char *path, char *into, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, into + done, size - 1 - done)) > 0)
		done += (size_t)n;
	close(fd);
	into[done] = 0;
	return n < 0 ? -1 : (ssize_t)done;
}

/* The name in field 2 may hold anything, so fields are counted from its last
 * ')'. */
struct process_look process_look(pid_t pid)
{
	struct process_look look = { 0 };
	char path[64], text[1024], *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (slurp(path, text, sizeof(text)) <= 0 || !(p = strrchr(text, ')')))
		return look;
	for (int field = STAT_STATE; (p = strchr(p, ' ')); field++) {
		p++;
		if (field == STAT_STATE)
			look.state = *p;
		else if (field == STAT_START_TIME)
			look.start_time = strtoull(p, NULL, 10);
		else if (field == STAT_IMAGE)
			look.image = strtoull(p, NULL, 10);
	}
	return look;
}

uint64_t process_start_time(pid_t pid)
{
	return process_look(pid).start_time;
}

char process_state(pid_t pid)
{
	return process_look(pid).state;
}

uint64_t process_image(pid_t pid)
{
	return process_look(pid).image;
}

void process_exe(pid_t pid, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, PATH_MAX - 1);
	path[n < 0 ? 0 : n] = 0;
}

void process_command(pid_t pid, struct buffer *out)
{
	char path[64], text[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	n = slurp(path, text, sizeof(text));
	while (n > 0 && !text[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		buffer_add_byte(out, text[i] ? (unsigned char)text[i] : ' ');
	if (n > 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	n = slurp(path, text, sizeof(text));
	if (n > 0)
		buffer_printf(out, "[%.*s]", (int)n - 1, text);
}

static int add_children(const char *path, pid_t *out, int n, int max)
{
	char text[65536];
	char *p = text, *end;

	if (slurp(path, text, sizeof(text)) <= 0)
		return n;
	while (n < max) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		out[n++] = (pid_t)pid;
		p = end;
	}
	return n;
}

int process_children(pid_t pid, pid_t *out, int max)
{
	pid_t *threads = NULL;
	int capacity = 0, n = 0;
	int n_threads = process_threads(pid, &threads, &capacity);

	for (int i = 0; i < n_threads; i++) {
		char path[96];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
			 (int)pid, (int)threads[i]);
		n = add_children(path, out, n, max);
	}
	free(threads);
	return n;
}

int process_threads(pid_t pid, pid_t **out, int *capacity)
{
	char path[64];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ERR_GONE;
	while ((entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		ALLOC_GROW(*out, n + 1, *capacity);
		(*out)[n++] = tid;
	}
	closedir(dir);
	return n;
}

/* The innermost id in the NSpid line of a status file; 0 when there is none. */
static pid_t innermost_id(const char *path)
{
	char text[8192];
	char *p, *last;

	if (slurp(path, text, sizeof(text)) <= 0 ||
	    !(p = strstr(text, "\nNSpid:")))
		return 0;
	p += strlen("\nNSpid:");
	p[strcspn(p, "\n")] = 0;
	last = strrchr(p, '\t');
	return last ? (pid_t)atoi(last + 1) : 0;
}

pid_t process_inner_pid(pid_t pid)
{
	char path[64];
	pid_t inner;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	inner = innermost_id(path);
	return inner ? inner : pid;
}

pid_t process_outer_tid(pid_t pid, pid_t inner)
{
	pid_t *threads = NULL, found = 0;
	int capacity = 0, n = process_threads(pid, &threads, &capacity);

	for (int i = 0; i < n && !found && inner; i++) {
		char path[96];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/status",
			 (int)pid, (int)threads[i]);
		if (innermost_id(path) == inner)
			found = threads[i];
	}
	free(threads);
	return found;
}

/* The clock of a process is its id, turned over, and the kind of clock: what
 * clock_getcpuclockid() gives without asking whether the process exists. */
uint64_t process_cpu_time(pid_t pid)
{
	clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}
