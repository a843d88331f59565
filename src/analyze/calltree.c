#include "analyze/calltree.h"

#include <stdlib.h>

#include "base/alloc.h"

void calltree_init(struct calltree *t)
{
	*t = (struct calltree){ .by_caller = MAP_INIT };
	ALLOC_GROW(t->nodes, 1, t->capacity);
	t->nodes[0] = (struct calltree_node){ .function = ID_NONE,
					      .parent = ID_NONE };
	t->n_nodes = 1;
}

void calltree_release(struct calltree *t)
{
	free(t->nodes);
	free(t->lines);
	map_release(&t->by_caller);
	map_release(&t->by_line);
}

/* How far up recursion is looked for. A path of so many different functions is
 * no program's; without the limit, a hostile recording could make us walk it
 * for each of its nodes. */
#define PATH_MAX_LEVELS 4096

static uint32_t find_on_path(const struct calltree *t, uint32_t node,
			     uint32_t function, bool python)
{
	for (int i = 0; i < PATH_MAX_LEVELS && node != ID_NONE; i++) {
		if (t->nodes[node].function == function)
			return node;
		if (t->nodes[node].python && !python)
			break;
		node = t->nodes[node].parent;
	}
	return ID_NONE;
}

static uint32_t add_node(struct calltree *t, uint32_t parent, uint32_t function,
			 bool python)
{
	uint32_t node = t->n_nodes++;

	ALLOC_GROW(t->nodes, t->n_nodes, t->capacity);
	t->nodes[node] = (struct calltree_node){ .function = function,
						 .parent = parent,
						 .python = python };
	return node;
}

uint32_t calltree_call(struct calltree *t, const struct reader *reader,
		       uint32_t parent, uint32_t function)
{
	uint32_t node = map_get(&t->by_caller, parent, function);
	bool python;

	if (node != MAP_NONE)
		return node;
	python = reader_function(reader, function)->kind == FUNCTION_PYTHON;
	node = find_on_path(t, parent, function, python);
	if (node != ID_NONE)
		t->nodes[node].recursive = true;
	else
		node = add_node(t, parent, function, python);
	map_put(&t->by_caller, parent, function, node);
	return node;
}

static void add_self(struct calltree *t, uint32_t node, uint32_t line,
		     uint64_t samples)
{
	struct calltree_node *n = &t->nodes[node];
	uint32_t i = map_get(&t->by_line, node, line);

	if (!samples)
		return;
	if (i == MAP_NONE) {
		i = t->n_lines++;
		ALLOC_GROW(t->lines, t->n_lines, t->lines_capacity);
		t->lines[i] = 0;
		map_put(&t->by_line, node, line, i);
	}
	n->self += samples;
	t->lines[i] += samples;
	if (t->lines[i] > n->line_samples) {
		n->line = line;
		n->line_samples = t->lines[i];
	}
}

void calltree_add(struct calltree *t, const struct spread *s)
{
	uint32_t *place =
		xreallocarray(NULL, reader_nodes(s->reader), sizeof(*place));

	/* From the roots: a parent's place is known before its children's. */
	for (uint32_t i = s->n_nodes; i-- > 0;) {
		uint32_t node = s->nodes[i];
		struct node_info info = reader_node(s->reader, node);
		struct frame_info frame = reader_frame(s->reader, info.frame);
		uint32_t above =
			info.parent == ID_NONE ? 0 : place[info.parent];

		place[node] =
			calltree_call(t, s->reader, above, frame.function);
		add_self(t, place[node], frame.line, s->self[node]);
	}
	t->nodes[0].self += s->no_stack;
	free(place);
}

void calltree_sum(struct calltree *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		t->nodes[i].total = t->nodes[i].self;
	for (uint32_t i = t->n_nodes; i-- > 1;)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}
