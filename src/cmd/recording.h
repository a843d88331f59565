/* What `run` and `attach` share: the options of a recording, the file, the
 * status line, and the short report at the end. */
#ifndef PYROMETER_CMD_RECORDING_H
#define PYROMETER_CMD_RECORDING_H

#include <signal.h>

#include "base/error.h"
#include "base/options.h"
#include "sample/recorder.h"

struct recording_options {
	const char *output, *rate, *html;
	double duration;
	bool native, subprocesses, all_threads, gil, idle, quiet, no_source;
	bool kernel, internals;
	int mode, ride, registers;
	struct option_list threads, formats;
};

extern const char *const recording_modes[],
	*const recording_rides[], *const recording_registers[];

/* The rows of an option table that fill the `struct recording_options` o. */
/* clang-format off */
#define RECORDING_OPTIONS(o)                                                   \
	{ OPTION_STRING, 'o', "output", "FILE", &(o).output,                   \
	  "The recording to write; - is standard output (default: "            \
	  "PROGRAM-PID.pyro)." },                                              \
	{ OPTION_STRING, 'r', "rate", "RATE", &(o).rate,                       \
	  "Samples a second: 100, 1k, 10khz, or max (default: 1k)." },         \
	{ OPTION_TIME, 'd', "duration", "TIME", &(o).duration,                 \
	  "Stop recording after TIME: 30s, 2m (default: at the end)." },       \
	{ OPTION_FLAG, 'n', "native", NULL, &(o).native,                       \
	  "Record C, C++, Rust and other native frames as well, and threads "  \
	  "that never run Python." },                                          \
	{ OPTION_FLAG, 's', "subprocesses", NULL, &(o).subprocesses,           \
	  "Record the Python processes it starts as well." },                  \
	{ OPTION_LIST, 'f', "format", "FORMAT", &(o).formats,                  \
	  "Also write that format beside the recording; may be repeated." },   \
	{ OPTION_STRING, 0, "html", "FILE", &(o).html,                         \
	  "Also write a page that shows the recording in any browser." },      \
	{ OPTION_FLAG, 'q', "quiet", NULL, &(o).quiet,                         \
	  "No status line and no report at the end." },                        \
	{ OPTION_HEADING, .help = "A smaller recording" },                     \
	{ OPTION_CHOICE, 0, "mode", "MODE", &(o).mode,                         \
	  "Keep all samples (wall), those on a CPU (cpu) or those with the "   \
	  "GIL (gil); report and export can ask for the same later.",          \
	  recording_modes },                                                   \
	{ OPTION_FLAG, 'g', "gil", NULL, &(o).gil, "Short for --mode gil." },  \
	{ OPTION_FLAG, 'i', "idle", NULL, &(o).idle,                           \
	  "Keep idle threads too (the default; undoes --mode cpu)." },         \
	{ OPTION_FLAG, 't', "threads", NULL, &(o).all_threads,                 \
	  "Keep threads apart (the default; for habit's sake)." },             \
	{ OPTION_LIST, 0, "thread", "PATTERN", &(o).threads,                   \
	  "Only threads whose name or id matches; may be repeated." },         \
	{ OPTION_FLAG, 0, "no-source", NULL, &(o).no_source,                   \
	  "Leave out the text of your own source files." },                    \
	{ OPTION_HEADING, .help = "For those who know" },                      \
	{ OPTION_FLAG, 0, "kernel", NULL, &(o).kernel,                         \
	  "The kernel's frames too, where that is permitted; means -n." },     \
	{ OPTION_FLAG, 0, "internals", NULL, &(o).internals,                   \
	  "Do not fold the interpreter's own frames; means -n." },             \
	{ OPTION_CHOICE, 0, "registers", "HOW", &(o).registers,                \
	  "Take registers when a thread is switched out (switch), by a clock " \
	  "of its own (clock), or stop it for a moment (stop); auto takes "    \
	  "the first that is permitted. All but auto mean -n.",                \
	  recording_registers },                                               \
	{ OPTION_CHOICE, 0, "ride", "WHEN", &(o).ride,                         \
	  "Read a thread on its own core: auto (when its stack moves too "     \
	  "fast to be read from elsewhere, or when it runs on) or always, "    \
	  "both by the kernel where it may; wake (always, by waking up "       \
	  "there); or never, which without -n keeps all interrupts from it.",  \
	  recording_rides }
/* clang-format on */

struct recording {
	struct recording_options *options;
	struct recorder *recorder;
	char *path; /* NULL: standard output */
	int fd;
	bool created; /* the file was not there before */
	bool status_line;
	uint64_t naming_since; /* clock_now() when it began; 0: not yet */
};

/* To be called by signal handlers: while native code is given its names, which
 * may take long, a signal ends that. */
void recording_signal(void);

/* Check the options that can be wrong before anything is started. */
int recording_check(const struct recording_options *options, struct error *err);

/* Open the output; a file that is there keeps its content for now. `name` and
 * `pid` make the default name of the file. */
int recording_open(struct recording *r, struct recording_options *options,
		   const char *name, int pid, struct error *err);
/* Nothing will be recorded after all: leave the output as it was. */
void recording_cancel(struct recording *r);

/* Make the recorder. `command` is the command line for the recording; `stop`
 * and `suspend` as recorder.h says. */
int recording_start(struct recording *r, const char *command,
		    volatile sig_atomic_t *stop, volatile sig_atomic_t *suspend,
		    struct error *err);

/* Sample to the end, close the file, print the report, write other formats. */
int recording_finish(struct recording *r, struct error *err);
void recording_release(struct recording *r);

/* The command line as one string; free() it. */
char *recording_command_line(int argc, char **argv);

#endif
