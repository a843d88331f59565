/* pyrometer dump: every stack of a process now, or as its core file has it. */
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/pids.h"
#include "cmd/style.h"
#include "view/dump.h"

#define PIPE_WIDTH 1000 /* columns when nobody looks: cut next to nothing */
#define ENDS	   50	/* frames of a deep stack that are shown at each end */

static struct dump_options {
	bool locals, json, all, native, internals;
	const char *root;
	int colour;
} how = { .root = "" };

static const struct option options[] = {
	{ OPTION_FLAG, 'l', "locals", NULL, &how.locals,
	  "The variables of each call, arguments first; values are read from "
	  "memory, no code of the program runs." },
	{ OPTION_FLAG, 'n', "native", NULL, &how.native,
	  "C, C++, Rust and other native calls as well, and threads that run "
	  "no Python." },
	{ OPTION_FLAG, 0, "internals", NULL, &how.internals,
	  "Do not fold the interpreter's own calls; means -n." },
	{ OPTION_FLAG, 'a', "all", NULL, &how.all,
	  "All calls of a deep stack (default: 50 at each end)." },
	{ OPTION_FLAG, 'j', "json", NULL, &how.json,
	  "The same as JSON, for programs (docs/json.md)." },
	{ OPTION_STRING, 0, "root", "DIR", &how.root,
	  "Where the files lie that a core file names, when the program ran "
	  "in a container or on another machine." },
	STYLE_OPTION(how.colour),
	{ OPTION_END },
};

static int take_core(struct snapshot **out, const char *path,
		     const struct snapshot_options *options, struct error *err)
{
	struct corefile *core = NULL;
	int status = corefile_open(&core, path, how.root, err);

	if (status == 0)
		status = snapshot_take_core(out, core, options, err);
	if (status == 0 && core->lacking)
		status = fail(err, ERR_CORRUPT,
			      "the core file '%s' is cut off: %llu bytes are "
			      "missing; what is there is shown",
			      path, (unsigned long long)core->lacking);
	corefile_free(core);
	return status;
}

/* Where registers are taken from; a core file has them. Without the permission
 * for native stacks there are still Python's. */
static struct native_options native_of_dump(bool core)
{
	struct native_options native = { .internals = how.internals };

	if (!how.native && !how.internals)
		return native;
	native.source = core ? REGISTERS_STOP : native_best_source();
	if (native.source == REGISTERS_NONE)
		cmd_complain(NATIVE_REFUSED);
	return native;
}

/* A number is a process; everything else is a file. */
static int take(struct snapshot **out, const char *word, struct error *err)
{
	bool file = word[strspn(word, "0123456789")];
	struct snapshot_options options = {
		.locals = how.locals,
		.native = native_of_dump(file),
		.root = how.root,
		.ends = how.all ? 0 : ENDS,
	};
	pid_t pid;
	int status;

	if (file && access(word, F_OK))
		return fail(err, ERR_USAGE,
			    "'%s' is no process id and no core file", word);
	if (file)
		return take_core(out, word, &options, err);
	status = pids_parse_one(word, &pid, err);
	return status < 0 ? status : snapshot_take(out, pid, &options, err);
}

static int dump_one(const char *word, struct buffer *out, struct json *j,
		    const struct view_style *style, struct error *err)
{
	struct snapshot *s = NULL;
	int status = take(&s, word, err);

	if (s && how.json) {
		dump_json(j, s);
	} else if (s) {
		if (out->size)
			buffer_add_byte(out, '\n');
		dump_text(out, s, style);
	}
	snapshot_free(s);
	return status;
}

/* Of several processes, one that cannot be read does not keep the others from
 * being shown; the last such failure is the command's. */
static int dump_all(char **words, int n, struct buffer *out, struct error *err)
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
		int failure = dump_one(words[i], out, &j, &style, &one);

		if (!failure)
			continue;
		if (status)
			cmd_complain(err->text);
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
	int n, printed = 0;
	int status = options_parse(options, argc, argv, false, &n, err);

	if (!status && !n)
		status =
			fail(err, ERR_USAGE,
			     "which process? usage: pyrometer %s", self->usage);
	if (!status) {
		status = dump_all(argv, n, &out, err);
		printed = cmd_print(STDOUT_FILENO, buffer_text(&out), out.size,
				    status ? NULL : err);
	}
	buffer_release(&out);
	return status ? status : printed;
}

const struct command command_dump = {
	.name = "dump",
	.usage = "dump [options] PID|CORE...",
	.summary = "Show every thread's stack now, or in a core file",
	.details =
		"The innermost call stands first. The processes are only "
		"read, never stopped: a\nstack that could not be read in one "
		"piece says so. Only with -n, and where perf\nevents are "
		"forbidden, a thread that runs is stopped for a moment. With "
		"--locals,\n'arg' marks the arguments of a call.\n\nWhat is no number is a core file, written when a program was "
		"ended by a signal or\nby gcore. What it leaves out (code, "
		"constants) is read from the files that the\nprogram had "
		"mapped, if they are still the same builds.",
	.run = run_dump,
	.options = options,
};
