#include "os/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

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

int trial_perf(bool kernel)
{
	struct subject s = { .hold = -1 };
	int status = subject_start(&s);

	if (!status)
		status = watch(s.pid, kernel);
	subject_end(&s);
	return status;
}
