/* pyrometer doctor: what this machine permits, and how to permit the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/pids.h"
#include "cmd/style.h"
#include "sample/checkup.h"
#include "sample/equipment.h"

#define PIPE_WIDTH    160
#define VERDICT_WIDTH 7
#define WHAT_WIDTH    34 /* columns of what was looked at */

static struct doctor_options {
	bool json;
	int colour;
} how;

static const struct option options[] = {
	{ OPTION_FLAG, 'j', "json", NULL, &how.json,
	  "The same as JSON, for programs (docs/json.md)." },
	STYLE_OPTION(how.colour),
	{ OPTION_END },
};

/* How a verdict is shown. */
static const struct {
	const char *word;
	enum ink ink;
} verdicts[] = {
	[VERDICT_FINE] = { "  yes", INK_PLAIN },
	[VERDICT_LACKING] = { "  no", INK_WARM },
	[VERDICT_FATAL] = { "  NO", INK_ALERT },
};

/* Not cut: it is there to be copied. */
static void add_remedy(struct buffer *out, const struct finding *f,
		       const struct view_style *style)
{
	struct view_style wide = *style;
	struct view_line line;

	wide.width = (int)sizeof(f->remedy) + WHAT_WIDTH;
	line = view_line(out, &wide);
	view_add(&line, INK_DIM, "       to permit it: ");
	view_add(&line, INK_WARM, f->remedy);
	view_end(&line);
}

/* Columns that a finding takes on one line. */
static int width_of(const struct finding *f)
{
	return VERDICT_WIDTH + WHAT_WIDTH + text_width(f->fact) +
	       text_width(f->purpose) + (int)strlen(" (for )");
}

static void add_purpose(struct view_line *line, const struct finding *f)
{
	if (f->purpose[0])
		view_words_format(line, INK_DIM, " (for %s)", f->purpose);
}

/* In columns where they fit, else the fact on a line of its own. */
static void add_finding(struct buffer *out, const struct finding *f,
			const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	view_add_left(&line, verdicts[f->verdict].ink,
		      verdicts[f->verdict].word, VERDICT_WIDTH);
	if (width_of(f) <= line.left + VERDICT_WIDTH) {
		view_add_left(&line, INK_STRONG, f->what, WHAT_WIDTH);
		view_add(&line, INK_PLAIN, f->fact);
		add_purpose(&line, f);
	} else {
		line.indent = VERDICT_WIDTH;
		view_words(&line, INK_STRONG, f->what);
		add_purpose(&line, f);
		view_end(&line);
		line = view_line(out, style);
		line.indent = VERDICT_WIDTH;
		view_add_left(&line, INK_PLAIN, "", VERDICT_WIDTH);
		view_words(&line, INK_PLAIN, f->fact);
	}
	view_end(&line);
	if (f->remedy[0])
		add_remedy(out, f, style);
}

static void add_findings(struct buffer *out, const char *title,
			 const struct finding *findings, int n)
{
	struct view_style style = style_choose(how.colour, PIPE_WIDTH);
	struct view_line line = view_line(out, &style);

	view_add(&line, INK_STRONG, title);
	view_end(&line);
	for (int i = 0; i < n; i++)
		add_finding(out, &findings[i], &style);
}

static void json_findings(struct json *j, const char *key,
			  const struct finding *findings, int n)
{
	static const char *const words[] = {
		[VERDICT_FINE] = "fine",
		[VERDICT_LACKING] = "lacking",
		[VERDICT_FATAL] = "fatal",
	};

	json_open(j, key, '[');
	for (int i = 0; i < n; i++) {
		const struct finding *f = &findings[i];

		json_open(j, NULL, '{');
		json_string(j, "what", f->what);
		json_string(j, "verdict", words[f->verdict]);
		json_string(j, "fact", f->fact);
		json_string(j, "purpose", f->purpose);
		json_string(j, "remedy", f->remedy);
		json_close(j);
	}
	json_close(j);
}

/* The worst: what is needed for everything, not just for a part. */
static int find_fatal(const struct finding *findings, int n)
{
	for (int i = 0; i < n; i++)
		if (findings[i].verdict == VERDICT_FATAL)
			return -ERR_PERMISSION;
	return 0;
}

static int examine_machine(struct buffer *out, struct json *j)
{
	struct finding
		findings[PERMISSION_FINDINGS_MAX + EQUIPMENT_FINDINGS_MAX];
	int n = permission_probe(findings);

	n += equipment_probe(findings + n);
	if (how.json)
		json_findings(j, "machine", findings, n);
	else
		add_findings(out, "This machine permits:", findings, n);
	return find_fatal(findings, n);
}

/* What counts is the processes that were asked for: with sudo, say, they can
 * be watched whatever the machine permits to everybody. */
static int examine_process(struct buffer *out, struct json *j, pid_t pid)
{
	struct finding findings[CHECKUP_FINDINGS_MAX];
	int n, status = checkup(findings, &n, pid);
	char title[64];

	if (how.json) {
		json_open(j, NULL, '{');
		json_int(j, "pid", pid);
		json_bool(j, "works", status == 0);
		json_findings(j, "findings", findings, n);
		json_close(j);
	} else {
		snprintf(title, sizeof(title), "Process %d:", (int)pid);
		buffer_add_byte(out, '\n');
		add_findings(out, title, findings, n);
	}
	return status;
}

static int examine(const pid_t *pids, int n, struct buffer *out)
{
	struct json j = JSON_OVER(out);
	int status, one;

	if (how.json)
		json_open(&j, NULL, '{');
	status = examine_machine(out, &j);
	if (n)
		status = 0;
	if (how.json)
		json_open(&j, "processes", '[');
	for (int i = 0; i < n; i++) {
		one = examine_process(out, &j, pids[i]);
		status = status ? status : one;
	}
	if (how.json) {
		json_close(&j);
		json_close(&j);
		buffer_add_byte(out, '\n');
	}
	return status;
}

static int run_doctor(const struct command *self, int argc, char **argv,
		      struct error *err)
{
	struct buffer out = BUFFER_INIT;
	pid_t *pids = NULL;
	int n, verdict = 0;
	int status = options_parse(options, argc, argv, false, &n, err);

	if (!status && n)
		status = pids_parse(self, n, argv, &pids, err);
	if (!status) {
		verdict = examine(pids, n, &out);
		status = cmd_print(STDOUT_FILENO, buffer_text(&out), out.size,
				   err);
	}
	buffer_release(&out);
	free(pids);
	return status ? status : error_exit_status(verdict);
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "doctor [options] [PID...]",
	.summary = "Tell what this machine permits and how to permit the rest",
	.details =
		"Everything is tried, not guessed: on a child made for it, and "
		"on the processes\nthat are named, as attach would. A NO in "
		"capitals keeps Pyrometer from working, any\nother no makes it "
		"less good at what the line is for.\n\nThe exit status is 0 "
		"when attaching works: to the processes that are named, "
		"else\nto any of yours. Otherwise it is what attach would end "
		"with: 3 no such process,\n4 no Python, 5 not permitted, 6 a "
		"version that is not known.",
	.run = run_doctor,
	.options = options,
};
