/* The walk: depth first over the recording's nodes, with an array for a stack
 * (they may be 20,000 deep), counting how often each function and each edge is
 * on the path. Only the outermost occurrence adds the samples below it. */
#include "format/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct step {
	uint32_t node;
	uint32_t edge;	/* that led here, or ID_NONE */
	uint32_t child; /* to go to next, or ID_NONE */
};

struct walk {
	struct call_graph *graph;
	const struct profile *profile;
	const struct call_graph_options *options;
	uint32_t *first, *next; /* child and sibling of each node */
	struct step *path;
	size_t depth, capacity;
};

static struct frame_info frame_of(const struct walk *w, uint32_t node)
{
	const struct reader *r = w->profile->reader;
	struct frame_info frame = reader_frame(r, reader_node(r, node).frame);

	if (w->options->same_as)
		frame.function = w->options->same_as[frame.function];
	return frame;
}

static uint32_t find_edge(struct call_graph *g, uint32_t caller, uint32_t line,
			  uint32_t callee)
{
	uint64_t from = (uint64_t)caller << 32 | line;
	uint32_t found = map_get(&g->index, from, callee);

	if (found != MAP_NONE)
		return found;
	ALLOC_GROW(g->edges, g->count + 1, g->capacity);
	g->edges[g->count] = (struct call_edge){
		.caller = caller,
		.line = line,
		.callee = callee,
	};
	map_put(&g->index, from, callee, g->count);
	return g->count++;
}

static uint32_t enter_edge(struct walk *w, uint32_t node, uint32_t function)
{
	uint32_t parent = reader_node(w->profile->reader, node).parent, found;
	struct frame_info caller;
	struct call_edge *edge;

	if (parent == ID_NONE)
		return ID_NONE;
	caller = frame_of(w, parent);
	found = find_edge(w->graph, caller.function,
			  w->options->by_line ? caller.line : 0, function);
	edge = &w->graph->edges[found];
	if (!edge->active++)
		edge->total += w->profile->total[node];
	edge->self += w->profile->self[node];
	edge->calls += w->options->calls ? w->options->calls[node] : 0;
	return found;
}

static void enter(struct walk *w, uint32_t node)
{
	uint32_t function = frame_of(w, node).function;

	w->graph->self[function] += w->profile->self[node];
	if (!w->graph->active[function]++)
		w->graph->total[function] += w->profile->total[node];
	ALLOC_GROW(w->path, w->depth + 1, w->capacity);
	w->path[w->depth++] = (struct step){
		.node = node,
		.edge = enter_edge(w, node, function),
		.child = w->first[node],
	};
}

static void leave(struct walk *w)
{
	const struct step *step = &w->path[--w->depth];

	w->graph->active[frame_of(w, step->node).function]--;
	if (step->edge != ID_NONE)
		w->graph->edges[step->edge].active--;
}

static void walk_from(struct walk *w, uint32_t root)
{
	enter(w, root);
	while (w->depth) {
		struct step *top = &w->path[w->depth - 1];
		uint32_t child = top->child;

		if (child == ID_NONE) {
			leave(w);
			continue;
		}
		top->child = w->next[child];
		enter(w, child);
	}
}

/* Children of each node that have samples; the roots hang on the slot behind
 * the last node. */
static void link_children(struct walk *w)
{
	const struct profile *p = w->profile;
	size_t n = (size_t)p->n_nodes + 1;

	w->first = xreallocarray(NULL, n, sizeof(*w->first));
	w->next = xreallocarray(NULL, n, sizeof(*w->next));
	memset(w->first, 0xff, n * sizeof(*w->first));
	for (uint32_t i = p->n_nodes; i-- > 0;) {
		uint32_t parent = reader_node(p->reader, i).parent;

		if (!p->total[i])
			continue;
		if (parent == ID_NONE)
			parent = p->n_nodes;
		w->next[i] = w->first[parent];
		w->first[parent] = i;
	}
}

void call_graph_fill(struct call_graph *g, const struct profile *p,
		     const struct call_graph_options *options)
{
	size_t n = (size_t)reader_functions(p->reader) + 1;
	struct walk w = {
		.graph = g,
		.profile = p,
		.options = options,
	};

	g->self = xcalloc(n, sizeof(*g->self));
	g->total = xcalloc(n, sizeof(*g->total));
	g->active = xcalloc(n, sizeof(*g->active));
	link_children(&w);
	for (uint32_t root = w.first[p->n_nodes]; root != ID_NONE;
	     root = w.next[root])
		walk_from(&w, root);
	free(w.first);
	free(w.next);
	free(w.path);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_caller(const void *x, const void *y)
{
	const struct call_edge *a = x, *b = y;
	int order = compare(a->caller, b->caller);

	if (!order)
		order = compare(a->line, b->line);
	return order ? order : compare(a->callee, b->callee);
}

static int by_callee(const void *x, const void *y)
{
	const struct call_edge *a = x, *b = y;
	int order = compare(a->callee, b->callee);

	return order ? order : by_caller(x, y);
}

void call_graph_sort(struct call_graph *g)
{
	if (g->count)
		qsort(g->edges, g->count, sizeof(*g->edges), by_caller);
}

void call_graph_sort_by_callee(struct call_graph *g)
{
	if (g->count)
		qsort(g->edges, g->count, sizeof(*g->edges), by_callee);
}

void call_graph_release(struct call_graph *g)
{
	free(g->self);
	free(g->total);
	free(g->active);
	free(g->edges);
	map_release(&g->index);
	memset(g, 0, sizeof(*g));
}
