/* Instructions with the time beside them, under the source lines that they were
 * made from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/text.h"
#include "view/heading.h"
#include "view/listing.h"
#include "view/place.h"
#include "view/source.h"

#define FUNCTIONS   3
#define ROWS	    40 /* with samples */
#define NARROW	    70
#define ADDRESS	    10
#define FILES_OPEN  16
#define TAB_COLUMNS 4

/* Source files that are being shown. */
struct sources {
	const struct reader *reader;
	struct {
		const char *name;
		struct source source;
	} open[FILES_OPEN];
	uint32_t n_open;
};

static struct source *find_source(struct sources *s, const char *file)
{
	for (uint32_t i = 0; i < s->n_open; i++)
		if (!strcmp(s->open[i].name, file))
			return &s->open[i].source;
	if (s->n_open == FILES_OPEN)
		return NULL;
	s->open[s->n_open].name = file;
	source_open(&s->open[s->n_open].source, s->reader, file);
	return &s->open[s->n_open++].source;
}

static void release_sources(struct sources *s)
{
	for (uint32_t i = 0; i < s->n_open; i++)
		source_release(&s->open[i].source);
	s->n_open = 0;
}

static int find(struct codes *codes, const struct view_request *r,
		struct arena *arena, struct error *err)
{
	int status = codes_count(codes, r->profile, r->code, arena, err);

	if (status == 0 && !codes->n_items)
		return fail(
			err, ERR_NOT_FOUND,
			"no native function called or matching '%s' has samples here; --top lists those that have",
			r->code);
	return status;
}

static uint32_t codes_shown(const struct view_request *r,
			    const struct codes *codes)
{
	return r->all || codes->n_items < FUNCTIONS ? codes->n_items
						    : FUNCTIONS;
}

static struct listing_options options_for(const struct view_request *r)
{
	return (struct listing_options){ .limit = r->all     ? 0
						  : r->limit ? r->limit
							     : ROWS };
}

static const char *path_of(const struct profile *p, const struct code *c)
{
	return c->module == ID_NONE ? ""
				    : reader_module(p->reader, c->module)->path;
}

static int share_columns(const struct view_style *style)
{
	return style->width < NARROW ? 14 : 22;
}

static void add_title(struct buffer *out, const struct view_request *r,
		      const struct places *places, const struct code *c)
{
	struct view_line line = view_line(out, r->style);

	place_add_function(&line, INK_STRONG, places, c->function, 0, true);
	view_add_format(&line, INK_DIM, "  %s",
			origin_short_module(path_of(r->profile, c)));
	view_add_format(&line, INK_PLAIN, "  self %s, with calls %s",
			view_percent(c->flat.sure.share).text,
			view_percent(c->cum.sure.share).text);
	view_end(&line);
}

static void add_note(struct buffer *out, const struct view_style *style,
		     const struct listing *l)
{
	struct view_line line = view_line(out, style);

	if (!l->note)
		return;
	view_words(&line, INK_WARM, l->note);
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
	view_add_right(&line, INK_DIM, "address", ADDRESS);
	view_end(&line);
}

static void add_text(struct view_line *line, struct source *source,
		     uint32_t number)
{
	struct buffer text = BUFFER_INIT;
	size_t n = 0;
	const char *start = source ? source_line(source, number, &n) : NULL;

	for (size_t i = 0; start && i < n; i++) {
		if (start[i] == '\t')
			buffer_printf(&text, "%*s", TAB_COLUMNS, "");
		else if (start[i])
			buffer_add_byte(&text, (unsigned char)start[i]);
	}
	view_add(line, INK_PLAIN, buffer_text(&text));
	buffer_release(&text);
}

/* "fast.c:13      for (...)", with the function where it is another's. */
static void add_source_line(struct buffer *out, const struct view_style *style,
			    struct sources *sources,
			    const struct listing_row *row, const char *function)
{
	struct view_line line = view_line(out, style);

	view_add_right(&line, INK_DIM, "", share_columns(style) + 2);
	if (strcmp(row->function, function))
		view_add_format(&line, INK_STRONG, "%s ", row->function);
	if (row->line) {
		view_add_format(&line, INK_DIM, "%s:%u  ", path_base(row->file),
				row->line);
		add_text(&line, find_source(sources, row->file), row->line);
	}
	view_end(&line);
}

static void add_instruction(struct view_line *line,
			    const struct listing_row *row)
{
	char address[32];

	snprintf(address, sizeof(address), "%" PRIx64, row->address);
	view_add_right(line, INK_DIM, address, ADDRESS);
	view_add(line, INK_PLAIN, "  ");
	if (row->text)
		view_add(line, INK_PLAIN, row->text);
	if (row->calls)
		view_add_format(line, INK_DIM, "  <%s>", row->calls);
}

static void add_row(struct buffer *out, const struct view_request *r,
		    const struct listing_row *row)
{
	struct view_line line = view_line(out, r->style);
	double all = (double)r->profile->samples;
	double flat = (double)row->flat_samples / all;
	double cum = (double)row->cum_samples / all;

	view_add_right(&line, view_share_ink(flat),
		       row->flat_samples ? view_percent(flat).text : "", 7);
	view_add_right(&line, view_share_ink(cum),
		       row->cum_samples ? view_percent(cum).text : "", 7);
	if (r->style->width >= NARROW)
		view_add_right(&line, INK_DIM,
			       row->cum_samples ? view_sure(&row->cum.sure).text
						: "",
			       8);
	add_instruction(&line, row);
	view_end(&line);
}

static void add_gap(struct buffer *out, const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	view_add_right(&line, INK_DIM, style->unicode ? "\xe2\x8b\xae" : ":",
		       share_columns(style) + ADDRESS);
	view_end(&line);
}

static bool same_source(const struct listing_row *a,
			const struct listing_row *b)
{
	return a && a->line == b->line && !strcmp(a->file, b->file) &&
	       !strcmp(a->function, b->function);
}

static void add_rows(struct buffer *out, const struct view_request *r,
		     const struct listing *l, const char *function,
		     struct view_certainty *certainty)
{
	struct sources sources = { .reader = r->profile->reader };
	const struct listing_row *last = NULL;

	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct listing_row *row = &l->rows[i];

		if (!row->shown)
			continue;
		if (last && last + 1 != row)
			add_gap(out, r->style);
		if (!same_source(last, row) &&
		    (row->line || strcmp(row->function, function)))
			add_source_line(out, r->style, &sources, row, function);
		add_row(out, r, row);
		certainty->drifts |= row->cum_samples && row->cum.sure.drifts &&
				     r->style->width >= NARROW;
		last = row;
	}
	release_sources(&sources);
}

static void add_code(struct buffer *out, const struct view_request *r,
		     const struct places *places, const struct code *c,
		     struct view_certainty *certainty, struct arena *arena)
{
	struct listing_options options = options_for(r);
	struct listing l;

	listing_make(&l, r->profile, c, &options, arena);
	add_title(out, r, places, c);
	add_note(out, r->style, &l);
	add_titles(out, r->style);
	add_rows(out, r, &l,
		 reader_function(r->profile->reader, c->function)->name,
		 certainty);
	buffer_add_byte(out, '\n');
	listing_release(&l);
}

int view_asm(struct buffer *out, const struct view_request *r,
	     struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct places places = places_of(r->profile);
	struct view_certainty certainty = { 0 };
	struct codes codes;
	uint32_t shown;
	int status = find(&codes, r, &arena, err);

	if (status == 0) {
		shown = codes_shown(r, &codes);
		view_heading(out, r);
		for (uint32_t i = 0; i < shown; i++)
			add_code(out, r, &places, &codes.items[i], &certainty,
				 &arena);
		if (shown < codes.n_items)
			buffer_printf(out, "%u more functions match (--all)\n",
				      codes.n_items - shown);
		view_footing(out, r->profile, r->style, &certainty);
	}
	arena_release(&arena);
	return status;
}

static void add_samples_json(struct json *j, const struct profile *p,
			     const char *key, uint64_t samples)
{
	json_open(j, key, '{');
	json_int(j, "samples", (int64_t)samples);
	json_double(j, "share",
		    p->samples ? (double)samples / (double)p->samples : 0);
	json_close(j);
}

static void add_string_json(struct json *j, const char *key, const char *text)
{
	if (text && *text)
		json_string(j, key, text);
	else
		json_null(j, key);
}

static void add_row_json(struct json *j, const struct profile *p,
			 const struct listing_row *row)
{
	json_open(j, NULL, '{');
	json_int(j, "address", (int64_t)row->address);
	add_string_json(j, "text", row->text);
	add_string_json(j, "calls", row->calls);
	add_string_json(j, "function", row->function);
	add_string_json(j, "file", row->file);
	json_int(j, "line", row->line);
	add_samples_json(j, p, "flat", row->flat_samples);
	add_samples_json(j, p, "cum", row->cum_samples);
	json_close(j);
}

static void add_code_json(struct json *j, const struct view_request *r,
			  const struct code *c, struct arena *arena)
{
	const struct profile *p = r->profile;
	struct listing_options options = options_for(r);
	struct listing l;

	listing_make(&l, p, c, &options, arena);
	json_open(j, NULL, '{');
	view_json_function(j, p, c->function);
	add_string_json(
		j, "build_id",
		c->module == ID_NONE
			? NULL
			: reader_module(p->reader, c->module)->build_id);
	add_string_json(j, "notice", l.note);
	view_json_share(j, "flat", p, &c->flat);
	view_json_share(j, "cum", p, &c->cum);
	json_open(j, "instructions", '[');
	for (uint32_t i = 0; i < l.n_rows; i++)
		if (l.rows[i].shown)
			add_row_json(j, p, &l.rows[i]);
	json_close(j);
	json_close(j);
	listing_release(&l);
}

int view_asm_json(struct buffer *out, const struct view_request *r,
		  struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct codes codes;
	struct json j;
	int status = find(&codes, r, &arena, err);

	if (status == 0) {
		j = view_json_begin(out, r, "asm");
		json_open(&j, "functions", '[');
		for (uint32_t i = 0; i < codes_shown(r, &codes); i++)
			add_code_json(&j, r, &codes.items[i], &arena);
		json_close(&j);
		view_json_end(&j);
	}
	arena_release(&arena);
	return status;
}
