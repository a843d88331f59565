/* The answer that is about two recordings. */
#include <string.h>

#include "analyze/compare.h"
#include "analyze/engine_private.h"
#include "analyze/origin.h"
#include "analyze/search.h"

#define BOXES_MOST 20000

static const struct function_info *info_of(const struct recording_view *v[],
					   const struct compare_function *f,
					   size_t *base)
{
	int side = f->function[COMPARE_NEW] != ID_NONE ? COMPARE_NEW
						       : COMPARE_BASE;

	*base = v[side]->base;
	return reader_function(v[side]->reader, f->function[side]);
}

static void answer_change(struct json *j, const struct share_count s[],
			  double half, bool noise)
{
	json_double(j, NULL, s[COMPARE_BASE].sure.share);
	json_double(j, NULL, s[COMPARE_NEW].sure.share);
	json_double(j, NULL, half);
	json_int(j, NULL, noise);
}

/* Whether the search has found the function, in the recording that has it. */
static bool is_found(const struct search s[], const struct compare_function *f)
{
	int side = f->function[COMPARE_NEW] != ID_NONE ? COMPARE_NEW
						       : COMPARE_BASE;

	return s[side].hits && s[side].hits[f->function[side]];
}

/* [place, function in the new recording or -1, name, file, line, kind, package,
 * then base, new, half width and noise of self and of total, then whether it
 * was searched for] */
static void answer_row(struct json *j, const struct recording_view *v[],
		       const struct compare_function *f, uint32_t place,
		       bool hit)
{
	struct buffer package = BUFFER_INIT;
	size_t base;
	const struct function_info *info = info_of(v, f, &base);

	if (origin_is_library(info))
		origin_package(info, &package);
	json_open(j, NULL, '[');
	json_int(j, NULL, place);
	json_int(j, NULL,
		 f->function[COMPARE_NEW] == ID_NONE
			 ? -1
			 : (int64_t)f->function[COMPARE_NEW]);
	json_string(j, NULL, info->name);
	json_string(j, NULL, origin_short_file(info, base));
	json_int(j, NULL, info->line);
	json_int(j, NULL, info->kind);
	json_string(j, NULL, buffer_text(&package));
	answer_change(j, f->self, f->self_half, f->self_noise);
	answer_change(j, f->total, f->total_half, f->total_noise);
	json_int(j, NULL, hit);
	json_close(j);
	buffer_release(&package);
}

static void answer_rows(struct json *j, const struct recording_view *v[],
			const struct compare *c, const struct search s[])
{
	json_open(j, "rows", '[');
	for (uint32_t i = 0; i < c->n_functions; i++) {
		const struct compare_function *f = &c->functions[i];

		if (f->function[COMPARE_BASE] != ID_NONE ||
		    f->function[COMPARE_NEW] != ID_NONE)
			answer_row(j, v, f, i, is_found(s, f));
	}
	json_close(j);
}

/* Eight numbers a box: depth, start, width, kind, place of its function,
 * samples of base and of new, noise. */
static void answer_boxes(struct request *r, const struct compare *c)
{
	uint32_t parts = query_within(&r->query, "parts", 2000, 1, 100000);
	struct json *j = r->json;
	struct flame_boxes b;
	size_t depth;
	uint32_t root =
		flame_at_path(&c->flame, query_text(&r->query, "path", ""),
			      &depth);

	flame_arrange(&b, &c->flame, root,
		      c->flame.nodes[root].total / parts + 1, BOXES_MOST);
	json_int(j, "path_depth", (int64_t)depth);
	json_int(j, "deepest", b.depth);
	json_numbers(j, "boxes");
	for (uint32_t i = 0; i < b.count; i++) {
		const struct flame_box *box = &b.items[i];
		const struct flame_node *n = &c->flame.nodes[box->node];
		const struct compare_node *m = &c->nodes[box->node];

		json_number(j, box->depth);
		json_number(j, box->start);
		json_number(j, n->total);
		json_number(j, n->kind);
		json_number(j, n->id);
		json_number(j, m->samples[COMPARE_BASE]);
		json_number(j, m->samples[COMPARE_NEW]);
		json_number(j, m->noise);
	}
	json_close(j);
	flame_boxes_release(&b);
}

static int count_side(struct request *r, struct recording_view *v,
		      const struct flame_options *options,
		      struct compare_side *out, struct flame *flame,
		      struct error *err)
{
	struct profile *p;
	int status = counted_profile(r, v, &p, err);

	if (!status)
		status = counted_top(r, v, err);
	if (status < 0)
		return status;
	flame_build(flame, p, NULL, options);
	*out = (struct compare_side){ p, &v->top, flame };
	return 0;
}

static void answer_sides(struct json *j, const struct compare_side sides[])
{
	json_numbers(j, "sides");
	for (int i = 0; i < COMPARE_SIDES; i++)
		json_number(j, sides[i].profile->samples);
	json_close(j);
}

/* A field q marks what it finds; one that is no expression finds nothing. */
static void search_sides(struct request *r, const struct compare_side sides[],
			 struct search out[])
{
	const char *q = query_text(&r->query, "q", "");

	for (int i = 0; i < COMPARE_SIDES; i++) {
		out[i] = (struct search){ 0 };
		if (*q)
			search_functions(&out[i], sides[i].profile, q, NULL);
	}
}

static void answer_both(struct request *r, const struct recording_view *v[],
			const struct compare_side sides[])
{
	struct search found[COMPARE_SIDES];
	struct compare c;

	compare_profiles(&c, sides, r->arena);
	search_sides(r, sides, found);
	answer_sides(r->json, sides);
	answer_rows(r->json, v, &c, found);
	answer_boxes(r, &c);
	for (int i = 0; i < COMPARE_SIDES; i++)
		search_release(&found[i]);
	compare_release(&c);
}

/* Fields: base and file (the new one) count recordings. */
int answer_compare(struct request *r, struct error *err)
{
	uint64_t base = query_number(&r->query, "base", 0);
	struct flame_options options = {
		.mine = query_flag(&r->query, "mine"),
		.inverted = query_flag(&r->query, "inverted"),
	};
	const struct recording_view *v[COMPARE_SIDES];
	struct compare_side sides[COMPARE_SIDES];
	struct flame flames[COMPARE_SIDES] = { 0 };
	int status;

	if (base >= r->engine->n_recordings ||
	    &r->engine->recordings[base] == r->view)
		return fail(err, ERR_USAGE,
			    "to compare takes two recordings; open both: "
			    "pyrometer view BASE NEW");
	v[COMPARE_BASE] = &r->engine->recordings[base];
	v[COMPARE_NEW] = r->view;
	status = count_side(r, &r->engine->recordings[base], &options,
			    &sides[0], &flames[0], err);
	if (!status)
		status = count_side(r, r->view, &options, &sides[1], &flames[1],
				    err);
	if (!status)
		answer_both(r, v, sides);
	flame_release(&flames[0]);
	flame_release(&flames[1]);
	return status;
}
