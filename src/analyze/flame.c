#include "analyze/flame.h"

#include <stdlib.h>

#include "analyze/origin.h"
#include "base/alloc.h"

/* What is narrower than a part in so many is not followed further: most of the
 * stacks of a large recording are in boxes that nobody could see. */
#define PARTS 20000
/* In an inverted tree, callers further away are not told apart. */
#define INVERTED_LEVELS 1024

/* A stack on its way from its leaf to its root. */
struct strand {
	uint32_t at;	/* the next node of the recording; ID_NONE: no more */
	uint32_t place; /* where the ones before it have led in the tree */
	uint64_t samples;
};

struct building {
	struct flame *flame;
	const struct reader *reader;
	bool *library;	 /* by function; NULL: nothing is folded */
	uint32_t *place; /* by node of the recording: where it is */
	uint32_t *depth; /* by node */
	uint32_t *order; /* nodes, those of a level together */
	uint64_t narrow; /* samples */
	uint64_t *gc;	 /* by node: of its own samples, collecting; or NULL */
	struct strand *strands;
	uint32_t n_strands, capacity;
};

static uint32_t add_node(struct flame *f, uint32_t parent, enum flame_kind kind,
			 uint32_t id)
{
	uint32_t node = f->n_nodes++;

	ALLOC_GROW(f->nodes, f->n_nodes, f->capacity);
	f->nodes[node] =
		(struct flame_node){ .parent = parent, .kind = kind, .id = id };
	return node;
}

uint32_t flame_child(struct flame *f, uint32_t parent, enum flame_kind kind,
		     uint32_t id)
{
	uint64_t word = flame_path_word(kind, id);
	uint32_t node = map_get(&f->by_caller, parent, word);

	if (node == MAP_NONE) {
		node = add_node(f, parent, kind, id);
		map_put(&f->by_caller, parent, word, node);
	}
	return node;
}

void flame_init(struct flame *f)
{
	*f = (struct flame){ .by_caller = MAP_INIT };
	add_node(f, ID_NONE, FLAME_ROOT, 0);
}

static uint32_t function_of(const struct reader *reader, uint32_t node)
{
	return reader_frame(reader, reader_node(reader, node).frame).function;
}

static bool is_library(const struct building *b, const struct flame_node *n)
{
	return n->kind == FLAME_FUNCTION && b->library[n->id];
}

/* Where a call of `function` from `parent` goes. */
static uint32_t call(struct building *b, uint32_t parent, uint32_t function)
{
	if (b->library && b->library[function] &&
	    is_library(b, &b->flame->nodes[parent]))
		return parent;
	return flame_child(b->flame, parent, FLAME_FUNCTION, function);
}

static uint64_t gc_of(const struct building *b, uint32_t node)
{
	return b->gc ? b->gc[node] : 0;
}

/* Samples of something below a place. The child comes first: to make it may
 * move the nodes. */
static void add_below(struct flame *f, uint32_t place, enum flame_kind kind,
		      uint64_t samples)
{
	uint32_t child;

	if (!samples)
		return;
	child = flame_child(f, place, kind, 0);
	f->nodes[child].self += samples;
}

/* Nodes come level by level, so that it is known how wide the caller is. What a
 * narrow one calls becomes time of its own. */
static void add_stack(struct building *b, uint32_t base, uint32_t node,
		      uint64_t self, uint64_t total)
{
	struct flame *f = b->flame;
	uint32_t parent = reader_node(b->reader, node).parent;
	uint32_t above = parent == ID_NONE ? base : b->place[parent];
	uint32_t place = above;

	if (above == base || f->nodes[above].total >= b->narrow)
		place = call(b, above, function_of(b->reader, node));
	b->place[node] = place;
	f->nodes[place].self += self - gc_of(b, node);
	if (place != above)
		f->nodes[place].total += total;
	/* Collecting garbage is no function, but a box of its own. */
	add_below(f, place, FLAME_GC, gc_of(b, node));
}

/* The outermost frame of the library code that a frame is in; of the user's own
 * code, the frame itself. Read from outside, that is the call that stays. */
static uint32_t folded(const struct building *b, uint32_t node)
{
	uint32_t parent;

	if (!b->library || !b->library[function_of(b->reader, node)])
		return node;
	while ((parent = reader_node(b->reader, node).parent) != ID_NONE &&
	       b->library[function_of(b->reader, parent)])
		node = parent;
	return node;
}

/* Inverted trees grow level by level from all leaves at once. To walk every
 * stack to its root would cost stacks times depth, nearly all of it for boxes
 * too narrow to be seen: what is narrow ends where it is. */
static void push_strand(struct building *b, uint32_t base, uint32_t node,
			uint64_t samples)
{
	ALLOC_GROW(b->strands, b->n_strands + 1, b->capacity);
	b->strands[b->n_strands++] = (struct strand){ node, base, samples };
}

static void add_strand(struct building *b, uint32_t base, uint32_t node,
		       uint64_t self, uint64_t total)
{
	uint64_t gc = gc_of(b, node);

	if (self > gc)
		push_strand(b, base, node, self - gc);
	if (gc)
		push_strand(b, flame_child(b->flame, base, FLAME_GC, 0), node,
			    gc);
}

/* Add one more caller to every strand; `total` is that of the level so far. */
static void grow_strands(struct building *b)
{
	for (uint32_t i = 0; i < b->n_strands; i++) {
		struct strand *s = &b->strands[i];
		uint32_t at = folded(b, s->at);

		s->place = flame_child(b->flame, s->place, FLAME_FUNCTION,
				       function_of(b->reader, at));
		s->at = reader_node(b->reader, at).parent;
		b->flame->nodes[s->place].total += s->samples;
	}
}

/* Keep the strands that have more callers and are wide enough. */
static void end_strands(struct building *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->n_strands; i++) {
		struct strand s = b->strands[i];
		struct flame_node *n = &b->flame->nodes[s.place];

		if (s.at == ID_NONE || n->total < b->narrow)
			n->self += s.samples;
		else
			b->strands[kept++] = s;
	}
	b->n_strands = kept;
}

static void invert(struct building *b)
{
	for (int i = 0; i < INVERTED_LEVELS && b->n_strands; i++) {
		grow_strands(b);
		end_strands(b);
	}
	for (uint32_t i = 0; i < b->n_strands; i++)
		b->flame->nodes[b->strands[i].place].self +=
			b->strands[i].samples;
	free(b->strands);
}

typedef void add_fn(struct building *b, uint32_t base, uint32_t node,
		    uint64_t self, uint64_t total);

static void measure_depths(struct building *b, uint32_t n_nodes)
{
	b->depth = xreallocarray(NULL, n_nodes, sizeof(*b->depth));
	for (uint32_t i = 0; i < n_nodes; i++) {
		uint32_t parent = reader_node(b->reader, i).parent;

		b->depth[i] = parent == ID_NONE ? 0 : b->depth[parent] + 1;
	}
}

/* Order n nodes by depth, keeping it among equals: count, add up, place. */
static void order_nodes(struct building *b, const uint32_t *nodes, uint32_t n)
{
	uint32_t deepest = 0, *starts;

	for (uint32_t i = 0; i < n; i++)
		if (b->depth[nodes[i]] > deepest)
			deepest = b->depth[nodes[i]];
	starts = xcalloc((size_t)deepest + 2, sizeof(*starts));
	for (uint32_t i = 0; i < n; i++)
		starts[b->depth[nodes[i]] + 1]++;
	for (uint32_t i = 0; i <= deepest; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 0; i < n; i++)
		b->order[starts[b->depth[nodes[i]]]++] = nodes[i];
	free(starts);
}

/* Say what of each node was garbage collection: in one thread, or ID_NONE: in
 * all. Undone by a second call with `sign` -1. */
static void count_gc(struct building *b, const struct profile *p,
		     uint32_t thread, int sign)
{
	for (uint32_t i = 0; b->gc && i < p->n_gc; i++)
		if (thread == ID_NONE || p->gc[i].thread == thread)
			b->gc[p->gc[i].node] +=
				(uint64_t)sign * p->gc[i].samples;
}

static void add_together(struct building *b, const struct profile *p,
			 add_fn *add)
{
	uint32_t *nodes = xreallocarray(NULL, p->n_nodes, sizeof(*nodes));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_nodes; i++)
		if (p->total[i])
			nodes[n++] = i;
	order_nodes(b, nodes, n);
	free(nodes);
	count_gc(b, p, ID_NONE, 1);
	for (uint32_t i = 0; i < n; i++)
		add(b, 0, b->order[i], p->self[b->order[i]],
		    p->total[b->order[i]]);
	add_below(b->flame, 0, FLAME_NO_STACK, p->no_stack);
}

static void add_threads(struct building *b, const struct profile *p,
			const struct tally *tally, add_fn *add)
{
	struct spread spread;

	spread_init(&spread, b->reader);
	for (uint32_t t = 0; t < tally->n_threads; t++) {
		uint32_t base;

		if (!tally->threads[t].samples)
			continue;
		base = flame_child(b->flame, 0, FLAME_THREAD, t);
		spread_add(&spread, &tally->threads[t]);
		spread_sum(&spread);
		order_nodes(b, spread.nodes, spread.n_nodes);
		count_gc(b, p, t, 1);
		for (uint32_t i = 0; i < spread.n_nodes; i++)
			add(b, base, b->order[i], spread.self[b->order[i]],
			    spread.total[b->order[i]]);
		add_below(b->flame, base, FLAME_NO_STACK, spread.no_stack);
		count_gc(b, p, t, -1);
		spread_clear(&spread);
	}
	spread_release(&spread);
}

static bool *find_library(const struct reader *reader)
{
	uint32_t n = reader_functions(reader);
	bool *library = xcalloc(n, sizeof(*library));

	for (uint32_t i = 0; i < n; i++)
		library[i] = origin_is_library(reader_function(reader, i));
	return library;
}

static void sum(struct flame *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].total = f->nodes[i].self;
	for (uint32_t i = f->n_nodes; i-- > 1;)
		f->nodes[f->nodes[i].parent].total += f->nodes[i].total;
}

static bool is_wider(const struct flame_node *nodes, uint32_t a, uint32_t b)
{
	if (nodes[a].total != nodes[b].total)
		return nodes[a].total > nodes[b].total;
	return a < b;
}

/* Most families are small: Shell's sort, which needs no context. */
static void sort_siblings(const struct flame_node *nodes, uint32_t *c,
			  uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			uint32_t moved = c[i], j = i;

			for (; j >= gap && is_wider(nodes, moved, c[j - gap]);
			     j -= gap)
				c[j] = c[j - gap];
			c[j] = moved;
		}
}

/* Lay siblings side by side: count, add up, place, sort. */
void flame_finish(struct flame *f)
{
	uint32_t *next = xcalloc((size_t)f->n_nodes + 1, sizeof(*next));

	f->first = xcalloc((size_t)f->n_nodes + 1, sizeof(*f->first));
	f->children = xcalloc(f->n_nodes, sizeof(*f->children));
	for (uint32_t i = 1; i < f->n_nodes; i++)
		f->first[f->nodes[i].parent + 1]++;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->first[i + 1] += f->first[i];
	for (uint32_t i = 1; i < f->n_nodes; i++) {
		uint32_t parent = f->nodes[i].parent;

		f->children[f->first[parent] + next[parent]++] = i;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		sort_siblings(f->nodes, f->children + f->first[i],
			      f->first[i + 1] - f->first[i]);
	free(next);
}

void flame_build(struct flame *f, const struct profile *p,
		 const struct tally *tally, const struct flame_options *options)
{
	struct building b = {
		.flame = f,
		.reader = p->reader,
		.library = options->mine ? find_library(p->reader) : NULL,
		.place = xreallocarray(NULL, p->n_nodes, sizeof(*b.place)),
		.order = xreallocarray(NULL, p->n_nodes, sizeof(*b.order)),
		.narrow = p->samples / PARTS,
		.gc = p->n_gc ? xcalloc(p->n_nodes, sizeof(*b.gc)) : NULL,
	};
	add_fn *add = options->inverted ? add_strand : add_stack;

	/* Folding brings levels together: how wide a caller is, is then known
	 * only at the end. */
	if (options->mine && !options->inverted)
		b.narrow = 0;
	flame_init(f);
	measure_depths(&b, p->n_nodes);
	if (options->threads)
		add_threads(&b, p, tally, add);
	else
		add_together(&b, p, add);
	invert(&b);
	sum(f);
	flame_finish(f);
	free(b.library);
	free(b.place);
	free(b.depth);
	free(b.order);
	free(b.gc);
}

/* A small tree on its way into a flame graph. Library code next to library
 * code is one box: the call that the user's code made. Outward that is only
 * known at the other end, so there a library's node waits below `anchor` until
 * it is clear that no further one follows. */
struct around {
	struct flame *flame;
	const struct calltree *tree;
	const bool *library; /* by function; NULL: nothing is folded */
	bool above;
	uint32_t *place, *anchor; /* by node of the tree */
};

static bool is_folded(const struct around *a, uint32_t i)
{
	return i && a->library && a->library[a->tree->nodes[i].function];
}

/* The box of a node, made when somebody needs it. */
static uint32_t settle(struct around *a, uint32_t i)
{
	if (a->place[i] == ID_NONE)
		a->place[i] =
			flame_child(a->flame, a->anchor[i], FLAME_FUNCTION,
				    a->tree->nodes[i].function);
	return a->place[i];
}

static void place_around(struct around *a, uint32_t i)
{
	uint32_t parent = a->tree->nodes[i].parent;
	bool joins = is_folded(a, i) && is_folded(a, parent);
	uint64_t self = a->tree->nodes[i].self;
	uint32_t place;

	a->place[i] = ID_NONE;
	if (!joins)
		a->anchor[i] = parent == ID_NONE ? 0 : settle(a, parent);
	else if (a->above)
		a->anchor[i] = a->anchor[parent];
	else
		a->place[i] = settle(a, parent);
	if (!self)
		return;
	place = settle(a, i); /* may move the nodes */
	a->flame->nodes[place].self += self;
}

void flame_around(struct flame *f, const struct profile *p,
		  const struct callers *callers, bool above, bool mine)
{
	const struct calltree *tree = above ? &callers->above : &callers->below;
	bool *library = mine ? find_library(p->reader) : NULL;
	struct around a = {
		.flame = f,
		.tree = tree,
		.library = library,
		.above = above,
		.place = xcalloc(tree->n_nodes, sizeof(*a.place)),
		.anchor = xcalloc(tree->n_nodes, sizeof(*a.anchor)),
	};

	flame_init(f);
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		place_around(&a, i);
	if (tree->n_nodes)
		settle(&a, 0);
	sum(f);
	flame_finish(f);
	free(a.place);
	free(a.anchor);
	free(library);
}

void flame_release(struct flame *f)
{
	free(f->nodes);
	free(f->children);
	free(f->first);
	map_release(&f->by_caller);
	*f = (struct flame){ 0 };
}

uint32_t flame_find(const struct flame *f, const uint64_t *path, size_t n)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++) {
		node = map_get(&f->by_caller, node, path[i]);
		if (node == MAP_NONE)
			return ID_NONE;
	}
	return node;
}

static void add_box(struct flame_boxes *b, uint32_t node, uint32_t depth,
		    uint64_t start)
{
	ALLOC_GROW(b->items, b->count + 1, b->capacity);
	b->items[b->count++] = (struct flame_box){ node, depth, start };
	if (depth > b->depth)
		b->depth = depth;
}

/* A level that is being laid out: its next child and where that one starts. */
struct level {
	uint32_t node, next;
	uint64_t start;
};

/* Levels live in a list of their own: stacks are as deep as they please. */
void flame_arrange(struct flame_boxes *b, const struct flame *f, uint32_t root,
		   uint64_t narrowest, uint32_t most)
{
	struct level *levels = NULL;
	uint32_t depth = 0, capacity = 0;

	*b = (struct flame_boxes)FLAME_BOXES_INIT;
	ALLOC_GROW(levels, 1, capacity);
	levels[0] = (struct level){ root, f->first[root], 0 };
	add_box(b, root, 0, 0);
	for (;;) {
		struct level *at = &levels[depth];
		uint32_t left = f->first[at->node + 1] - at->next, child;

		if (left && b->count < most &&
		    f->nodes[f->children[at->next]].total >= narrowest) {
			child = f->children[at->next++];
			add_box(b, child, depth + 1, at->start);
			ALLOC_GROW(levels, depth + 2, capacity);
			levels[depth + 1] =
				(struct level){ child, f->first[child],
						levels[depth].start };
			levels[depth++].start += f->nodes[child].total;
			continue;
		}
		b->left_out += left;
		if (!depth--)
			break;
	}
	free(levels);
}

void flame_boxes_release(struct flame_boxes *b)
{
	free(b->items);
	*b = (struct flame_boxes)FLAME_BOXES_INIT;
}
