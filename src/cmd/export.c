/* pyrometer export: a recording in another tool's format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/reading.h"
#include "format/format.h"

static struct filter_options filters;
static struct format_options how;
static const char *format_name, *output;

static const struct option options[] = {
	{ OPTION_STRING, 'f', "format", "FORMAT", &format_name,
	  "flamegraph, collapsed, speedscope, pprof, firefox, chrome, "
	  "callgrind, pstats or html (default: what the name of the output "
	  "says)." },
	{ OPTION_STRING, 'o', "output", "FILE", &output,
	  "Where to write; - is standard output (default: beside the "
	  "recording)." },
	{ OPTION_FLAG, 't', "threads", NULL, &how.threads,
	  "In collapsed and flamegraph, begin each stack with its process and "
	  "thread." },
	FILTER_OPTIONS(filters),
	{ OPTION_END },
};

static const struct format_ops *choose_format(struct error *err)
{
	const struct format_ops *f;

	if (format_name)
		return format_find(format_name, err);
	if (!output || !strcmp(output, "-")) {
		fail(err, ERR_USAGE,
		     "which format? say -f FORMAT; "
		     "'pyrometer export --help' lists them");
		return NULL;
	}
	f = format_guess(output);
	if (!f)
		fail(err, ERR_USAGE,
		     "cannot tell the format from the name %s; say -f FORMAT",
		     output);
	return f;
}

/* What was written and who reads it, for people: not on standard output. */
static void say(const struct profile *p, const struct format_ops *f,
		const char *path)
{
	struct buffer count = BUFFER_INIT;

	text_add_count(&count, p->samples);
	fprintf(stderr, "wrote %s (%s samples), for %s\n", path,
		buffer_text(&count), f->summary);
	buffer_release(&count);
}

static int export_profile(struct reader *reader, const struct format_ops *f,
			  const char *path, struct error *err)
{
	struct profile_filter filter;
	struct profile *p = NULL;
	int status = filter_resolve(&filters, reader, &filter, err);

	if (status < 0)
		return status;
	status = profile_new(&p, reader, &filter, err);
	if (status < 0)
		return status;
	if (!p->samples)
		status = fail(err, ERR_NOT_FOUND,
			      p->all_samples ? "no sample passes these filters"
					     : "no samples to export");
	if (!status)
		status = format_export_with(p, f, &how, path, err);
	if (!status && strcmp(path, "-"))
		say(p, f, path);
	profile_free(p);
	return status;
}

static int export_file(const char *file, struct error *err)
{
	const struct format_ops *f = choose_format(err);
	struct reader *reader = NULL;
	char *path;
	int status;

	if (!f)
		return -ERR_USAGE;
	status = reading_open(&reader, file, true, err);
	if (status < 0)
		return status;
	path = output ? xstrdup(output) : format_default_path(f, file);
	how.recording = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	status = export_profile(reader, f, path, err);
	free(path);
	reader_free(reader);
	return status;
}

static int run_export(const struct command *self, int argc, char **argv,
		      struct error *err)
{
	int n, status = options_parse(options, argc, argv, false, &n, err);

	if (!status && n != 1)
		status = fail(err, ERR_USAGE,
			      "export takes one recording, not %d; usage: "
			      "pyrometer %s",
			      n, self->usage);
	if (!status)
		status = export_file(argv[0], err);
	filter_release(&filters);
	return status;
}

const struct command command_export = {
	.name = "export",
	.usage = "export FILE [-f FORMAT] [-o OUT] [options]",
	.summary = "Write a recording in the format of another tool",
	.details =
		"  flamegraph   an interactive SVG for any browser\n"
		"  collapsed    one line per stack, as flamegraph.pl reads it\n"
		"  speedscope   speedscope.app\n"
		"  pprof        go tool pprof and what speaks its format\n"
		"  firefox      profiler.firefox.com\n"
		"  chrome       ui.perfetto.dev and chrome://tracing\n"
		"  callgrind    KCachegrind and callgrind_annotate\n"
		"  pstats       Python's pstats, snakeviz\n"
		"  html         the viewer with the recording inside\n\n"
		"An existing file is replaced only when the new one is whole.",
	.run = run_export,
	.options = options,
};
