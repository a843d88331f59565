#include "cmd/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/origin.h"
#include "analyze/profile.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/names.h"
#include "cmd/style.h"
#include "format/format.h"
#include "record/reader.h"
#include "view/summary.h"

#define DEFAULT_RATE 1000.0

/* Set by signals. */
static volatile sig_atomic_t naming, skipped;

void recording_signal(void)
{
	if (naming)
		skipped = 1;
}

const char *const recording_modes[] = { "wall", "cpu", "gil", NULL };
const char *const recording_rides[] = { "auto", "always", "never", "wake",
					NULL };

/* In the order of enum register_source. */
const char *const recording_registers[] = { "auto", "switch", "clock", "stop",
					    NULL };

static int parse_period(const char *rate, uint64_t *period, struct error *err)
{
	double per_second = DEFAULT_RATE;

	if (rate && !strcmp(rate, "max")) {
		*period = 0;
		return 0;
	}
	if (rate && options_parse_rate(rate, &per_second, err) < 0)
		return error_context(err, "--rate");
	*period = (uint64_t)(NS_PER_SECOND / per_second);
	return 0;
}

/* Who asks for more about native frames wants them. */
static bool wants_native(const struct recording_options *o)
{
	return o->native || o->kernel || o->internals || o->registers;
}

int recording_check(const struct recording_options *o, struct error *err)
{
	uint64_t period;

	for (size_t i = 0; i < o->formats.count; i++)
		if (!format_find(o->formats.items[i], err))
			return -ERR_USAGE;
	if (wants_native(o) &&
	    native_check_source((enum register_source)o->registers, err) < 0)
		return error_context(err, "--registers %s",
				     recording_registers[o->registers]);
	return parse_period(o->rate, &period, err);
}

static struct native_options native_of(const struct recording_options *o)
{
	struct native_options native = {
		.source = (enum register_source)o->registers,
		.kernel = o->kernel,
		.internals = o->internals,
	};

	if (!wants_native(o))
		return native;
	if (native.source == REGISTERS_NONE)
		native.source = native_best_source();
	native.refused = native.source == REGISTERS_NONE;
	return native;
}

static uint32_t filter_of(const struct recording_options *o)
{
	uint32_t filter = FILTER_NONE;

	if (o->gil || o->mode == MODE_GIL)
		filter |= FILTER_GIL;
	else if (o->mode == MODE_CPU && !o->idle)
		filter |= FILTER_CPU;
	if (o->threads.count)
		filter |= FILTER_THREADS;
	return filter;
}

static void add_progress(struct buffer *out, const struct recording_info *info,
			 uint32_t n_processes)
{
	buffer_add_string(out, "pyrometer: ");
	if (!n_processes) {
		buffer_add_string(out, "waiting for Python");
		return;
	}
	text_add_seconds(out, (double)info->duration / NS_PER_SECOND);
	buffer_add_string(out, ", ");
	text_add_count(out, info->samples);
	buffer_add_string(out, info->samples == 1 ? " sample" : " samples");
	if (n_processes > 1)
		buffer_printf(out, ", %u processes", n_processes);
}

static void show_progress(void *context, const struct recording_info *info,
			  uint32_t n_processes)
{
	struct recording *r = context;
	struct buffer text = BUFFER_INIT;

	if (!r->status_line)
		return;
	add_progress(&text, info, n_processes);
	cmd_status(buffer_text(&text));
	buffer_release(&text);
}

static void show_naming(void *context, uint64_t done, uint64_t total)
{
	struct recording *r = context;

	naming = 1;
	if (r->status_line)
		names_bar(&r->naming_since, done, total);
}

/* "app" of "dir/app.py"; all of "python3.12" and of the module "json.tool". */
static char *stem_of(const char *name)
{
	static const char *const ends[] = { ".py", ".pyc", ".pyz", ".sh" };
	const char *slash = strrchr(name, '/');
	char *stem = xstrdup(slash ? slash + 1 : name), *dot;

	dot = strrchr(stem, '.');
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (dot && dot != stem && !strcmp(dot, ends[i]))
			*dot = 0;
	for (char *c = stem; *c; c++)
		if (*c <= ' ' || *c == 127)
			*c = '_';
	return stem;
}

static char *output_path(const char *output, const char *name, int pid)
{
	char *stem, *path;

	if (output)
		return xstrdup(output);
	stem = stem_of(name);
	path = xasprintf("%.100s-%d.pyro", *stem ? stem : "python", pid);
	free(stem);
	return path;
}

int recording_open(struct recording *r, struct recording_options *options,
		   const char *name, int pid, struct error *err)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;

	memset(r, 0, sizeof(*r));
	r->options = options;
	r->status_line = !options->quiet && cmd_screen(STDERR_FILENO);
	r->fd = STDOUT_FILENO;
	if (options->output && !strcmp(options->output, "-"))
		return 0;
	r->path = output_path(options->output, name, pid);
	r->fd = open(r->path, flags | O_EXCL, 0666);
	r->created = r->fd >= 0;
	if (r->fd < 0 && errno == EEXIST)
		r->fd = open(r->path, flags, 0666);
	if (r->fd < 0)
		return fail(err, ERR_IO, "cannot write %s: %s", r->path,
			    strerror(errno));
	return 0;
}

void recording_cancel(struct recording *r)
{
	if (r->path && r->created)
		unlink(r->path);
}

/* The text of libraries is the same everywhere and much larger than the rest of
 * a recording; one's own code is what one wants to see. */
static bool is_own_code(const struct function_info *function)
{
	return !origin_is_library(function);
}

int recording_start(struct recording *r, const char *command,
		    volatile sig_atomic_t *stop, volatile sig_atomic_t *suspend,
		    struct error *err)
{
	struct recording_options *options = r->options;
	struct recorder_options o = {
		.duration = (uint64_t)(options->duration * NS_PER_SECOND),
		.ride = (enum ride_mode)options->ride,
		.subprocesses = options->subprocesses,
		.native = native_of(options),
		.filter = filter_of(options),
		.threads = options->threads.items,
		.n_threads = options->threads.count,
		.command = command,
		.keeps_source = options->no_source ? NULL : is_own_code,
		.stop = stop,
		.suspend = suspend,
		.progress = show_progress,
		.naming = show_naming,
		.skip = &skipped,
		.context = r,
	};
	int status = parse_period(options->rate, &o.period, err);

	if (status == 0)
		recorder_new(&r->recorder, r->fd, &o);
	return status;
}

static int export_as(struct profile *p, const struct format_ops *f,
		     const char *out, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	struct format_options how = { .recording = slash ? slash + 1 : path };
	int status = format_export_with(p, f, &how, out, err);

	if (status == 0 && strcmp(out, "-"))
		fprintf(stderr, "pyrometer: wrote %s\n", out);
	return status;
}

static int export_to(struct profile *p, const char *name, const char *path,
		     struct error *err)
{
	const struct format_ops *f = format_find(name, err);
	char *out = f ? format_default_path(f, path) : NULL;
	int status = f ? export_as(p, f, out, path, err) : -ERR_USAGE;

	free(out);
	return status;
}

static int write_formats(const struct recording *r, struct profile *p,
			 struct error *err)
{
	const struct option_list *formats = &r->options->formats;
	int status = 0;

	for (size_t i = 0; i < formats->count && status == 0; i++)
		status = export_to(p, formats->items[i], r->path, err);
	if (r->options->html && status == 0)
		status = export_as(p, &format_html, r->options->html, r->path,
				   err);
	return status;
}

static int print_summary(struct profile *p, struct error *err)
{
	struct view_style style = style_of(STDERR_FILENO, 100);
	struct buffer out = BUFFER_INIT;
	int status;

	view_summary(&out, p, &style);
	status = cmd_print(STDERR_FILENO, buffer_text(&out), out.size, err);
	buffer_release(&out);
	return status;
}

/* The report is made from the file: what was written is what is shown. */
static int show_result(const struct recording *r, struct error *err)
{
	struct reader *reader = NULL;
	struct profile *profile = NULL;
	int status;

	if (!r->path || (r->options->quiet && !r->options->formats.count &&
			 !r->options->html))
		return 0;
	status = reader_open(&reader, r->path, err);
	if (status == 0)
		status = profile_new(&profile, reader, NULL, err);
	if (status == 0 && !r->options->quiet)
		status = print_summary(profile, err);
	if (status == 0)
		status = write_formats(r, profile, err);
	profile_free(profile);
	reader_free(reader);
	return status;
}

static void name_file(const struct recording *r)
{
	struct buffer line = BUFFER_INIT;

	buffer_printf(&line, "pyrometer: wrote %s\n", r->path);
	cmd_print(STDERR_FILENO, buffer_text(&line), line.size, NULL);
	buffer_release(&line);
}

/* Nothing was seen: leave no empty file behind. */
static void drop_empty(struct recording *r)
{
	recording_cancel(r);
	fprintf(stderr,
		"pyrometer: no Python was seen, nothing was recorded\n");
}

int recording_finish(struct recording *r, struct error *err)
{
	int status = recorder_run(r->recorder, err);

	if (r->status_line)
		cmd_status("");
	if (status < 0)
		return error_context(err, "%s", r->path ? r->path : "output");
	if (!recorder_targets(r->recorder)) {
		drop_empty(r);
		return 0;
	}
	status = show_result(r, err);
	if (status == 0 && r->path && !r->options->quiet)
		name_file(r);
	return status;
}

void recording_release(struct recording *r)
{
	recorder_free(r->recorder);
	if (r->path && r->fd >= 0)
		close(r->fd);
	free(r->path);
}

char *recording_command_line(int argc, char **argv)
{
	struct buffer line = BUFFER_INIT;

	buffer_add_string(&line, "pyrometer");
	for (int i = 0; i < argc; i++)
		buffer_printf(&line, " %s", argv[i]);
	buffer_text(&line);
	return (char *)line.data;
}
