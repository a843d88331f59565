/* Answers that are tables: functions, files, lines, what a search finds. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine_private.h"
#include "analyze/origin.h"
#include "analyze/search.h"
#include "base/alloc.h"
#include "base/intern.h"

void answer_interval(struct json *j, struct interval i)
{
	json_number(j, (uint64_t)(i.low * 1e6 + 0.5));
	json_number(j, (uint64_t)(i.high * 1e6 + 0.5));
}

/* Samples by the innermost function of the user's own on their stack. */
static uint64_t *own_self(const struct profile *p)
{
	const struct reader *reader = p->reader;
	uint64_t *self = xcalloc(reader_functions(reader), sizeof(*self));
	uint32_t *owner = xcalloc(p->n_nodes, sizeof(*owner));

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		struct node_info node = reader_node(reader, i);
		uint32_t f = reader_frame(reader, node.frame).function;

		if (!origin_is_library(reader_function(reader, f)))
			owner[i] = f;
		else
			owner[i] = node.parent == ID_NONE ? ID_NONE
							  : owner[node.parent];
		if (owner[i] != ID_NONE)
			self[owner[i]] += p->self[i];
	}
	free(owner);
	return self;
}

static void answer_share(struct request *r, const struct key_share *s)
{
	json_open(r->json, NULL, '[');
	json_number(r->json, mention(r, s->key));
	json_number(r->json, s->flat.samples);
	json_number(r->json, s->cum.samples);
	answer_interval(r->json, s->flat.sure.again);
	answer_interval(r->json, s->cum.sure.again);
	json_close(r->json);
}

struct interval part_interval(uint64_t part, const struct share_count *whole,
			      uint64_t samples)
{
	struct interval i = share_interval(part, samples);
	double plain = interval_half(share_interval(whole->samples, samples));
	double wider = interval_half(whole->sure.again) / plain;
	double share = samples ? (double)part / (double)samples : 0;
	double half = interval_half(i) * (wider > 1 ? wider : 1);

	if (!(half < 1))
		return i;
	i.low = share > half ? share - half : 0;
	i.high = share + half < 1 ? share + half : 1;
	return i;
}

/* With mine=1 what libraries do counts for who called them. */
static void answer_own(struct request *r, const struct key_share *s,
		       const uint64_t *own, uint64_t samples)
{
	struct key_share mine = *s;

	if (origin_is_library(reader_function(r->view->reader, s->key)))
		return;
	mine.flat.samples = own[s->key];
	mine.flat.sure.again = part_interval(own[s->key], &s->cum, samples);
	answer_share(r, &mine);
}

int answer_top(struct request *r, struct error *err)
{
	struct recording_view *v = r->view;
	uint64_t *own = NULL;
	int status = counted_top(r, v, err);

	if (status < 0)
		return status;
	answer_counts(r, v->profile);
	if (query_flag(&r->query, "mine"))
		own = own_self(v->profile);
	json_open(r->json, "rows", '[');
	for (uint32_t i = 0; i < v->top.n_items; i++)
		if (own)
			answer_own(r, &v->top.items[i], own,
				   v->profile->samples);
		else
			answer_share(r, &v->top.items[i]);
	json_close(r->json);
	free(own);
	return 0;
}

/* Whose file it is: any function of it tells. NULL when none is known. */
static const struct function_info *function_in(const struct recording_view *v,
					       const struct file_lines *f)
{
	return f->n_lines ? reader_function(v->reader, f->lines[0].function)
			  : NULL;
}

/* The files of what the field "q" finds; none when there is no such field, or
 * when it is no pattern. */
static void search_files(struct request *r, struct intern *found)
{
	const struct reader *reader = r->view->reader;
	const char *q = query_text(&r->query, "q", "");
	bool *hits = *q ? search_names(reader, q, NULL) : NULL;

	for (uint32_t i = 0; hits && i < reader_functions(reader); i++)
		if (hits[i])
			intern_string(found, reader_function(reader, i)->file);
	free(hits);
}

/* [file, short, self, total, has its text, was searched for, kind] */
static void answer_file(struct request *r, const struct file_lines *f,
			const struct function_info *whose, bool hit)
{
	const struct recording_view *v = r->view;
	struct json *j = r->json;
	size_t size;

	json_open(j, NULL, '[');
	json_string(j, NULL, f->file);
	json_string(j, NULL,
		    whose ? origin_short_file(whose, v->base) : f->file);
	json_number(j, f->flat);
	json_number(j, f->cum);
	json_bool(j, NULL, reader_source(v->reader, f->file, &size));
	json_bool(j, NULL, hit);
	json_int(j, NULL, whose ? whose->kind : FUNCTION_PYTHON);
	json_close(j);
}

int answer_files(struct request *r, struct error *err)
{
	struct recording_view *v = r->view;
	struct intern found = INTERN_INIT;
	bool mine = query_flag(&r->query, "mine");
	uint32_t n_found;
	int status = counted_lines(r, v, err);

	if (status < 0)
		return status;
	answer_counts(r, v->profile);
	search_files(r, &found);
	n_found = found.count;
	json_open(r->json, "files", '[');
	for (uint32_t i = 0; i < v->lines.n_files; i++) {
		const struct file_lines *f = &v->lines.files[i];
		const struct function_info *whose = function_in(v, f);

		if (!mine || !whose || !origin_is_library(whose))
			answer_file(r, f, whose,
				    intern_string(&found, f->file) < n_found);
	}
	json_close(r->json);
	intern_release(&found);
	return 0;
}

static void answer_line(struct request *r, const struct line *l)
{
	json_open(r->json, NULL, '[');
	json_number(r->json, l->number);
	json_number(r->json, l->flat.samples);
	json_number(r->json, l->cum.samples);
	answer_interval(r->json, l->flat.sure.again);
	json_number(r->json, mention(r, l->function));
	json_close(r->json);
}

int answer_source(struct request *r, struct error *err)
{
	struct recording_view *v = r->view;
	const char *path = query_text(&r->query, "path", ""), *text;
	const struct file_lines *f = NULL;
	size_t size;
	int status = counted_lines(r, v, err);

	if (status < 0)
		return status;
	answer_counts(r, v->profile);
	for (uint32_t i = 0; i < v->lines.n_files; i++)
		if (!strcmp(v->lines.files[i].file, path))
			f = &v->lines.files[i];
	json_open(r->json, "lines", '[');
	for (uint32_t i = 0; f && i < f->n_lines; i++)
		answer_line(r, &f->lines[i]);
	json_close(r->json);
	text = reader_source(v->reader, path, &size);
	if (text)
		json_bytes(r->json, "text", text, size);
	else
		json_null(r->json, "text");
	return 0;
}

int answer_search(struct request *r, struct error *err)
{
	struct search s;
	struct profile *p;
	int status = counted_profile(r, r->view, &p, err);

	if (!status)
		status = search_functions(&s, p, query_text(&r->query, "q", ""),
					  err);
	if (status < 0)
		return status;
	answer_counts(r, p);
	json_int(r->json, "matched", (int64_t)s.samples);
	json_int(r->json, "self", (int64_t)s.self);
	json_numbers(r->json, "hits");
	for (uint32_t i = 0; i < reader_functions(p->reader); i++)
		if (s.hits[i])
			json_number(r->json, i);
	json_close(r->json);
	search_release(&s);
	return 0;
}
