#include "analyze/engine.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/engine_private.h"
#include "analyze/origin.h"
#include "analyze/top.h"
#include "base/alloc.h"

#define LIMIT_REQUEST 65536 /* bytes */

struct engine *engine_new(uint64_t budget)
{
	struct engine *e = xcalloc(1, sizeof(*e));

	e->budget = budget;
	return e;
}

int engine_add(struct engine *e, struct reader *reader, const char *name,
	       struct error *err)
{
	struct recording_view *v = &e->recordings[e->n_recordings];

	if (e->n_recordings == ENGINE_RECORDINGS) {
		reader_free(reader);
		return fail(err, ERR_LIMIT,
			    "at most %d recordings can be viewed together",
			    ENGINE_RECORDINGS);
	}
	*v = (struct recording_view){ .reader = reader,
				      .name = xstrdup(name),
				      .base = origin_base(reader) };
	e->n_recordings++;
	return 0;
}

static void forget_flame(struct recording_view *v)
{
	flame_release(&v->flame);
	free(v->flame_key);
	v->flame_key = NULL;
}

static void forget(struct recording_view *v)
{
	forget_flame(v);
	profile_free(v->profile);
	v->profile = NULL;
	free(v->filter_key);
	v->filter_key = NULL;
	arena_release(&v->arena);
	v->arena = (struct arena)ARENA_INIT;
	v->tallied = v->topped = v->lined = false;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->n_recordings; i++) {
		forget(&e->recordings[i]);
		free(e->recordings[i].name);
		reader_free(e->recordings[i].reader);
	}
	free(e);
}

/* The share of the blocks that a window touches. */
static uint64_t samples_within(const struct reader *reader, uint64_t from,
			       uint64_t to)
{
	size_t n = reader_blocks(reader), touched = 0;
	uint64_t first, last;

	for (size_t i = 0; i < n; i++) {
		reader_block_times(reader, i, &first, &last);
		touched += last >= from && first < to;
	}
	return n ? (uint64_t)((double)reader_info(reader)->samples *
			      (double)touched / (double)n)
		 : 0;
}

static uint32_t stride_of(const struct request *r,
			  const struct recording_view *v,
			  const struct profile_filter *f)
{
	uint64_t to = f->to ? f->to : UINT64_MAX, n;

	if (query_flag(&r->query, "exact"))
		return 1;
	n = samples_within(v->reader, f->from, to);
	return (uint32_t)(n / (r->engine->budget + 1) + 1);
}

void window_filter(const struct request *r, const struct recording_view *v,
		   struct profile_filter *out)
{
	uint64_t end = profile_recorded_until(v->reader);

	*out = (struct profile_filter){ 0 };
	out->from = query_number(&r->query, "from", 0);
	out->to = query_number(&r->query, "to", 0);
	if (!out->to)
		out->to = end ? end : 1;
	if (out->from >= out->to)
		out->from = out->to - 1;
	out->stride = stride_of(r, v, out);
}

enum profile_mode request_mode(const struct request *r)
{
	static const char *const names[] = { "wall", "cpu", "gil" };
	const char *name = query_text(&r->query, "mode", "wall");

	for (int i = MODE_WALL; i <= MODE_GIL; i++)
		if (!strcmp(names[i], name))
			return (enum profile_mode)i;
	return MODE_WALL;
}

static void read_filter(struct request *r, struct recording_view *v,
			struct profile_filter *out)
{
	uint32_t *ids;

	*out = (struct profile_filter){ .mode = request_mode(r) };
	out->from = query_number(&r->query, "from", 0);
	out->to = query_number(&r->query, "to", 0);
	out->n_thread_ids = query_list(&r->query, "threads", &ids, &v->arena);
	out->thread_ids = ids;
	out->stride = stride_of(r, v, out);
}

/* All that a filter is made of, as one text. */
static char *filter_key(const struct query *q)
{
	return xasprintf("%s|%s|%s|%s|%s", query_text(q, "mode", ""),
			 query_text(q, "from", ""), query_text(q, "to", ""),
			 query_text(q, "threads", ""),
			 query_text(q, "exact", ""));
}

int counted_profile(struct request *r, struct recording_view *v,
		    struct profile **out, struct error *err)
{
	char *key = filter_key(&r->query);
	struct profile_filter filter;
	int status = 0;

	if (v->filter_key && !strcmp(key, v->filter_key)) {
		free(key);
	} else {
		forget(v);
		read_filter(r, v, &filter);
		status = profile_new(&v->profile, v->reader, &filter, err);
		v->filter_key = key;
	}
	if (status < 0)
		forget(v);
	*out = v->profile;
	return status;
}

int counted_tally(struct recording_view *v, struct error *err)
{
	int status = 0;

	if (!v->tallied)
		status = tally_count(&v->tally, v->profile, &v->arena, err);
	v->tallied = !status;
	return status;
}

int counted_top(struct request *r, struct recording_view *v, struct error *err)
{
	struct profile *p;
	int status = counted_profile(r, v, &p, err);

	if (status < 0 || v->topped)
		return status;
	status = top_count(&v->top, p, BY_FLAT, &v->arena, err);
	v->topped = !status;
	return status;
}

int counted_lines(struct request *r, struct recording_view *v,
		  struct error *err)
{
	struct profile *p;
	int status = counted_profile(r, v, &p, err);

	if (status < 0 || v->lined)
		return status;
	status = lines_count(&v->lines, p, &v->arena, err);
	v->lined = !status;
	return status;
}

void json_numbers(struct json *j, const char *key)
{
	json_open(j, key, '[');
}

void json_number(struct json *j, uint64_t v)
{
	char text[24], *at = text + sizeof(text);

	do
		*--at = (char)('0' + v % 10);
	while (v /= 10);
	if (j->comma)
		buffer_add_byte(j->out, ',');
	j->comma = true;
	buffer_add(j->out, at, (size_t)(text + sizeof(text) - at));
}

void answer_counts(struct request *r, const struct profile *p)
{
	uint32_t stride = p->filter.stride ? p->filter.stride : 1;

	json_int(r->json, "samples", (int64_t)p->samples);
	json_int(r->json, "all", (int64_t)p->all_samples);
	json_double(r->json, "second", p->seconds_per_sample * stride);
	json_double(r->json, "duration", p->duration);
	json_int(r->json, "stride", stride);
	json_int(r->json, "torn", (int64_t)p->torn);
	json_int(r->json, "unproven", (int64_t)p->unproven);
}

uint32_t mention(struct request *r, uint32_t function)
{
	if (!r->named) {
		r->named_of = r->view;
		r->named = xcalloc(reader_functions(r->view->reader),
				   sizeof(*r->named));
	}
	r->named[function] = true;
	return function;
}

static void answer_function(struct request *r, uint32_t id)
{
	const struct recording_view *v = r->named_of;
	const struct function_info *f = reader_function(v->reader, id);
	struct buffer package = BUFFER_INIT;
	struct json *j = r->json;

	if (origin_is_library(f))
		origin_package(f, &package);
	json_open(j, NULL, '[');
	json_int(j, NULL, id);
	json_string(j, NULL, f->name);
	json_string(j, NULL, origin_short_file(f, v->base));
	json_int(j, NULL, f->line);
	json_int(j, NULL, f->kind);
	json_string(j, NULL, buffer_text(&package));
	json_string(j, NULL, f->file);
	json_string(j, NULL, f->module);
	json_close(j);
	buffer_release(&package);
}

static void answer_functions(struct request *r)
{
	uint32_t n = r->named ? reader_functions(r->named_of->reader) : 0;

	json_open(r->json, "functions", '[');
	for (uint32_t i = 0; i < n; i++)
		if (r->named[i])
			answer_function(r, i);
	json_close(r->json);
	free(r->named);
}

static const struct {
	const char *name;
	answer_fn *answer;
} views[] = {
	{ "info", answer_info },       { "timeline", answer_timeline },
	{ "moment", answer_moment },   { "chrono", answer_chrono },
	{ "flame", answer_flame },     { "sandwich", answer_sandwich },
	{ "top", answer_top },	       { "files", answer_files },
	{ "source", answer_source },   { "search", answer_search },
	{ "compare", answer_compare }, { "waits", answer_waits },
};

static int dispatch(struct request *r, struct error *err)
{
	const char *name = query_text(&r->query, "view", "");
	uint64_t file = query_number(&r->query, "file", 0);

	if (file >= r->engine->n_recordings)
		return fail(err, ERR_NOT_FOUND, "there is no recording %llu",
			    (unsigned long long)file);
	r->view = &r->engine->recordings[file];
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (!strcmp(views[i].name, name))
			return views[i].answer(r, err);
	return fail(err, ERR_USAGE, "there is no view '%.40s'", name);
}

static void answer_error(struct buffer *out, const struct error *err)
{
	struct json *j = xcalloc(1, sizeof(*j));

	j->out = out;
	json_open(j, NULL, '{');
	json_string(j, "error", err->text);
	json_close(j);
	free(j);
}

int engine_answer(struct engine *e, const char *request, struct buffer *out)
{
	struct arena arena = ARENA_INIT;
	struct request r = { .engine = e, .arena = &arena };
	struct error err = ERROR_INIT;
	size_t before = out->size;
	int status;

	r.json = xcalloc(1, sizeof(*r.json));
	r.json->out = out;
	json_open(r.json, NULL, '{');
	if (strlen(request) > LIMIT_REQUEST) {
		status = fail(&err, ERR_LIMIT, "the request is too long");
	} else {
		query_parse(&r.query, request, &arena);
		status = dispatch(&r, &err);
	}
	answer_functions(&r);
	json_close(r.json);
	free(r.json);
	arena_release(&arena);
	if (status < 0) {
		out->size = before;
		answer_error(out, &err);
	}
	return status;
}
