#include "analyze/top.h"

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

static void add_titles(struct buffer *out, const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	for (int i = 0; i < N; i++)
		if (style->width >= columns[i].least_width)
			view_add_right(&line, INK_DIM,
				       style->unicode ? columns[i].title
						      : columns[i].ascii,
				       columns[i].columns);
	view_add(&line, INK_DIM, "  function");
	view_end(&line);
}

static void add_row(struct buffer *out, const struct view_request *r,
		    const struct places *places, const struct key_share *f,
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
	place_add_function(&line, INK_STRONG, places, f->key, 0, true);
	view_end(&line);
}

static uint32_t rows_shown(const struct view_request *r, const struct shares *s)
{
	uint32_t limit = r->limit ? r->limit : FUNCTIONS;

	return r->all || s->n_items < limit ? s->n_items : limit;
}

static void note_certainty(struct view_certainty *c,
			   const struct share_count *share)
{
	double half = interval_half(share->sure.run);

	if (half > c->half)
		c->half = half;
	c->drifts |= share->sure.drifts;
}

static void add_rows(struct buffer *out, const struct view_request *r,
		     const struct shares *top)
{
	struct places places = places_of(r->profile);
	struct view_certainty certainty = { 0 };
	uint32_t shown = rows_shown(r, top);
	uint64_t sum = 0;

	add_titles(out, r->style);
	for (uint32_t i = 0; i < shown; i++) {
		const struct key_share *f = &top->items[i];

		sum += f->flat.samples;
		note_certainty(&certainty, &f->flat);
		note_certainty(&certainty, &f->cum);
		add_row(out, r, &places, f,
			(double)sum / (double)r->profile->samples);
	}
	if (shown < top->n_items)
		buffer_printf(out, "%s more functions (--all)\n",
			      view_count(top->n_items - shown).text);
	buffer_add_byte(out, '\n');
	view_footing(out, r->profile, r->style, &certainty);
}

int view_top(struct buffer *out, const struct view_request *r,
	     struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct shares top;
	int status = top_count(&top, r->profile, r->order, &arena, err);

	if (status == 0) {
		view_heading(out, r);
		if (!top.n_items)
			view_nothing(out, r);
		add_rows(out, r, &top);
	}
	arena_release(&arena);
	return status;
}

int view_top_json(struct buffer *out, const struct view_request *r,
		  struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct shares top;
	int status = top_count(&top, r->profile, r->order, &arena, err);
	struct json j;

	if (status == 0) {
		j = view_json_begin(out, r, "top");
		json_open(&j, "functions", '[');
		for (uint32_t i = 0; i < rows_shown(r, &top); i++) {
			json_open(&j, NULL, '{');
			view_json_function(&j, r->profile, top.items[i].key);
			view_json_share(&j, "flat", r->profile,
					&top.items[i].flat);
			view_json_share(&j, "cum", r->profile,
					&top.items[i].cum);
			json_close(&j);
		}
		json_close(&j);
		view_json_end(&j);
	}
	arena_release(&arena);
	return status;
}
