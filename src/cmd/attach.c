/* pyrometer attach: record processes that are already running. */
#include <signal.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/pids.h"
#include "cmd/recording.h"

static struct recording_options recording_options;
static volatile sig_atomic_t stop, suspend;

static const struct option options[] = {
	RECORDING_OPTIONS(recording_options),
	{ OPTION_END },
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
	recording_signal();
}

/* Ctrl-Z. The recorder lets go of its targets first; when it does not sample,
 * the second one stops us. */
static void on_suspend(int number)
{
	(void)number;
	if (suspend)
		raise(SIGSTOP);
	else
		suspend = 1;
}

static void on_continue(int number)
{
	(void)number;
	suspend = 0;
}

/* What we were started to ignore, as by nohup, stays ignored. */
static void catch_signal(int number, void (*handler)(int))
{
	if (signal(number, handler) == SIG_IGN)
		signal(number, SIG_IGN);
}

/* Everything that can fail is tried before a file is touched. */
static int try_pids(const pid_t *pids, int n, struct error *err)
{
	int status = 0;

	for (int i = 0; i < n && status == 0; i++)
		status = recorder_probe(pids[i], err);
	return status;
}

static int record(const pid_t *pids, int n, const char *command,
		  struct error *err)
{
	struct recording r;
	int status =
		recording_open(&r, &recording_options, "python", pids[0], err);

	if (status == 0)
		status = recording_start(&r, command, &stop, &suspend, err);
	for (int i = 0; i < n && status == 0; i++)
		status = recorder_attach(r.recorder, pids[i], err);
	if (status == 0)
		status = recording_finish(&r, err);
	recording_release(&r);
	return status;
}

static int attach(const struct command *self, int argc, char **argv,
		  struct error *err)
{
	char *command = recording_command_line(argc, argv);
	pid_t *pids = NULL;
	int n, status;

	status = options_parse(options, argc, argv, false, &n, err);
	if (status == 0)
		status = recording_check(&recording_options, err);
	if (status == 0)
		status = pids_parse(self, n, argv, &pids, err);
	if (status == 0)
		status = try_pids(pids, n, err);
	if (status == 0) {
		catch_signal(SIGINT, on_signal);
		catch_signal(SIGTERM, on_signal);
		catch_signal(SIGHUP, on_signal);
		catch_signal(SIGTSTP, on_suspend);
		catch_signal(SIGCONT, on_continue);
		status = record(pids, n, command, err);
	}
	free(pids);
	free(command);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.usage = "attach [options] PID...",
	.summary = "Record processes that are already running",
	.details =
		"The processes are only read, never stopped or changed (but "
		"see --registers stop).\nCtrl-C ends the recording and leaves "
		"them as they are.",
	.run = attach,
	.options = options,
};
