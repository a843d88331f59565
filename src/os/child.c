#include "os/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* exec forgets handlers by itself. What this process ignores, so that a failed
 * write is an error and not its death, the child would go on to ignore. */
static void restore_signals(void)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

static void exec_child(int report, char *const argv[], const sigset_t *mask)
{
	ssize_t ignored;
	int code;

	restore_signals();
	if (mask)
		sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	code = errno;
	ignored = write(report, &code, sizeof(code));
	(void)ignored;
	_exit(127);
}

static int exec_failure(const char *name, int code, struct error *err)
{
	if (code == ENOENT)
		return fail(err, ERR_NOT_FOUND, "cannot run '%s': not found",
			    name);
	return fail(err, code == EACCES ? ERR_PERMISSION : ERR_IO,
		    "cannot run '%s': %s", name, strerror(code));
}

int child_start(pid_t *out, char *const argv[], const sigset_t *mask,
		struct error *err)
{
	int report[2], code = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return fail(err, ERR_IO, "cannot make a pipe: %s",
			    strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_child(report[1], argv, mask);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return fail(err, ERR_IO, "cannot start a process: %s",
			    strerror(errno));
	}
	/* Closed by a successful exec; carries errno of a failed one. */
	do
		n = read(report[0], &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == (ssize_t)sizeof(code)) {
		child_wait(pid);
		return exec_failure(argv[0], code, err);
	}
	*out = pid;
	return 0;
}

int child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}
