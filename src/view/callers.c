/* Who calls a function and what it calls: the function in the middle, its
 * callers drawn as a tree above it (a child calls its parent), what it calls as
 * a tree below. Shares are of the function's own samples. */
#include "analyze/callers.h"

#include "view/heading.h"
#include "view/tree.h"

#define FUNCTIONS   5
#define LINES_LEAST 20
#define LEAST_SHARE 0.02

static struct outline_options options_for(const struct view_request *r)
{
	return (struct outline_options){
		.least = r->all ? 0 : LEAST_SHARE,
		.limit = r->all	    ? 0
			 : r->limit ? r->limit
				    : LINES_LEAST,
		.exact = r->limit,
		.unfolded = true,
	};
}

struct both {
	struct outline above, below;
};

static void make_outlines(struct both *o, const struct callers *c,
			  const struct view_request *r, struct arena *arena)
{
	struct outline_options options = options_for(r);
	const struct reader *reader = r->profile->reader;

	outline_make(&o->above, &c->above, reader, &options, arena);
	outline_make(&o->below, &c->below, reader, &options, arena);
}

static int find(struct callers_found *found, const struct view_request *r,
		struct arena *arena, struct error *err)
{
	int status = callers_find(found, r->profile, r->function, arena, err);

	if (status == 0 && !found->n_functions)
		return fail(
			err, ERR_NOT_FOUND,
			"no function called or matching '%s' has samples here; --top lists those that have",
			r->function);
	return status;
}

static uint32_t functions_shown(const struct view_request *r,
				const struct callers_found *found)
{
	return r->all || found->n_functions < FUNCTIONS ? found->n_functions
							: FUNCTIONS;
}

static void add_title(struct buffer *out, const struct view_style *style,
		      const char *text)
{
	struct view_line line = view_line(out, style);

	view_add(&line, INK_DIM, text);
	view_end(&line);
}

static void add_function(struct buffer *out, const struct view_request *r,
			 const struct tree_data *d, const struct callers *c)
{
	struct view_line line = view_line(out, r->style);
	double share = (double)c->samples / (double)r->profile->samples;
	double unit = r->profile->seconds_per_sample;

	place_add_function(&line, INK_STRONG, &d->places, c->function, 0, true);
	view_add_format(&line, view_share_ink(share), "  %s, %s, self %s",
			view_seconds((double)c->samples * unit).text,
			view_percent(share).text,
			view_seconds((double)c->self * unit).text);
	view_end(&line);
}

static void add_outline(struct buffer *out, const struct view_request *r,
			const struct tree_data *d, const struct outline *o,
			const char *title, const char *none)
{
	add_title(out, r->style, o->n_lines ? title : none);
	tree_lines(out, r->style, d, o, 0, o->n_lines, 0);
}

static void add_callers(struct buffer *out, const struct view_request *r,
			struct tree_data *d, uint32_t function)
{
	struct callers c;
	struct both o;

	callers_count(&c, r->profile, function);
	make_outlines(&o, &c, r, &d->arena);
	add_function(out, r, d, &c);
	d->self_text = "[called by nobody]";
	add_outline(out, r, d, &o.above, "called by", "called by nobody");
	d->self_text = "[self]";
	add_outline(out, r, d, &o.below, "calls", "calls nothing");
	buffer_add_byte(out, '\n');
	callers_release(&c);
}

static void add_more(struct buffer *out, uint32_t n)
{
	buffer_printf(out, "%u more function%s match%s (--all)\n\n", n,
		      view_plural(n), n == 1 ? "es" : "");
}

int view_callers(struct buffer *out, const struct view_request *r,
		 struct error *err)
{
	struct tree_data d = { .profile = r->profile };
	struct view_certainty certainty = { 0 };
	struct callers_found found;
	int status = find(&found, r, &d.arena, err);
	uint32_t shown;

	if (status == 0) {
		d.places = places_of(r->profile);
		shown = functions_shown(r, &found);
		view_heading(out, r);
		for (uint32_t i = 0; i < shown; i++)
			add_callers(out, r, &d, found.functions[i]);
		if (shown < found.n_functions)
			add_more(out, found.n_functions - shown);
		view_footing(out, r->profile, r->style, &certainty);
	}
	tree_data_release(&d);
	return status;
}

static void add_json(struct json *j, const struct view_request *r,
		     uint32_t function, struct arena *arena)
{
	struct callers c;
	struct both o;

	callers_count(&c, r->profile, function);
	make_outlines(&o, &c, r, arena);
	json_open(j, NULL, '{');
	view_json_function(j, r->profile, function);
	json_int(j, "samples", (int64_t)c.samples);
	json_int(j, "self", (int64_t)c.self);
	tree_outline_json(j, "callers", r->profile, &o.above);
	tree_outline_json(j, "callees", r->profile, &o.below);
	json_close(j);
	callers_release(&c);
}

int view_callers_json(struct buffer *out, const struct view_request *r,
		      struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct callers_found found;
	int status = find(&found, r, &arena, err);
	struct json j;

	if (status == 0) {
		j = view_json_begin(out, r, "callers");
		json_open(&j, "functions", '[');
		for (uint32_t i = 0; i < functions_shown(r, &found); i++)
			add_json(&j, r, found.functions[i], &arena);
		json_close(&j);
		view_json_end(&j);
	}
	arena_release(&arena);
	return status;
}
