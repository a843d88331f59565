/* Processes as /proc tells of them. */
#ifndef PYROMETER_OS_PROCESS_H
#define PYROMETER_OS_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* Whether /proc is there and tells of the processes that we see: in a pid
 * namespace of its own, a program that was left the /proc of another one would
 * look at strangers. */
int process_check_proc(struct error *err);

bool process_exists(pid_t pid);

/* Whether the process is there and can be asked for in /proc. */
int process_find(pid_t pid, struct error *err);

struct process_look {
	char state; /* one of R S D T t Z X...; 0 when it is gone */
	/* When it started, in clock ticks since boot: with the pid it names a
	 * process for good. 0 when it is gone. */
	uint64_t start_time;
	/* A number that changes when it execs another program (where the kernel
	 * put its stack); 0 when that cannot be told. */
	uint64_t image;
};

/* All of it at once, and each by itself. */
struct process_look process_look(pid_t pid);
uint64_t process_start_time(pid_t pid);
char process_state(pid_t pid);
uint64_t process_image(pid_t pid);

/* Path of the executable as the target sees it; "" when it cannot be told. */
void process_exe(pid_t pid, char path[PATH_MAX]);

/* Command line, arguments joined by spaces; the kernel's name in brackets for
 * one without. Appends to out. */
void process_command(pid_t pid, struct buffer *out);

/* Direct children of any thread of the process. Returns how many were stored.
 */
int process_children(pid_t pid, pid_t *out, int max);

/* The thread ids. *out is grown with xrealloc and free()d by the caller;
 * returns the number or -ERR_GONE. */
int process_threads(pid_t pid, pid_t **out, int *capacity);

/* The process's pid in its own pid namespace; another one than ours when it
 * sees other pids than we do. */
pid_t process_inner_pid(pid_t pid);

/* The thread of `pid` that calls itself `inner` in its own pid namespace, as we
 * see it; 0 when there is none. */
pid_t process_outer_tid(pid_t pid, pid_t inner);

/* Total CPU time of a process in ns; 0 when it cannot be told. */
uint64_t process_cpu_time(pid_t pid);

#endif
