/* Functions, or libraries, by the time spent in them. */
#include "analyze/top.h"

#include "analyze/libraries.h"

#include "view/heading.h"
#include "view/place.h"

#define FUNCTIONS 20

/* The columns, widest form. Those not wanted on a narrow screen have the least
 * width at which they are shown. */
enum column { FLAT, FLAT_SHARE, SUM, CUM, CUM_SHARE, FLAT_SURE, CUM_SURE, N };

static const struct {
	const char *title, *ascii;
	int columns, least_width;
} columns[N] = {
	[FLAT] = { "flat", "flat", 9, 0 },
	[FLAT_SHARE] = { "flat%", "flat%", 7, 0 },
	[SUM] = { "sum%", "sum%", 7, 80 },
	[CUM] = { "cum", "cum", 9, 60 },
	[CUM_SHARE] = { "cum%", "cum%", 7, 48 },
	[FLAT_SURE] = { "\xc2\xb1"
			"flat",
			"+-flat", 7, 70 },
	[CUM_SURE] = { "\xc2\xb1"
		       "cum",
		       "+-cum", 7, 100 },
};

/* What is listed: shares, and what their keys are. */
struct listing {
	struct arena arena;
	struct shares shares;
	struct library *libraries; /* or NULL: keys are functions */
	struct places places;
};

static int listing_init(struct listing *l, const struct view_request *r,
			struct error *err)
{
	struct libraries libraries;
	int status;

	*l = (struct listing){ .places = places_of(r->profile) };
	if (!r->by_library)
		return top_count(&l->shares, r->profile, r->order, &l->arena,
				 err);
	status = libraries_count(&libraries, r->profile, r->order, &l->arena,
				 err);
	if (status == 0) {
		l->shares = libraries.shares;
		l->libraries = libraries.items;
	}
	return status;
}

static void add_titles(struct buffer *out, const struct view_style *style,
		       bool libraries)
{
	struct view_line line = view_line(out, style);

	for (int i = 0; i < N; i++)
		if (style->width >= columns[i].least_width)
			view_add_right(&line, INK_DIM,
				       style->unicode ? columns[i].title
						      : columns[i].ascii,
				       columns[i].columns);
	view_add(&line, INK_DIM, libraries ? "  library" : "  function");
	view_end(&line);
}

static void add_what(struct view_line *line, const struct listing *l,
		     uint32_t key)
{
	const struct library *library = &l->libraries[key];

	if (!l->libraries)
		place_add_function(line, INK_STRONG, &l->places, key, 0, true);
	else
		view_add(line, library->own ? INK_STRONG : INK_PLAIN,
			 library->name);
}

static void add_row(struct buffer *out, const struct view_request *r,
		    const struct listing *l, const struct key_share *f,
		    double sum)
{
	double unit = r->profile->seconds_per_sample;
	struct view_number texts[N] = {
		[FLAT] = view_seconds((double)f->flat.samples * unit),
		[FLAT_SHARE] = view_percent(f->flat.sure.share),
		[SUM] = view_percent(sum),
		[CUM] = view_seconds((double)f->cum.samples * unit),
		[CUM_SHARE] = view_percent(f->cum.sure.share),
		[FLAT_SURE] = view_sure(&f->flat.sure),
		[CUM_SURE] = view_sure(&f->cum.sure),
	};
	enum ink ink = view_share_ink(r->order == BY_FLAT ? f->flat.sure.share
							  : f->cum.sure.share);
	struct view_line line = view_line(out, r->style);

	for (int i = 0; i < N; i++)
		if (r->style->width >= columns[i].least_width)
			view_add_right(&line, ink, texts[i].text,
				       columns[i].columns);
	view_add(&line, INK_PLAIN, "  ");
	add_what(&line, l, f->key);
	view_end(&line);
}

static uint32_t rows_shown(const struct view_request *r, const struct shares *s)
{
	uint32_t limit = r->limit ? r->limit : FUNCTIONS;

	return r->all || s->n_items < limit ? s->n_items : limit;
}

/* `column` has the mark of a share that drifts, if it is shown. */
static void note_certainty(struct view_certainty *c,
			   const struct view_style *style,
			   const struct share_count *share, enum column column)
{
	double half = interval_half(share->sure.run);

	if (half > c->half)
		c->half = half;
	c->drifts |= share->sure.drifts &&
		     style->width >= columns[column].least_width;
}

static void add_more(struct buffer *out, uint32_t n, bool libraries)
{
	const char *one = libraries ? "library" : "function";
	const char *more = libraries ? "libraries" : "functions";

	buffer_printf(out, "%s more %s (--all)\n", view_count(n).text,
		      n == 1 ? one : more);
}

static void add_rows(struct buffer *out, const struct view_request *r,
		     const struct listing *l, struct view_certainty *certainty)
{
	const struct shares *top = &l->shares;
	uint32_t shown = rows_shown(r, top);
	uint64_t sum = 0;

	add_titles(out, r->style, l->libraries != NULL);
	for (uint32_t i = 0; i < shown; i++) {
		const struct key_share *f = &top->items[i];

		sum += f->flat.samples;
		note_certainty(certainty, r->style, &f->flat, FLAT_SURE);
		note_certainty(certainty, r->style, &f->cum, CUM_SURE);
		add_row(out, r, l, f,
			(double)sum / (double)r->profile->samples);
	}
	if (shown < top->n_items)
		add_more(out, top->n_items - shown, l->libraries);
	buffer_add_byte(out, '\n');
}

int view_top(struct buffer *out, const struct view_request *r,
	     struct error *err)
{
	struct view_certainty certainty = { 0 };
	struct listing l;
	int status = listing_init(&l, r, err);

	if (status == 0) {
		view_heading(out, r);
		if (l.shares.n_items)
			add_rows(out, r, &l, &certainty);
		else
			view_nothing(out, r);
		view_footing(out, r->profile, r->style, &certainty);
	}
	arena_release(&l.arena);
	return status;
}

static void add_library_json(struct json *j, const struct library *l)
{
	json_string(j, "name", l->name);
	json_string(j, "path", l->path);
	json_string(j, "kind", view_kind_name(l->kind));
	json_bool(j, "library", !l->own);
}

int view_top_json(struct buffer *out, const struct view_request *r,
		  struct error *err)
{
	struct listing l;
	int status = listing_init(&l, r, err);
	struct json j;

	if (status == 0) {
		j = view_json_begin(out, r, "top");
		json_open(&j, l.libraries ? "libraries" : "functions", '[');
		for (uint32_t i = 0; i < rows_shown(r, &l.shares); i++) {
			const struct key_share *s = &l.shares.items[i];

			json_open(&j, NULL, '{');
			if (l.libraries)
				add_library_json(&j, &l.libraries[s->key]);
			else
				view_json_function(&j, r->profile, s->key);
			view_json_share(&j, "flat", r->profile, &s->flat);
			view_json_share(&j, "cum", r->profile, &s->cum);
			json_close(&j);
		}
		json_close(&j);
		view_json_end(&j);
	}
	arena_release(&l.arena);
	return status;
}
