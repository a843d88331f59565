#include "format/boxes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Tree nodes sorted so that siblings are together, the widest first. As a
 * parent's number is smaller than its children's, so is its place here. */
struct sibling {
	uint32_t parent, node;
	uint64_t total;
};

struct arranging {
	const struct function_tree *tree;
	uint64_t narrowest;
	uint32_t max_rows;
	struct sibling *siblings; /* all nodes but the root */
	uint32_t *first;	  /* by node: its first child in `siblings` */
	uint32_t *rows;		  /* by node */
	uint64_t *starts;	  /* by node */
};

static int compare_siblings(const void *x, const void *y)
{
	const struct sibling *a = x, *b = y;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void sort_siblings(struct arranging *a)
{
	uint32_t n = a->tree->count - 1;

	a->siblings = xcalloc((size_t)n + 1, sizeof(*a->siblings));
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_node *node = &a->tree->nodes[i + 1];

		a->siblings[i] =
			(struct sibling){ node->parent, i + 1, node->total };
	}
	qsort(a->siblings, n, sizeof(*a->siblings), compare_siblings);
}

/* Rows, starts and first children, each parent before its children. */
static void place_nodes(struct arranging *a)
{
	size_t n = a->tree->count;
	uint64_t right = 0; /* where the next sibling starts */

	a->first = xcalloc(n + 1, sizeof(*a->first));
	a->rows = xcalloc(n + 1, sizeof(*a->rows));
	a->starts = xcalloc(n + 1, sizeof(*a->starts));
	memset(a->first, 0xff, (n + 1) * sizeof(*a->first));
	for (uint32_t i = 0; i + 1 < n; i++) {
		const struct sibling *s = &a->siblings[i];

		if (a->first[s->parent] == ID_NONE) {
			a->first[s->parent] = i;
			right = a->starts[s->parent];
		}
		a->rows[s->node] = a->rows[s->parent] + 1;
		a->starts[s->node] = right;
		right += s->total;
	}
}

static bool is_drawn(const struct arranging *a, uint32_t node)
{
	return !node || (a->tree->nodes[node].total >= a->narrowest &&
			 a->rows[node] < a->max_rows);
}

static uint32_t count_drawn(const struct arranging *a)
{
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < a->tree->count; i++)
		drawn += is_drawn(a, i);
	return drawn;
}

static void draw(const struct arranging *a, struct boxes *b, uint32_t node)
{
	b->items[b->count++] = (struct box){
		.node = node,
		.row = a->rows[node],
		.start = a->starts[node],
	};
	if (a->rows[node] + 1 > b->rows)
		b->rows = a->rows[node] + 1;
}

/* Depth first with an array for a stack: siblings yet to come, by their place
 * in `siblings`, one for each row. */
static void draw_all(const struct arranging *a, struct boxes *b)
{
	uint32_t *next = xcalloc((size_t)a->max_rows + 2, sizeof(*next));
	uint32_t depth = 1, n = a->tree->count - 1, parent = 0;

	draw(a, b, 0);
	next[1] = a->first[0];
	while (depth) {
		uint32_t i = next[depth];

		if (i >= n || a->siblings[i].parent != parent ||
		    !is_drawn(a, a->siblings[i].node)) {
			/* no more: the rest is narrower still */
			depth--;
			parent = depth ? a->tree->nodes[parent].parent : 0;
			continue;
		}
		next[depth]++;
		parent = a->siblings[i].node;
		draw(a, b, parent);
		next[++depth] = a->first[parent];
	}
	free(next);
}

void boxes_arrange(struct boxes *b, const struct function_tree *tree,
		   const struct boxes_limits *limits)
{
	struct arranging a = {
		.tree = tree,
		.narrowest = limits->narrowest ? limits->narrowest : 1,
		.max_rows = limits->rows,
	};
	uint32_t drawn;

	sort_siblings(&a);
	place_nodes(&a);
	while ((drawn = count_drawn(&a)) > limits->most &&
	       a.narrowest < tree->nodes[0].total)
		a.narrowest += a.narrowest / 4 + 1;
	b->items = xcalloc(drawn, sizeof(*b->items));
	b->left_out = tree->count - drawn;
	draw_all(&a, b);
	free(a.siblings);
	free(a.first);
	free(a.rows);
	free(a.starts);
}

void boxes_release(struct boxes *b)
{
	free(b->items);
	memset(b, 0, sizeof(*b));
}
