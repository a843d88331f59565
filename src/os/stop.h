/* Stop one thread of another process for a moment, by ptrace: the last resort
 * where perf events are forbidden.
 *
 * A thread is seized, interrupted, and detached from again as soon as it has
 * been read, all within one sample. In between it is not traced, so that
 * signals, exec, exit and waiting parents are as they always were; and should
 * we be killed in the middle, the kernel lets it go by itself. Only a thread
 * that runs is stopped: to interrupt one that sleeps in a system call could
 * change what the call returns. */
#ifndef PYROMETER_OS_STOP_H
#define PYROMETER_OS_STOP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/registers.h"

struct stop {
	pid_t tid;     /* 0: nobody */
	int signal;    /* that arrived meanwhile, to be passed on */
	bool pending;  /* asked to stop, has not stopped yet */
	pid_t own;     /* a child of ours whose end others wait for; 0: none */
	pid_t process; /* whose threads these are; 0: unknown */
};

#define STOP_INIT \
	{         \
		0 \
	}

/* Stop a thread and take its registers; on success stop_release() must follow
 * at once. -ERR_PERMISSION, -ERR_GONE, or -ERR_LIMIT when it does not stop in
 * time (it is let go when it does: see stop_settle()). */
int stop_thread(struct stop *s, pid_t tid, struct cpu_registers *out);
/* Let it run on. */
void stop_release(struct stop *s);

/* Let go of a thread that was late to stop. True when there is none (any
 * more). To be called now and then. */
bool stop_settle(struct stop *s);
/* The same at the end: waits for it, some seconds at most. */
void stop_end(struct stop *s);

#endif
