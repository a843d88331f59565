/* Answers that are trees: flame graph, call tree, callers and callees. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine_private.h"
#include "base/alloc.h"

#define BOXES_MOST 20000
#define PATH_MOST  2048

/* A path as the page writes it: "f12.f7.t0.n0". */
static size_t read_path(const char *text, uint64_t *path)
{
	size_t n = 0;
	char *end;

	while (*text && n < PATH_MOST) {
		enum flame_kind kind = *text == 't'   ? FLAME_THREAD
				       : *text == 'n' ? FLAME_NO_STACK
				       : *text == 'g' ? FLAME_GC
						      : FLAME_FUNCTION;

		path[n++] = flame_path_word(kind, (uint32_t)strtoul(text + 1,
								    &end, 10));
		text = *end == '.' ? end + 1 : end + strlen(end);
	}
	return n;
}

uint32_t flame_at_path(const struct flame *f, const char *text, size_t *depth)
{
	uint64_t *path = xcalloc(PATH_MOST, sizeof(*path));
	uint32_t node;

	*depth = read_path(text, path);
	while ((node = flame_find(f, path, *depth)) == ID_NONE)
		--*depth;
	free(path);
	return node;
}

typedef uint64_t box_number(struct request *r, const struct flame *f,
			    const struct flame_box *box);

static uint64_t box_depth(struct request *r, const struct flame *f,
			  const struct flame_box *box)
{
	return box->depth;
}

static uint64_t box_start(struct request *r, const struct flame *f,
			  const struct flame_box *box)
{
	return box->start;
}

static uint64_t box_kind(struct request *r, const struct flame *f,
			 const struct flame_box *box)
{
	return f->nodes[box->node].kind;
}

static uint64_t box_id(struct request *r, const struct flame *f,
		       const struct flame_box *box)
{
	const struct flame_node *n = &f->nodes[box->node];

	return n->kind == FLAME_FUNCTION ? mention(r, n->id) : n->id;
}

static uint64_t box_total(struct request *r, const struct flame *f,
			  const struct flame_box *box)
{
	return f->nodes[box->node].total;
}

static uint64_t box_self(struct request *r, const struct flame *f,
			 const struct flame_box *box)
{
	return f->nodes[box->node].self;
}

static uint64_t box_children(struct request *r, const struct flame *f,
			     const struct flame_box *box)
{
	return f->first[box->node + 1] - f->first[box->node];
}

/* Half of the width of the interval around a box's share, in millionths. */
static uint64_t box_sure(struct request *r, const struct flame_node *n,
			 uint64_t part)
{
	uint64_t samples = r->view->profile->samples;
	const struct key_share *s =
		n->kind == FLAME_FUNCTION ? r->sure[n->id] : NULL;
	struct interval i = s ? part_interval(part, &s->cum, samples)
			      : share_interval(part, samples);

	return (uint64_t)(interval_half(i) * 1e6 + 0.5);
}

static uint64_t box_total_sure(struct request *r, const struct flame *f,
			       const struct flame_box *box)
{
	const struct flame_node *n = &f->nodes[box->node];

	return box_sure(r, n, n->total);
}

static uint64_t box_self_sure(struct request *r, const struct flame *f,
			      const struct flame_box *box)
{
	const struct flame_node *n = &f->nodes[box->node];

	return box_sure(r, n, n->self);
}

static const struct {
	const char *name;
	box_number *of;
	bool sure; /* only when it is asked how sure the shares are */
} box_columns[] = {
	{ "depth", box_depth },
	{ "start", box_start },
	{ "kind", box_kind },
	{ "id", box_id },
	{ "total", box_total },
	{ "self", box_self },
	{ "children", box_children },
	{ "total_sure", box_total_sure, true },
	{ "self_sure", box_self_sure, true },
};

static void answer_boxes(struct request *r, const char *key,
			 const struct flame *f, uint32_t root)
{
	uint32_t parts = query_within(&r->query, "parts", 2000, 1, 100000);
	uint64_t narrowest = f->nodes[root].total / parts;
	struct flame_boxes b;

	flame_arrange(&b, f, root, narrowest ? narrowest : 1, BOXES_MOST);
	json_open(r->json, key, '{');
	json_int(r->json, "deepest", b.depth);
	json_int(r->json, "left_out", b.left_out);
	for (size_t c = 0; c < sizeof(box_columns) / sizeof(box_columns[0]);
	     c++) {
		if (box_columns[c].sure && !r->sure)
			continue;
		json_numbers(r->json, box_columns[c].name);
		for (uint32_t i = 0; i < b.count; i++)
			json_number(r->json,
				    box_columns[c].of(r, f, &b.items[i]));
		json_close(r->json);
	}
	json_close(r->json);
	flame_boxes_release(&b);
}

static int counted_flame(struct request *r, struct error *err)
{
	struct recording_view *v = r->view;
	struct flame_options options = {
		.inverted = query_flag(&r->query, "inverted"),
		.mine = query_flag(&r->query, "mine"),
		.threads = query_flag(&r->query, "split"),
	};
	char *key = xasprintf("%d%d%d", options.inverted, options.mine,
			      options.threads);
	int status = 0;

	if (v->flame_key && !strcmp(key, v->flame_key)) {
		free(key);
		return 0;
	}
	if (options.threads)
		status = counted_tally(v, err);
	if (status < 0) {
		free(key);
		return status;
	}
	flame_release(&v->flame);
	free(v->flame_key);
	v->flame_key = key;
	flame_build(&v->flame, v->profile, &v->tally, &options);
	return 0;
}

/* Find out how sure the shares of functions are, for a request that asks. */
static int count_sure(struct request *r, struct error *err)
{
	struct recording_view *v = r->view;
	int status = 0;

	if (!query_flag(&r->query, "sure"))
		return 0;
	status = counted_top(r, v, err);
	if (status < 0)
		return status;
	r->sure =
		arena_calloc(r->arena, (size_t)reader_functions(v->reader) + 1,
			     sizeof(*r->sure));
	for (uint32_t i = 0; i < v->top.n_items; i++)
		r->sure[v->top.items[i].key] = &v->top.items[i];
	return 0;
}

int answer_flame(struct request *r, struct error *err)
{
	struct profile *p;
	uint32_t root;
	size_t depth;
	int status = counted_profile(r, r->view, &p, err);

	if (!status)
		status = counted_flame(r, err);
	if (!status)
		status = count_sure(r, err);
	if (status < 0)
		return status;
	answer_counts(r, p);
	root = flame_at_path(&r->view->flame, query_text(&r->query, "path", ""),
			     &depth);
	json_int(r->json, "path_depth", (int64_t)depth);
	answer_boxes(r, "boxes", &r->view->flame, root);
	return 0;
}

static void answer_around(struct request *r, const struct profile *p,
			  const struct callers *callers, const char *key,
			  bool above)
{
	struct flame f;

	flame_around(&f, p, callers, above, query_flag(&r->query, "mine"));
	answer_boxes(r, key, &f, f.n_nodes > 1 ? 1 : 0);
	flame_release(&f);
}

int answer_sandwich(struct request *r, struct error *err)
{
	uint64_t function = query_number(&r->query, "function", 0);
	struct callers callers;
	struct profile *p;
	int status = counted_profile(r, r->view, &p, err);

	if (status < 0)
		return status;
	if (function >= reader_functions(r->view->reader))
		return fail(err, ERR_NOT_FOUND, "there is no such function");
	answer_counts(r, p);
	callers_count(&callers, p, mention(r, (uint32_t)function));
	json_int(r->json, "self", (int64_t)callers.self);
	json_int(r->json, "total", (int64_t)callers.samples);
	answer_around(r, p, &callers, "callers", true);
	answer_around(r, p, &callers, "callees", false);
	callers_release(&callers);
	return 0;
}
