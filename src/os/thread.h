/* Threads of other processes as the kernel sees them.
 *
 * /proc/PID/task/TID/stat is kept open and read again at each look: one system
 * call. It tells the state and the core a thread is or was last on. */
#ifndef PYROMETER_OS_THREAD_H
#define PYROMETER_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct os_thread {
	int stat_fd, sched_fd, syscall_fd; /* -1: not open */
};

#define OS_THREAD_INIT     \
	{                  \
		-1, -1, -1 \
	}

struct os_thread_look {
	char state; /* R S D T t Z X */
	int cpu;
};

/* Open what can be opened. 0 or -ERR_GONE. */
int os_thread_open(struct os_thread *t, pid_t pid, pid_t tid);
void os_thread_release(struct os_thread *t);
/* 0 or -ERR_GONE. */
int os_thread_look(struct os_thread *t, struct os_thread_look *out);
/* ns the thread has run on a CPU; 0 when it cannot be told. */
uint64_t os_thread_runtime(struct os_thread *t);
/* Whether the thread sleeps on a futex, and at which address. */
bool os_thread_futex(struct os_thread *t, uint64_t *address);
/* The kernel's name of the thread; "" when gone. */
void os_thread_name(pid_t pid, pid_t tid, char name[32]);

#endif
