/* pyrometer report: a recording in the terminal. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/reading.h"
#include "cmd/style.h"
#include "view/view.h"

#define PIPE_WIDTH 160 /* columns when nobody looks: room for grep */
#define LIMIT_MAX  1000000

static const char *const orders[] = { "flat", "cum", NULL };
static const char *const groups[] = { "function", "library", NULL };

_Static_assert(BY_FLAT == 0 && BY_CUM == 1, "orders follows share_order");

static struct filter_options filters;
static struct report_options {
	bool tree, top, lines, threads, json, all, idle;
	const char *callers, *code;
	long limit;
	int colour, order, group;
} how;

static const struct option options[] = {
	{ OPTION_HEADING, .help = "Views (default: --tree)" },
	{ OPTION_FLAG, 0, "tree", NULL, &how.tree,
	  "What calls what, heaviest first; library code folded." },
	{ OPTION_FLAG, 0, "top", NULL, &how.top,
	  "Functions by the time spent in them, with 95% intervals." },
	{ OPTION_FLAG, 0, "lines", NULL, &how.lines,
	  "Source lines with the time beside them." },
	{ OPTION_FLAG, 0, "threads", NULL, &how.threads,
	  "Each thread: how much it ran, held the GIL and waited for it." },
	{ OPTION_STRING, 0, "callers", "FUNCTION", &how.callers,
	  "Who calls this function and what it calls." },
	{ OPTION_STRING, 0, "asm", "FUNCTION", &how.code,
	  "The instructions of this native function with the time beside "
	  "them, under their source lines; needs the object file." },
	{ OPTION_FLAG, 0, "json", NULL, &how.json,
	  "The same as JSON, for programs (docs/json.md)." },
	{ OPTION_HEADING, .help = "How much to show" },
	{ OPTION_NUMBER, 'l', "limit", "N", &how.limit,
	  "About so many lines of a tree, functions, threads, lines of a "
	  "file, instructions (default: what fits the view); at most so many "
	  "lines of callers, and of callees." },
	{ OPTION_FLAG, 'a', "all", NULL, &how.all,
	  "Leave nothing out and fold nothing." },
	{ OPTION_FLAG, 'i', "idle", NULL, &how.idle,
	  "In --tree, show threads that only waited like any other." },
	{ OPTION_CHOICE, 0, "sort", "COLUMN", &how.order,
	  "Sort --top by flat or by cum (default: flat).", orders },
	{ OPTION_CHOICE, 0, "by", "WHAT", &how.group,
	  "List functions, or libraries: object files of native code, Python "
	  "packages, your own Python files (default: function); means --top.",
	  groups },
	STYLE_OPTION(how.colour),
	FILTER_OPTIONS(filters),
	{ OPTION_END },
};

/* The views in the order in which they are printed. */
static const struct {
	const bool *wanted;
	const char *const *of; /* or this, if it was given */
	view_render *text, *json;
} views[] = {
	{ &how.tree, NULL, view_tree, view_tree_json },
	{ &how.top, NULL, view_top, view_top_json },
	{ &how.lines, NULL, view_lines, view_lines_json },
	{ &how.threads, NULL, view_threads, view_threads_json },
	{ NULL, &how.callers, view_callers, view_callers_json },
	{ NULL, &how.code, view_asm, view_asm_json },
};

#define N_VIEWS (sizeof(views) / sizeof(views[0]))

static bool is_wanted(size_t view)
{
	return views[view].wanted ? *views[view].wanted
				  : *views[view].of != NULL;
}

static int render(struct buffer *out, struct profile *p, const char *path,
		  const struct view_style *style, struct error *err)
{
	struct view_request request = {
		.profile = p,
		.path = path,
		.style = style,
		.limit = (uint32_t)how.limit,
		.all = how.all,
		.idle = how.idle,
		.order = (enum share_order)how.order,
		.by_library = how.group == 1,
		.function = how.callers,
		.code = how.code,
	};
	bool any = false;

	for (size_t i = 0; i < N_VIEWS; i++) {
		int status;

		if (!is_wanted(i))
			continue;
		if (any && !how.json)
			buffer_add_byte(out, '\n');
		status = (how.json ? views[i].json
				   : views[i].text)(out, &request, err);
		if (status < 0)
			return status;
		any = true;
	}
	return 0;
}

static int report_reader(struct reader *reader, const char *path,
			 const struct view_style *style, struct error *err)
{
	struct buffer out = BUFFER_INIT;
	struct profile_filter filter;
	struct profile *p = NULL;
	int status = filter_resolve(&filters, reader, &filter, err);

	if (!status)
		status = profile_new(&p, reader, &filter, err);
	if (!status)
		status = render(&out, p, path, style, err);
	if (!status)
		status = cmd_print(STDOUT_FILENO, buffer_text(&out), out.size,
				   err);
	buffer_release(&out);
	profile_free(p);
	return status;
}

static int report_file(const char *path, const struct view_style *style,
		       struct error *err)
{
	struct reader *reader = NULL;
	int status = reading_open(&reader, path, false, err);

	if (status < 0)
		return status;
	status = report_reader(reader, path, style, err);
	reader_free(reader);
	return status;
}

static int report_files(char **paths, int n, struct error *err)
{
	struct view_style style = style_choose(how.colour, PIPE_WIDTH);
	int status = 0;

	for (int i = 0; i < n && status >= 0; i++) {
		if (i && !how.json)
			status = cmd_print(STDOUT_FILENO, "\n", 1, err);
		if (status >= 0)
			status = report_file(paths[i], &style, err);
	}
	return status;
}

static int check(const struct command *self, int n_files, struct error *err)
{
	if (!n_files)
		return fail(err, ERR_USAGE,
			    "report which recording? usage: pyrometer %s",
			    self->usage);
	if (how.limit > LIMIT_MAX)
		return fail(err, ERR_USAGE, "--limit is at most %d", LIMIT_MAX);
	return 0;
}

static void choose_view(void)
{
	if (how.order || how.group)
		how.top = true;
	if (!how.top && !how.lines && !how.threads && !how.callers && !how.code)
		how.tree = true;
}

static int run_report(const struct command *self, int argc, char **argv,
		      struct error *err)
{
	int n, status = options_parse(options, argc, argv, false, &n, err);

	if (!status)
		status = check(self, n, err);
	choose_view();
	if (!status)
		status = report_files(argv, n, err);
	filter_release(&filters);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "report [options] FILE...",
	.summary = "Show where the time of a recording went",
	.details =
		"Threads are shown apart, the busiest first, since their times "
		"do not add up to\nanything one waits for; shares in a tree "
		"are of its own thread. Four threads or\nmore whose names "
		"differ only in numbers share one tree. Threads that only "
		"waited\n(on a CPU at most 1% of the time, and always in the "
		"same place) are summed up in\none line, unless all did.\n\n"
		"The number after \xc2\xb1 is half of a 95% interval, in points "
		"of percent: how far the\nshare may be from the true one in "
		"the time recorded. A ~ marks shares that change\nover that "
		"time: another recording may differ by more.",
	.run = run_report,
	.options = options,
};
