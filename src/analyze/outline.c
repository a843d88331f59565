/* From a call tree to the lines of an outline, in three steps: calls become
 * items (folding puts many calls into one item), items are ordered and the
 * light ones dropped, what is left is written out depth first. Both trees are
 * arrays in which a parent comes before its children, so each step is a loop;
 * nothing recurses, however deep a hostile recording makes its stacks. */
#include "analyze/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/map.h"

/* Below this share of samples with user's code, library code is not folded. */
#define LEAST_USER_SHARE 0.1

/* A call with this share of its caller's time only leads on to what is below.
 */
#define LEADS_ON 0.9

/* Packages told apart in what one line hides; any further one goes unnamed. */
#define PACKAGES_MAX 64

struct item {
	uint32_t function;
	uint32_t parent;
	uint32_t first_child, next; /* heaviest first */
	uint32_t hidden;	    /* calls folded into it */
	bool recursive, shown;
	uint32_t line; /* where most of `self` was */
	uint64_t line_samples;
	uint64_t self, total;
	uint32_t packages; /* of the hidden calls: first of a list */
	uint32_t n_packages;
};

/* A package of hidden calls: a list per item. */
struct package {
	const char *name;
	uint64_t samples;
	uint32_t next;
};

struct making {
	const struct calltree *tree;
	const struct reader *reader;
	struct arena *arena;
	bool *library;		 /* by function */
	const char **package_of; /* by function; NULL until asked for */
	uint32_t *item_of;	 /* by node of the tree */
	struct item *items;	 /* [0] is the root */
	uint32_t n_items, capacity;
	struct map by_call; /* (parent item, function) */
	struct package *packages;
	uint32_t n_packages, packages_capacity;
	struct weight *weights; /* of all items, the heaviest last */
	bool folding;
};

struct weight {
	uint64_t total;
	uint32_t item;
};

static bool is_library(const struct making *m, uint32_t node)
{
	uint32_t function = m->tree->nodes[node].function;

	return function != ID_NONE && m->library[function];
}

static void classify(struct making *m)
{
	uint32_t n = reader_functions(m->reader);

	m->library = xcalloc(n, sizeof(*m->library));
	m->package_of = xcalloc(n, sizeof(*m->package_of));
	for (uint32_t i = 0; i < n; i++)
		m->library[i] =
			origin_is_library(reader_function(m->reader, i));
}

/* Samples with user's code anywhere in their stack. */
static uint64_t user_samples(const struct making *m)
{
	const struct calltree *t = m->tree;
	bool *seen = xcalloc(t->n_nodes, sizeof(*seen));
	uint64_t samples = 0;

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		bool above = seen[t->nodes[i].parent];

		seen[i] = above || !is_library(m, i);
		if (seen[i] && !above)
			samples += t->nodes[i].total;
	}
	free(seen);
	return samples;
}

static uint32_t add_item(struct making *m, struct item item)
{
	uint32_t index = m->n_items++;

	ALLOC_GROW(m->items, m->n_items, m->capacity);
	item.first_child = item.next = item.packages = ID_NONE;
	m->items[index] = item;
	return index;
}

static uint32_t call_item(struct making *m, uint32_t parent, uint32_t function)
{
	uint32_t index = map_get(&m->by_call, parent, function);

	if (index != MAP_NONE)
		return index;
	index = add_item(m, (struct item){ .function = function,
					   .parent = parent });
	map_put(&m->by_call, parent, function, index);
	return index;
}

static const char *package_name(struct making *m, uint32_t function)
{
	struct buffer name = BUFFER_INIT;

	if (!m->package_of[function]) {
		origin_package(reader_function(m->reader, function), &name);
		m->package_of[function] =
			arena_strdup(m->arena, buffer_text(&name));
		buffer_release(&name);
	}
	return m->package_of[function];
}

static void add_package(struct making *m, struct item *item, const char *name,
			uint64_t samples)
{
	uint32_t i = item->packages;

	if (!*name)
		return;
	while (i != ID_NONE && strcmp(m->packages[i].name, name))
		i = m->packages[i].next;
	if (i == ID_NONE) {
		if (item->n_packages++ >= PACKAGES_MAX)
			return;
		i = m->n_packages++;
		ALLOC_GROW(m->packages, m->n_packages, m->packages_capacity);
		m->packages[i] = (struct package){ name, 0, item->packages };
		item->packages = i;
	}
	m->packages[i].samples += samples;
}

static uint32_t place_node(struct making *m, uint32_t node)
{
	const struct calltree_node *n = &m->tree->nodes[node];
	uint32_t above = m->item_of[n->parent];

	if (!m->folding || !is_library(m, node) || !is_library(m, n->parent))
		return call_item(m, above, n->function);
	m->items[above].hidden++;
	add_package(m, &m->items[above], package_name(m, n->function), n->self);
	return above;
}

static void make_items(struct making *m)
{
	const struct calltree *t = m->tree;

	m->item_of = xcalloc(t->n_nodes, sizeof(*m->item_of));
	m->item_of[0] =
		add_item(m, (struct item){ .function = t->nodes[0].function,
					   .parent = ID_NONE });
	m->items[0].self = t->nodes[0].self;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		struct item *item;

		m->item_of[i] = place_node(m, i);
		item = &m->items[m->item_of[i]];
		item->self += t->nodes[i].self;
		if (t->nodes[i].line_samples > item->line_samples) {
			item->line = t->nodes[i].line;
			item->line_samples = t->nodes[i].line_samples;
		}
		if (item->function == t->nodes[i].function)
			item->recursive |= t->nodes[i].recursive;
	}
	for (uint32_t i = m->n_items; i-- > 0;) {
		struct item *item = &m->items[i];

		item->total += item->self;
		if (item->parent != ID_NONE)
			m->items[item->parent].total += item->total;
	}
}

static int lightest_first(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->item < y->item ? 1 : -1;
}

/* Choose what is shown, from the heaviest on: what weighs `least`, and of that
 * `limit` items. A call that takes nearly all of its caller's time only leads
 * on and is not counted unless `exact`, else the limit would cut paths before
 * their end. An item is never heavier than its parent and comes after it among
 * equals, so that what is chosen is a tree, and of siblings the first ones. */
static void choose_items(struct making *m, double least, uint64_t limit,
			 bool exact)
{
	uint64_t counted = 0, shown = 0, most = exact ? limit : 4 * limit;

	for (uint32_t i = 0; i < m->n_items; i++)
		m->items[i].shown = !i;
	for (uint32_t i = m->n_items - 1; i-- > 0;) {
		struct item *item = &m->items[m->weights[i].item];
		const struct item *parent = &m->items[item->parent];

		if ((double)item->total < least || shown == most)
			return;
		if ((double)item->total < LEADS_ON * (double)parent->total &&
		    ++counted > limit)
			return;
		item->shown = parent->shown;
		shown++;
	}
}

static void order_items(struct making *m)
{
	struct weight *w = xcalloc(m->n_items, sizeof(*w));

	m->weights = w;
	for (uint32_t i = 0; i < m->n_items; i++)
		w[i] = (struct weight){ m->items[i].total, i };
	qsort(w, m->n_items, sizeof(*w), lightest_first);
	for (uint32_t i = 0; i < m->n_items; i++) {
		struct item *item = &m->items[w[i].item];

		if (item->parent == ID_NONE)
			continue;
		item->next = m->items[item->parent].first_child;
		m->items[item->parent].first_child = w[i].item;
	}
}

/* The heaviest of the packages that a line hides, heaviest first. */
static void name_packages(const struct making *m, const struct item *item,
			  struct outline_line *line)
{
	uint64_t weights[OUTLINE_PACKAGES] = { 0 };
	uint32_t i = item->packages;

	for (; i != ID_NONE; i = m->packages[i].next) {
		const struct package *p = &m->packages[i];
		int k = OUTLINE_PACKAGES;

		while (k > 0 &&
		       (!line->packages[k - 1] || weights[k - 1] <= p->samples))
			k--;
		for (int j = OUTLINE_PACKAGES - 1; j > k; j--) {
			line->packages[j] = line->packages[j - 1];
			weights[j] = weights[j - 1];
		}
		if (k < OUTLINE_PACKAGES) {
			line->packages[k] = p->name;
			weights[k] = p->samples;
		}
	}
}

/* The writing of lines: a stack of items whose children are being written. */
struct emitting {
	struct making *m;
	struct outline *out;
	uint32_t capacity;
	double least; /* samples of a line for self time or for a rest */
};

static struct outline_line *add_line(struct emitting *e,
				     struct outline_line line)
{
	ALLOC_GROW(e->out->lines, e->out->n_lines + 1, e->capacity);
	e->out->lines[e->out->n_lines] = line;
	return &e->out->lines[e->out->n_lines++];
}

/* The line that most of an item's own time was spent on, if there is one and
 * the time is of one function only. */
static uint32_t self_line(const struct item *item)
{
	return item->hidden || item->line_samples * 2 <= item->self
		       ? 0
		       : item->line;
}

static void emit_item(struct emitting *e, uint32_t index, uint32_t depth)
{
	const struct item *item = &e->m->items[index];
	struct outline_line *line =
		add_line(e, (struct outline_line){
				    .kind = OUTLINE_CALL,
				    .depth = depth,
				    .recursive = item->recursive,
				    .library = e->m->library[item->function],
				    .function = item->function,
				    .hidden = item->hidden,
				    .line = self_line(item),
				    .samples = item->total,
				    .self = item->self,
			    });

	if (item->hidden)
		name_packages(e->m, item, line);
}

static void emit_self(struct emitting *e, uint32_t index, uint32_t depth)
{
	const struct item *item = &e->m->items[index];

	add_line(e, (struct outline_line){
			    .kind = OUTLINE_SELF,
			    .depth = depth,
			    .function = item->function,
			    .library = item->function != ID_NONE &&
				       e->m->library[item->function],
			    .hidden = item->hidden,
			    .line = self_line(item),
			    .samples = item->self,
			    .self = item->self,
		    });
}

/* What an item's children leave out: a line of its own if it weighs enough and
 * is not all there is. */
static void emit_rest(struct emitting *e, uint32_t parent, uint32_t depth)
{
	struct outline_line rest = { .kind = OUTLINE_REST,
				     .depth = depth,
				     .function = ID_NONE };
	uint32_t first = e->m->items[parent].first_child;
	struct outline *out = e->out;

	for (uint32_t i = first; i != ID_NONE; i = e->m->items[i].next) {
		uint64_t total = e->m->items[i].total;

		if (e->m->items[i].shown || !total)
			continue; /* 0: of folded recursion */
		rest.count++;
		rest.samples += total;
		if (total > out->largest)
			out->largest = total;
	}
	out->branches += rest.count;
	if ((double)rest.samples >= e->least && e->m->items[first].shown)
		add_line(e, rest);
}

static bool shows_self(const struct emitting *e, const struct item *item)
{
	uint32_t first = item->first_child;

	return (double)item->self >= e->least &&
	       (item->parent == ID_NONE ||
		(first != ID_NONE && e->m->items[first].shown));
}

/* Depth first: `open` is the item whose children are written, `next` the child
 * to come, and an item's self time stands among its children by its weight. */
struct level {
	uint32_t item, next;
	bool self_due;
};

static void open_level(struct level *level, const struct emitting *e,
		       uint32_t item)
{
	const struct item *i = &e->m->items[item];

	*level = (struct level){ item, i->first_child, shows_self(e, i) };
}

static void emit_lines(struct emitting *e)
{
	struct level *levels = NULL;
	size_t depth = 1, capacity = 0;

	ALLOC_GROW(levels, 1, capacity);
	open_level(&levels[0], e, 0);
	while (depth) {
		struct level *at = &levels[depth - 1];
		const struct item *item = &e->m->items[at->item];
		uint32_t child = at->next;
		uint64_t weight =
			child == ID_NONE ? 0 : e->m->items[child].total;

		if (at->self_due && item->self >= weight) {
			emit_self(e, at->item, (uint32_t)depth - 1);
			at->self_due = false;
		} else if (child != ID_NONE && e->m->items[child].shown) {
			emit_item(e, child, (uint32_t)depth - 1);
			at->next = e->m->items[child].next;
			ALLOC_GROW(levels, depth + 1, capacity);
			open_level(&levels[depth++], e, child);
		} else {
			emit_rest(e, at->item, (uint32_t)depth - 1);
			depth--;
		}
	}
	free(levels);
}

/* Emit again, with `limit` items. */
static uint32_t emit_items(struct emitting *e, uint64_t limit, bool exact)
{
	e->out->n_lines = e->out->branches = 0;
	e->out->largest = 0;
	choose_items(e->m, e->least, limit, exact);
	emit_lines(e);
	return e->out->n_lines;
}

/* As many items as make at most `limit` lines: with an item more there is never
 * a line less. */
static void emit_within(struct emitting *e, uint32_t limit)
{
	uint32_t low = 1, high = limit;

	if (high >= e->m->n_items)
		high = e->m->n_items;
	while (low < high) {
		uint32_t middle = high - (high - low) / 2;

		if (emit_items(e, middle, true) <= limit)
			low = middle;
		else
			high = middle - 1;
	}
	if (emit_items(e, low, true) > limit)
		e->out->n_lines = limit;
}

static void emit_all(struct emitting *e, const struct outline_options *o)
{
	e->least = fmax(o->least * (double)e->out->samples, 1);
	if (o->exact && o->limit)
		emit_within(e, o->limit);
	else
		emit_items(e, o->limit ? o->limit : UINT32_MAX, false);
}

/* A line is its parent's last when no later line of its depth comes before one
 * of a smaller depth: seen from the end. */
static void mark_last(struct outline *out)
{
	bool *later = NULL;
	size_t capacity = 0, known = 0;

	for (uint32_t i = out->n_lines; i-- > 0;) {
		struct outline_line *line = &out->lines[i];

		ALLOC_GROW(later, line->depth + 1, capacity);
		for (; known <= line->depth; known++)
			later[known] = false;
		line->last = !later[line->depth];
		later[line->depth] = true;
		known = line->depth + 1;
	}
	free(later);
}

static void keep_lines(struct outline *out, struct arena *arena)
{
	size_t size = out->n_lines * sizeof(*out->lines);
	struct outline_line *lines = arena_alloc(arena, size + 1);

	if (size)
		memcpy(lines, out->lines, size);
	free(out->lines);
	out->lines = lines;
}

void outline_make(struct outline *out, const struct calltree *tree,
		  const struct reader *reader,
		  const struct outline_options *options, struct arena *arena)
{
	struct making m = { .tree = tree, .reader = reader, .arena = arena };
	struct emitting e = { .m = &m, .out = out };

	*out = (struct outline){ .samples = tree->nodes[0].total };
	classify(&m);
	m.folding = !options->unfolded &&
		    (double)user_samples(&m) >=
			    LEAST_USER_SHARE * (double)out->samples;
	make_items(&m);
	order_items(&m);
	emit_all(&e, options);
	mark_last(out);
	keep_lines(out, arena);
	free(m.library);
	free(m.package_of);
	free(m.item_of);
	free(m.items);
	free(m.weights);
	free(m.packages);
	map_release(&m.by_call);
}
