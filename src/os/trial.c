#include "os/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/perf_event.h"

#define SECRET UINT64_C(0x70795f6d65746572)

/* A child that waits until we are done with it. */
struct subject {
	pid_t pid; /* 0: none */
	int hold;  /* closing it ends the child; -1: not open */
	/* Written by the child, read from its memory at the same address. */
	volatile uint64_t secret;
};

static void wait_for(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

static int subject_start(struct subject *s)
{
	int ready[2], hold[2];
	char byte;
	ssize_t n;

	if (pipe2(ready, O_CLOEXEC))
		return errno;
	if (pipe2(hold, O_CLOEXEC)) {
		close(ready[0]);
		close(ready[1]);
		return EMFILE;
	}
	s->pid = fork();
	if (s->pid == 0) {
		close(hold[1]);
		s->secret = SECRET;
		n = write(ready[1], "", 1);
		n = read(hold[0], &byte, 1);
		_exit(n < 0);
	}
	close(ready[1]);
	close(hold[0]);
	s->hold = hold[1];
	n = s->pid > 0 ? read(ready[0], &byte, 1) : 0;
	close(ready[0]);
	return s->pid > 0 && n == 1 ? 0 : EAGAIN;
}

static void subject_end(struct subject *s)
{
	if (s->hold >= 0)
		close(s->hold);
	if (s->pid > 0)
		wait_for(s->pid, NULL);
}

static int read_vector(pid_t pid, volatile uint64_t *at, uint64_t *word)
{
	struct iovec local = { word, sizeof(*word) };
	struct iovec remote = { (void *)at, sizeof(*at) };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 ? errno : 0;
}

static int read_file(pid_t pid, volatile uint64_t *at, uint64_t *word)
{
	char path[64];
	int fd, status = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (pread(fd, word, sizeof(*word), (off_t)(uintptr_t)at) < 0)
		status = errno;
	close(fd);
	return status;
}

static int watch(pid_t pid, bool kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static int read_child(int (*read_word)(pid_t, volatile uint64_t *, uint64_t *))
{
	struct subject s = { .hold = -1 };
	uint64_t word = 0;
	int status = subject_start(&s);

	if (!status)
		status = read_word(s.pid, &s.secret, &word);
	subject_end(&s);
	return !status && word != SECRET ? EIO : status;
}

int trial_read_child(void)
{
	return read_child(read_vector);
}

int trial_read_child_file(void)
{
	return read_child(read_file);
}

int trial_read_stranger(void)
{
	volatile uint64_t secret = SECRET;
	pid_t us = getpid(), pid = fork();
	int status = 0;

	if (pid == 0) {
		uint64_t word = 0;
		int refusal;

		secret = 0; /* of the child */
		refusal = read_vector(us, &secret, &word);
		if (refusal == ENOSYS || refusal == EPERM)
			refusal = read_file(us, &secret, &word);
		_exit(!refusal && word != SECRET ? EIO : refusal);
	}
	if (pid < 0)
		return errno;
	wait_for(pid, &status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* Try something on a child. */
static int on_child(int (*try)(pid_t pid))
{
	struct subject s = { .hold = -1 };
	int status = subject_start(&s);

	if (!status)
		status = try(s.pid);
	subject_end(&s);
	return status;
}

static int watch_all(pid_t pid)
{
	return watch(pid, true);
}

static int watch_user(pid_t pid)
{
	return watch(pid, false);
}

int trial_perf(bool kernel)
{
	return on_child(kernel ? watch_all : watch_user);
}

/* As native sampling opens them, with the ring that the records go to. */
static int open_event(pid_t pid, enum perf_kind kind)
{
	struct perf_event e = PERF_EVENT_INIT;
	int status = perf_event_open(&e, pid, kind, false, NULL);

	perf_event_close(&e);
	switch (status) {
	case 0:
		return 0;
	case -ERR_PERMISSION:
		return EACCES;
	case -ERR_LIMIT:
		return EMFILE;
	default:
		return ENOSYS;
	}
}

static int watch_switches(pid_t pid)
{
	return open_event(pid, PERF_AT_SWITCH);
}

static int watch_clock(pid_t pid)
{
	return open_event(pid, PERF_AT_CLOCK);
}

int trial_perf_switch(void)
{
	return on_child(watch_switches);
}

int trial_perf_clock(void)
{
	return on_child(watch_clock);
}

static int stop_child(pid_t pid)
{
	int refusal = 0;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return errno;
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		refusal = errno;
	else
		wait_for(pid, NULL);
	if (ptrace(PTRACE_DETACH, pid, 0, 0) && !refusal)
		refusal = errno;
	return refusal;
}

int trial_stop(void)
{
	return on_child(stop_child);
}
