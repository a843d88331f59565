/* pyrometer dump: every stack of a process, now. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/pids.h"
#include "cmd/style.h"
#include "view/dump.h"

#define PIPE_WIDTH 1000 /* columns when nobody looks: cut next to nothing */
#define ENDS	   50	/* frames of a deep stack that are shown at each end */

static struct dump_options {
	bool locals, json, all;
	int colour;
} how;

static const struct option options[] = {
	{ OPTION_FLAG, 'l', "locals", NULL, &how.locals,
	  "The variables of each call, arguments first; values are read from "
	  "memory, no code of the program runs." },
	{ OPTION_FLAG, 'a', "all", NULL, &how.all,
	  "All calls of a deep stack (default: 50 at each end)." },
	{ OPTION_FLAG, 'j', "json", NULL, &how.json,
	  "The same as JSON, for programs (docs/json.md)." },
	STYLE_OPTION(how.colour),
	{ OPTION_END },
};

static int dump_process(pid_t pid, struct buffer *out, struct json *j,
			const struct view_style *style, struct error *err)
{
	struct snapshot_options options = { .locals = how.locals,
					    .ends = how.all ? 0 : ENDS };
	struct snapshot *s = NULL;
	int status = snapshot_take(&s, pid, &options, err);

	if (status < 0)
		return status;
	if (how.json) {
		dump_json(j, s);
	} else {
		if (out->size)
			buffer_add_byte(out, '\n');
		dump_text(out, s, style);
	}
	snapshot_free(s);
	return 0;
}

/* Of several processes, one that cannot be read does not keep the others from
 * being shown; the last such failure is the command's. */
static int dump_all(const pid_t *pids, int n, struct buffer *out,
		    struct error *err)
{
	struct view_style style = style_choose(how.colour, PIPE_WIDTH);
	struct json j = JSON_OVER(out);
	int status = 0;

	if (how.json) {
		json_open(&j, NULL, '{');
		json_open(&j, "processes", '[');
	}
	for (int i = 0; i < n; i++) {
		struct error one = ERROR_INIT;
		int failure = dump_process(pids[i], out, &j, &style, &one);

		if (!failure)
			continue;
		if (status)
			fprintf(stderr, "pyrometer: %s\n", err->text);
		*err = one;
		status = failure;
	}
	if (how.json) {
		json_close(&j);
		json_close(&j);
		buffer_add_byte(out, '\n');
	}
	return status;
}

static int run_dump(const struct command *self, int argc, char **argv,
		    struct error *err)
{
	struct buffer out = BUFFER_INIT;
	pid_t *pids = NULL;
	int n, printed = 0;
	int status = options_parse(options, argc, argv, false, &n, err);

	if (!status)
		status = pids_parse(self, n, argv, &pids, err);
	if (!status) {
		status = dump_all(pids, n, &out, err);
		printed = cmd_print(STDOUT_FILENO, buffer_text(&out), out.size,
				    status ? NULL : err);
	}
	buffer_release(&out);
	free(pids);
	return status ? status : printed;
}

const struct command command_dump = {
	.name = "dump",
	.usage = "dump [options] PID...",
	.summary = "Show every thread's stack now",
	.details =
		"The innermost call stands first. The processes are only "
		"read, never stopped: a\nstack that could not be read in one "
		"piece says so. With --locals, 'arg' marks the\narguments of "
		"a call.",
	.run = run_dump,
	.options = options,
};
