/* Answers that are trees: flame graph, call tree, callers and callees. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine_private.h"
#include "base/alloc.h"

#define BOXES_MOST 20000
#define PATH_MOST  2048

/* A path as the page writes it: "f12.f7.t0.n". */
static size_t read_path(const char *text, uint64_t *path)
{
	size_t n = 0;
	char *end;

	while (*text && n < PATH_MOST) {
		enum flame_kind kind = *text == 't'   ? FLAME_THREAD
				       : *text == 'n' ? FLAME_NO_STACK
						      : FLAME_FUNCTION;

		path[n++] = flame_path_word(kind, (uint32_t)strtoul(text + 1,
								    &end, 10));
		text = *end == '.' ? end + 1 : end + strlen(end);
	}
	return n;
}

/* The deepest node that the path leads to: what is gone with another filter
 * is no reason to show nothing. *n becomes how far it leads. */
static uint32_t find_root(const struct flame *f, const char *text, size_t *n)
{
	uint64_t *path = xcalloc(PATH_MOST, sizeof(*path));
	uint32_t node;

	*n = read_path(text, path);
	while ((node = flame_find(f, path, *n)) == ID_NONE)
		--*n;
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

static const struct {
	const char *name;
	box_number *of;
} box_columns[] = {
	{ "depth", box_depth },	      { "start", box_start },
	{ "kind", box_kind },	      { "id", box_id },
	{ "total", box_total },	      { "self", box_self },
	{ "children", box_children },
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

int answer_flame(struct request *r, struct error *err)
{
	struct profile *p;
	uint32_t root;
	size_t depth;
	int status = counted_profile(r, r->view, &p, err);

	if (!status)
		status = counted_flame(r, err);
	if (status < 0)
		return status;
	answer_counts(r, p);
	root = find_root(&r->view->flame, query_text(&r->query, "path", ""),
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

	flame_around(&f, p, callers, above);
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
