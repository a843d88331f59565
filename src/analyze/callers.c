#include "analyze/callers.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/top.h"
#include "base/alloc.h"
#include "base/text.h"

/* Callers further away than this are not told apart. */
#define CALLERS_LEVELS 512

static bool is_name(const char *name, const char *pattern)
{
	return !strcmp(name, pattern);
}

static bool is_last_name(const char *name, const char *pattern)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot + 1, pattern);
}

static void keep_matching(struct callers_found *out, const struct shares *top,
			  const struct reader *reader, const char *pattern,
			  bool (*matches)(const char *, const char *))
{
	for (uint32_t i = 0; i < top->n_items; i++) {
		uint32_t function = top->items[i].key;
		const char *name = reader_function(reader, function)->name;

		if (matches(name, pattern))
			out->functions[out->n_functions++] = function;
	}
}

int callers_find(struct callers_found *out, struct profile *p,
		 const char *pattern, struct arena *arena, struct error *err)
{
	bool (*const ways[])(const char *, const char *) = {
		is_name,
		is_last_name,
		text_matches,
	};
	struct shares top;
	int status = top_count(&top, p, BY_CUM, arena, err);

	if (status < 0)
		return status;
	out->n_functions = 0;
	out->functions = arena_calloc(arena, (size_t)top.n_items + 1,
				      sizeof(*out->functions));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!out->n_functions)
			keep_matching(out, &top, p->reader, pattern, ways[i]);
	return 0;
}

static uint32_t function_of(const struct profile *p, uint32_t node)
{
	uint32_t frame = reader_node(p->reader, node).frame;

	return reader_frame(p->reader, frame).function;
}

/* Walk from an outermost call of the function to the root. */
static void add_above(struct callers *c, const struct profile *p, uint32_t node)
{
	uint64_t samples = p->total[node];
	uint32_t at = 0;

	for (int i = 0; i < CALLERS_LEVELS; i++) {
		node = reader_node(p->reader, node).parent;
		if (node == ID_NONE)
			break;
		at = calltree_call(&c->above, p->reader, at,
				   function_of(p, node));
	}
	c->above.nodes[at].self += samples;
}

/* place[node]: where the node is in the tree below, or ID_NONE while no call of
 * the function is in its stack. Parents come first. */
static void add_node(struct callers *c, const struct profile *p,
		     uint32_t *place, uint32_t node)
{
	uint32_t parent = reader_node(p->reader, node).parent;
	uint32_t above = parent == ID_NONE ? ID_NONE : place[parent];
	uint32_t function = function_of(p, node);

	place[node] = ID_NONE;
	if (!p->total[node])
		return;
	if (above != ID_NONE) {
		place[node] =
			calltree_call(&c->below, p->reader, above, function);
	} else if (function == c->function) {
		place[node] = 0;
		c->samples += p->total[node];
		add_above(c, p, node);
	}
	if (place[node] != ID_NONE)
		c->below.nodes[place[node]].self += p->self[node];
}

void callers_count(struct callers *out, const struct profile *p,
		   uint32_t function)
{
	uint32_t *place = xreallocarray(NULL, p->n_nodes, sizeof(*place));

	*out = (struct callers){ .function = function };
	calltree_init(&out->above);
	calltree_init(&out->below);
	out->above.nodes[0].function = out->below.nodes[0].function = function;
	for (uint32_t i = 0; i < p->n_nodes; i++)
		add_node(out, p, place, i);
	calltree_sum(&out->above);
	calltree_sum(&out->below);
	out->self = out->below.nodes[0].self;
	free(place);
}

void callers_release(struct callers *c)
{
	calltree_release(&c->above);
	calltree_release(&c->below);
}
