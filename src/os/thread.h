/* Threads of other processes as the kernel sees them.
 *
 * Files of /proc/PID/task/TID are kept open and read again at each look: one
 * system call. `syscall` tells whether a thread runs or what it sleeps in, at a
 * quarter of the price of `stat`, for which the kernel prints fifty numbers;
 * but it is for those alone who may trace the thread. */
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
	char state;	  /* R when it runs or could, else S */
	bool futex;	  /* it sleeps on a futex ... */
	uint64_t address; /* ... at this address */
};

/* Open what can be opened. 0, or nothing is open: -ERR_GONE, or -ERR_LIMIT when
 * this process may open few files more. */
int os_thread_open(struct os_thread *t, pid_t pid, pid_t tid);
void os_thread_release(struct os_thread *t);
/* 0 or -ERR_GONE. */
int os_thread_look(struct os_thread *t, struct os_thread_look *out);
/* The state as the kernel calls it: R S D T t Z X; 0 when it is gone. */
char os_thread_letter(struct os_thread *t);
/* The core it is on or was on last; -1 when it cannot be told. */
int os_thread_core(struct os_thread *t);
/* A number that is another one as soon as the thread has come to a CPU, and
 * again when it has left it; 0 when that cannot be told. Its run time alone
 * would not do: while it runs, that is counted at the kernel's tick only. */
uint64_t os_thread_mark(struct os_thread *t);
/* ns on a CPU so far, as counted at the kernel's last tick; 0 when it cannot be
 * told. */
uint64_t os_thread_ran(struct os_thread *t);
/* How often it has come to a CPU; 0 when it cannot be told. */
uint64_t os_thread_turns(struct os_thread *t);
/* How often it has left its CPU by itself, to wait for something; false when
 * that cannot be told. */
bool os_thread_sleeps(pid_t pid, pid_t tid, uint64_t *out);
/* The kernel's name of the thread; "" when gone. */
void os_thread_name(pid_t pid, pid_t tid, char name[32]);

#endif
