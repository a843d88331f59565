/* Source with the time beside it, for the files where it goes: the user's own
 * files first, library files only when a good part of the time ends in them. */
#include "analyze/lines.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "view/heading.h"
#include "view/place.h"
#include "view/source.h"

#define FILES		   5
#define LINES_PER_FILE	   25
#define LEAST_SHARE	   0.01 /* of a line */
#define LEAST_LIBRARY_FLAT 0.05 /* of a library file */
#define GAP_FILLED	   2 /* lines without samples shown between two with */
#define TAB_COLUMNS	   4
#define NARROW		   60

static const char *const origin_notes[] = {
	[SOURCE_MISSING] =
		"source not found: not in the recording, not on disk",
	[SOURCE_RECORDED] = NULL,
	[SOURCE_DISK] = NULL,
	[SOURCE_CHANGED] = "the file on disk is younger than the recording",
};

static bool is_shown(const struct view_request *r, const struct file_lines *f)
{
	double all = (double)r->profile->samples;

	if (r->all)
		return true;
	if (f->library || f->file[0] == '<')
		return (double)f->flat >= LEAST_LIBRARY_FLAT * all;
	return (double)f->cum >= LEAST_SHARE * all;
}

/* The user's files, then the libraries', each by weight as they come. */
static struct file_lines **files_shown(const struct view_request *r,
				       const struct lines *lines, uint32_t *n,
				       uint32_t *left_out)
{
	struct file_lines **shown = xcalloc((size_t)lines->n_files + 1,
					    sizeof(struct file_lines *));

	*n = 0;
	for (int library = 0; library < 2; library++)
		for (uint32_t i = 0; i < lines->n_files; i++) {
			struct file_lines *f = &lines->files[i];

			if (is_shown(r, f) && f->library == (bool)library)
				shown[(*n)++] = f;
		}
	if (!r->all && *n > FILES)
		*n = FILES;
	*left_out = lines->n_files - *n;
	return shown;
}

static int lightest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Samples (cum) that a line must have to be among the heaviest of its file. */
static uint64_t least_samples(const struct view_request *r,
			      const struct file_lines *f)
{
	uint64_t least = (uint64_t)(LEAST_SHARE * (double)r->profile->samples);
	uint32_t limit = r->limit ? r->limit : LINES_PER_FILE;
	uint64_t *weights;

	if (r->all)
		return 1;
	if (least < 1)
		least = 1;
	if (f->n_lines <= limit)
		return least;
	weights = xcalloc(f->n_lines, sizeof(*weights));
	for (uint32_t i = 0; i < f->n_lines; i++)
		weights[i] = f->lines[i].cum.samples;
	qsort(weights, f->n_lines, sizeof(*weights), lightest_first);
	if (weights[f->n_lines - limit] > least)
		least = weights[f->n_lines - limit];
	free(weights);
	return least;
}

static void add_source(struct view_line *line, enum ink ink,
		       struct source *source, uint32_t number)
{
	struct buffer text = BUFFER_INIT;
	size_t n;
	const char *start = source_line(source, number, &n);

	for (size_t i = 0; start && i < n; i++) {
		if (start[i] == '\t')
			buffer_printf(&text, "%*s", TAB_COLUMNS, "");
		else if (start[i])
			buffer_add_byte(&text, (unsigned char)start[i]);
	}
	view_add(line, ink, buffer_text(&text));
	buffer_release(&text);
}

static void add_number(struct view_line *line, uint32_t number)
{
	view_add_right(line, INK_DIM, view_integer(number).text, 7);
	view_add(line, INK_PLAIN, "  ");
}

static int share_columns(const struct view_style *style)
{
	return style->width < NARROW ? 14 : 22;
}

static void add_line(struct buffer *out, const struct view_style *style,
		     const struct line *l, struct source *source,
		     const char *function)
{
	struct view_line line = view_line(out, style);
	enum ink ink = view_share_ink(l->cum.sure.share);

	view_add_right(&line, view_share_ink(l->flat.sure.share),
		       l->flat.samples ? view_percent(l->flat.sure.share).text
				       : "",
		       7);
	view_add_right(&line, ink, view_percent(l->cum.sure.share).text, 7);
	if (style->width >= NARROW)
		view_add_right(&line, INK_DIM, view_sure(&l->cum.sure).text, 8);
	add_number(&line, l->number);
	if (source->text)
		add_source(&line, INK_PLAIN, source, l->number);
	else
		view_add_format(&line, INK_DIM, "(in %s)", function);
	view_end(&line);
}

/* Between two lines with samples: the lines themselves if few, else a mark. */
static void add_gap(struct buffer *out, const struct view_style *style,
		    uint32_t after, uint32_t before, struct source *source)
{
	const char *mark = style->unicode ? "\xe2\x8b\xae" : ":";
	struct view_line line;

	if (before - after - 1 > GAP_FILLED || !source->text) {
		if (before - after == 1)
			return;
		line = view_line(out, style);
		view_add_right(&line, INK_DIM, mark, share_columns(style) + 7);
		view_end(&line);
		return;
	}
	for (uint32_t i = after + 1; i < before; i++) {
		line = view_line(out, style);
		view_add_right(&line, INK_DIM, "", share_columns(style));
		add_number(&line, i);
		add_source(&line, INK_DIM, source, i);
		view_end(&line);
	}
}

static void add_title(struct buffer *out, const struct view_request *r,
		      const struct places *places, const struct file_lines *f)
{
	struct view_line line = view_line(out, r->style);
	double all = (double)r->profile->samples;

	view_add_cut(&line, INK_STRONG,
		     origin_short_path(f->file, places->base), line.left / 2,
		     true);
	view_add_format(&line, INK_PLAIN, "  self %s, with calls %s",
			view_percent((double)f->flat / all).text,
			view_percent((double)f->cum / all).text);
	view_end(&line);
}

static void add_titles(struct buffer *out, const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	view_add_right(&line, INK_DIM, "self", 7);
	view_add_right(&line, INK_DIM, "total", 7);
	if (style->width >= NARROW)
		view_add_right(&line, INK_DIM,
			       style->unicode ? "\xc2\xb1 " : "+- ", 8);
	view_add_right(&line, INK_DIM, "line", 7);
	view_end(&line);
}

static void add_file(struct buffer *out, const struct view_request *r,
		     const struct places *places, const struct file_lines *f,
		     struct view_certainty *certainty)
{
	uint64_t least = least_samples(r, f);
	struct source source;
	uint32_t last = 0;

	source_open(&source, r->profile->reader, f->file);
	add_title(out, r, places, f);
	if (origin_notes[source.origin]) {
		struct view_line line = view_line(out, r->style);

		view_words(&line, INK_WARM, origin_notes[source.origin]);
		view_end(&line);
	}
	add_titles(out, r->style);
	for (uint32_t i = 0; i < f->n_lines; i++) {
		const struct line *l = &f->lines[i];

		if (l->cum.samples < least)
			continue;
		if (last)
			add_gap(out, r->style, last, l->number, &source);
		add_line(
			out, r->style, l, &source,
			reader_function(r->profile->reader, l->function)->name);
		certainty->drifts |=
			l->cum.sure.drifts && r->style->width >= NARROW;
		last = l->number;
	}
	buffer_add_byte(out, '\n');
	source_release(&source);
}

int view_lines(struct buffer *out, const struct view_request *r,
	       struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct places places = places_of(r->profile);
	struct view_certainty certainty = { 0 };
	struct file_lines **shown;
	struct lines lines;
	uint32_t n, left_out;
	int status = lines_count(&lines, r->profile, &arena, err);

	if (status == 0) {
		view_heading(out, r);
		if (!lines.n_files)
			view_nothing(out, r);
		shown = files_shown(r, &lines, &n, &left_out);
		for (uint32_t i = 0; i < n; i++)
			add_file(out, r, &places, shown[i], &certainty);
		free(shown);
		if (left_out)
			buffer_printf(out, "%u more file%s (--all)\n\n",
				      left_out, left_out == 1 ? "" : "s");
		view_footing(out, r->profile, r->style, &certainty);
	}
	arena_release(&arena);
	return status;
}

static const char *const origin_names[] = {
	[SOURCE_MISSING] = "missing",
	[SOURCE_RECORDED] = "recording",
	[SOURCE_DISK] = "disk",
	[SOURCE_CHANGED] = "changed",
};

static void add_line_json(struct json *j, const struct profile *p,
			  const struct line *l, struct source *source)
{
	size_t n;
	const char *text = source_line(source, l->number, &n);

	json_open(j, NULL, '{');
	json_int(j, "line", l->number);
	json_string(j, "function",
		    reader_function(p->reader, l->function)->name);
	if (text)
		json_bytes(j, "text", text, n);
	else
		json_null(j, "text");
	view_json_share(j, "flat", p, &l->flat);
	view_json_share(j, "cum", p, &l->cum);
	json_close(j);
}

static void add_file_json(struct json *j, const struct view_request *r,
			  const struct file_lines *f)
{
	uint64_t least = least_samples(r, f);
	struct source source;

	source_open(&source, r->profile->reader, f->file);
	json_open(j, NULL, '{');
	json_string(j, "file", f->file);
	json_bool(j, "library", f->library);
	json_string(j, "source", origin_names[source.origin]);
	json_int(j, "flat", (int64_t)f->flat);
	json_int(j, "cum", (int64_t)f->cum);
	json_open(j, "lines", '[');
	for (uint32_t i = 0; i < f->n_lines; i++)
		if (f->lines[i].cum.samples >= least)
			add_line_json(j, r->profile, &f->lines[i], &source);
	json_close(j);
	json_close(j);
	source_release(&source);
}

int view_lines_json(struct buffer *out, const struct view_request *r,
		    struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct file_lines **shown;
	struct lines lines;
	struct json j;
	uint32_t n, left_out;
	int status = lines_count(&lines, r->profile, &arena, err);

	if (status == 0) {
		j = view_json_begin(out, r, "lines");
		shown = files_shown(r, &lines, &n, &left_out);
		json_open(&j, "files", '[');
		for (uint32_t i = 0; i < n; i++)
			add_file_json(&j, r, shown[i]);
		json_close(&j);
		free(shown);
		view_json_end(&j);
	}
	arena_release(&arena);
	return status;
}
