#include "os/stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define PATIENCE 10000000 /* ns for a thread to stop */

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

/* Whether a thread has come to a stop; a signal that it stopped for is kept.
 * Gone: tid becomes 0. */
static bool has_stopped(struct stop *s)
{
	siginfo_t info = { 0 };
	int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL, status;

	if (waitid(P_PID, (id_t)s->tid, &info, flags) < 0) {
		if (errno == EINTR)
			return false;
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
	if (waitpid(s->tid, &status, __WALL | WNOHANG) != s->tid)
		return false;
	s->pending = false;
	s->signal = status >> 16 ? 0 : WSTOPSIG(status);
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
		if (sigtimedwait(&child, NULL, &patience) < 0 && errno != EINTR)
			break;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int refusal(int code)
{
	return code == ESRCH ? -ERR_GONE : -ERR_PERMISSION;
}

/* Ask a thread to stop, unless that was done before and it is late. */
static int begin(struct stop *s, pid_t tid)
{
	if (s->pending && s->tid == tid)
		return 0;
	if (!stop_settle(s))
		return -ERR_LIMIT;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return refusal(errno);
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

void stop_release(struct stop *s)
{
	if (s->tid && !s->pending) {
		ptrace(PTRACE_DETACH, s->tid, NULL, (void *)(long)s->signal);
		forget(s);
	}
}

bool stop_settle(struct stop *s)
{
	if (s->tid && s->pending && has_stopped(s))
		stop_release(s);
	return !s->tid;
}
