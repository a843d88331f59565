/* pyrometer run: start a program and record it.
 *
 * The program stays the terminal's own: it has its own standard input and
 * output, gets Ctrl-C from the terminal like any other, and its end is ours,
 * exit code or signal. What somebody sends to us is passed on to it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "os/child.h"
#include "os/process.h"

static struct recording_options recording_options;
static const char *module, *code, *interpreter;
static bool plain_command;
static volatile sig_atomic_t child, stop;

static const struct option options[] = {
	{ OPTION_STRING, 'm', "module", "MODULE", &module,
	  "Run a module as a script; the rest is its arguments.",
	  .last = true },
	{ OPTION_STRING, 'c', "code", "CODE", &code,
	  "Run this code; the rest is its arguments.", .last = true },
	{ OPTION_STRING, 0, "python", "PATH", &interpreter,
	  "The interpreter for scripts, -m and -c (default: python3, else "
	  "python)." },
	{ OPTION_FLAG, '-', NULL, NULL, &plain_command, NULL },
	RECORDING_OPTIONS(recording_options),
	{ OPTION_END },
};

/* Signals of the terminal reach the program by themselves; those that a
 * process sent to us are passed on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	recording_signal();
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
}

static const int signals[] = { SIGINT, SIGQUIT, SIGTERM,
			       SIGHUP, SIGUSR1, SIGUSR2 };

#define N_SIGNALS (sizeof(signals) / sizeof(*signals))

/* What we were started to ignore, as by nohup, stays ignored. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = pass_on,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;

	for (size_t i = 0; i < N_SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static void hold_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* Whether one has come that is not blocked by others as well. */
static bool signal_came(const sigset_t *before)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (sigismember(&pending, signals[i]) &&
		    !sigismember(before, signals[i]))
			return true;
	return false;
}

/* Start the program so that no signal is lost: one that came before ends us, as
 * it would have ended the program; one that comes while the program begins
 * reaches it through pass_on(). */
static int start_program(char **program, const sigset_t *before,
			 struct error *err)
{
	pid_t pid;
	int status;

	if (signal_came(before))
		return fail(err, ERR_IO, "interrupted");
	status = child_start(&pid, program, before, err);
	if (status < 0)
		return status;
	child = pid;
	catch_signals();
	return 0;
}

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = xstrdup(path ? path : "/usr/bin:/bin"), *save = NULL;
	bool found = false;

	for (char *dir = strtok_r(copy, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		char *full = xasprintf("%s/%s", dir, name);

		found = !access(full, X_OK);
		free(full);
	}
	free(copy);
	return found;
}

static const char *python_name(void)
{
	if (interpreter)
		return interpreter;
	return in_path("python3") || !in_path("python") ? "python3" : "python";
}

/* A file that is not meant to be run by itself is a script for Python. */
static bool is_script(const char *name)
{
	const char *dot = strrchr(name, '.');
	struct stat st;

	if (dot && (!strcmp(dot, ".py") || !strcmp(dot, ".pyz") ||
		    !strcmp(dot, ".pyc")))
		return true;
	return !stat(name, &st) &&
	       (S_ISDIR(st.st_mode) ||
		(S_ISREG(st.st_mode) && access(name, X_OK)));
}

static int no_program(struct error *err)
{
	return fail(err, ERR_USAGE,
		    "what shall be run? usage: pyrometer run script.py, "
		    "-m module, -c code or -- command");
}

/* The program's own command line, NULL-terminated; free() it. */
static int make_command(char ***out, int n, char **words, struct error *err)
{
	char **argv = xcalloc((size_t)n + 4, sizeof(*argv));
	int at = 0;

	if (module || code) {
		argv[at++] = (char *)python_name();
		argv[at++] = module ? "-m" : "-c";
		argv[at++] = (char *)(module ? module : code);
	} else if (n && !plain_command && is_script(words[0])) {
		if (access(words[0], R_OK)) {
			free(argv);
			return fail(err, ERR_NOT_FOUND, "cannot open %s: %s",
				    words[0], strerror(errno));
		}
		argv[at++] = (char *)python_name();
	} else if (!n) {
		free(argv);
		return no_program(err);
	}
	memcpy(argv + at, words, (size_t)n * sizeof(*words));
	*out = argv;
	return 0;
}

/* Name the recording after what runs, not after the interpreter. */
static const char *program_name(int n, char **words)
{
	if (module)
		return module;
	if (code)
		return "code";
	return n ? words[0] : "python";
}

/* End as the program ended. */
static int end_like(int status)
{
	struct rlimit none = { 0, 0 };

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return 0;
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int run_recorded(char **program, const char *name, const char *command,
			struct error *err)
{
	struct recording r;
	struct error trouble = ERROR_INIT;
	int status, ended;
	sigset_t before;

	hold_signals(&before);
	status = recording_open(&r, &recording_options, name, getpid(), err);
	if (status == 0)
		status = start_program(program, &before, err);
	if (status < 0) {
		recording_cancel(&r);
		recording_release(&r);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status < 0)
		return status;
	status = recording_start(&r, command, &stop, NULL, &trouble);
	if (status < 0)
		goto out;
	recorder_expect(r.recorder, child);
	status = recording_finish(&r, &trouble);
out:
	ended = child_wait(child);
	recording_release(&r);
	if (status < 0)
		fprintf(stderr, "pyrometer: %s\n", trouble.text);
	return end_like(ended);
}

static int run(const struct command *self, int argc, char **argv,
	       struct error *err)
{
	char *command = recording_command_line(argc, argv);
	char **program = NULL;
	int n, status;

	(void)self;
	status = options_parse(options, argc, argv, true, &n, err);
	if (status == 0)
		status = recording_check(&recording_options, err);
	if (status == 0)
		status = process_check_proc(err);
	if (status == 0 && recording_options.output &&
	    !strcmp(recording_options.output, "-"))
		status = fail(err, ERR_USAGE,
			      "standard output is the program's own; name a "
			      "file with -o");
	if (status == 0)
		status = make_command(&program, n, argv, err);
	if (status == 0)
		status = run_recorded(program, program_name(n, argv), command,
				      err);
	free(program);
	free(command);
	return status;
}

const struct command command_run = {
	.name = "run",
	.usage = "run [options] script.py [args] | -m module | -c code | "
		 "-- command",
	.summary = "Start a program and record it",
	.details = "The program keeps its own input, output, signals and exit "
		   "code; a short\nreport follows on standard error.",
	.run = run,
	.options = options,
};
