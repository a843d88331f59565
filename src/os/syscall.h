/* Where a thread waits that is off its CPU, as /proc/PID/task/TID/syscall has
 * it: its system call, and where its stack stands. */
#ifndef PYROMETER_OS_SYSCALL_H
#define PYROMETER_OS_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "os/registers.h"

struct os_syscall {
	long number;	   /* -1: blocked outside of a system call */
	uint64_t argument; /* the first one */
	struct cpu_registers registers; /* sp and pc alone */
};

/* Read the (open) file. False when the thread runs, or it may not be known;
 * errno is ESRCH when it has ended. */
bool os_syscall_read(int fd, struct os_syscall *out);

/* Parse the file's text. */
bool os_syscall_parse(const char *text, struct os_syscall *out);

/* What one waits for in this call: "futex", "poll", ...; NULL when the call is
 * none of those in which programs usually wait. */
const char *os_syscall_wait(long number);

#endif
