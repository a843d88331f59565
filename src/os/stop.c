#include "os/stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "os/process.h"

#define PATIENCE   10000000 /* ns for a thread to stop */
#define LAST_WAITS 500	    /* times this, before we leave */

static void forget(struct stop *s)
{
	s->tid = 0;
	s->pending = false;
	s->signal = 0;
}

/* A thread that ended while it was seized is ours to bury, so that its own
 * parent hears of it; a child of ours is left to those who wait for it. */
static void bury(struct stop *s)
{
	if (s->tid != s->own)
		waitpid(s->tid, NULL, __WALL | WNOHANG);
	forget(s);
}

/* Only what we have seized can be interrupted (once more does no harm). */
static bool is_ours(pid_t tid)
{
	return !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) || errno != ESRCH;
}

/* A thread that executes another program gets the number of its process, and is
 * still ours. */
static bool has_moved(struct stop *s)
{
	if (!s->process || s->process == s->tid || !is_ours(s->process))
		return false;
	s->tid = s->process;
	return true;
}

/* Whether a thread has come to a stop; a signal that it stopped for is kept.
 * Gone: tid becomes 0. The stop is looked at and not waited for: the kernel
 * would take that for a promise to pass the signal on, which we could not keep
 * if we were killed. */
static bool has_stopped(struct stop *s)
{
	siginfo_t info = { 0 };
	int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;

	if (waitid(P_PID, (id_t)s->tid, &info, flags) < 0) {
		if (errno == EINTR || has_moved(s))
			return false;
		forget(s);
		return true;
	}
	/* Another thread of our child may have taken its number over. */
	if (!info.si_pid && s->tid == s->own && !is_ours(s->tid)) {
		forget(s);
		return true;
	}
	if (!info.si_pid)
		return false;
	if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
	    info.si_code == CLD_DUMPED) {
		bury(s);
		return true;
	}
	s->pending = false;
	s->signal = info.si_status >> 8 ? 0 : info.si_status;
	return true;
}

/* The kernel tells of a stop by SIGCHLD, which is blocked so that it waits for
 * us. We sleep, because the thread may need this core to come to its stop. */
static void await(struct stop *s)
{
	struct timespec patience = { .tv_nsec = PATIENCE };
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	while (!has_stopped(s))
		if (sigtimedwait(&child, NULL, &patience) < 0 &&
		    errno != EINTR) {
			has_stopped(s);
			break;
		}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A thread that is about to be gone may not be seized either. */
static int refusal(pid_t tid, int code)
{
	char state = process_state(tid);

	return code == ESRCH || !state || state == 'Z' || state == 'X'
		       ? -ERR_GONE
		       : -ERR_PERMISSION;
}

/* Ask a thread to stop, unless that was done before and it is late. */
static int begin(struct stop *s, pid_t tid)
{
	if (s->pending && s->tid == tid)
		return 0;
	if (!stop_settle(s))
		return -ERR_LIMIT;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return refusal(tid, errno);
	s->tid = tid;
	s->pending = true;
	s->signal = 0;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

int stop_thread(struct stop *s, pid_t tid, struct cpu_registers *out)
{
	int status = begin(s, tid);

	if (status < 0)
		return status;
	await(s);
	if (!s->tid)
		return -ERR_GONE;
	if (s->pending)
		return -ERR_LIMIT;
	if (registers_of_stopped(out, tid) < 0) {
		stop_release(s);
		return -ERR_GONE;
	}
	return 0;
}

/* A thread that was killed in its stop cannot be let go; it is to be buried
 * when it has ended. */
void stop_release(struct stop *s)
{
	if (!s->tid || s->pending)
		return;
	if (ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(long)s->signal) < 0)
		s->pending = true;
	else
		forget(s);
}

bool stop_settle(struct stop *s)
{
	if (s->tid && s->pending && has_stopped(s))
		stop_release(s);
	return !s->tid;
}

void stop_end(struct stop *s)
{
	stop_release(s);
	for (int i = 0; i < LAST_WAITS && s->tid; i++) {
		await(s);
		stop_release(s);
	}
}
