#include "format/function_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/label.h"
#include "format/census.h"

void function_tree_init(struct function_tree *t, struct profile *p)
{
	memset(t, 0, sizeof(*t));
	t->profile = p;
	ALLOC_GROW(t->nodes, 1, t->capacity);
	t->nodes[0] = (struct tree_node){ .parent = ID_NONE };
	t->count = 1;
	t->places =
		xreallocarray(NULL, (size_t)p->n_nodes + 1, sizeof(*t->places));
	for (uint32_t i = 0; i < p->n_nodes; i++)
		t->places[i] = MAP_NONE;
}

void function_tree_release(struct function_tree *t)
{
	free(t->nodes);
	map_release(&t->children);
	map_release(&t->elsewhere);
	free(t->places);
	memset(t, 0, sizeof(*t));
}

static uint32_t child(struct function_tree *t, uint32_t parent,
		      enum tree_kind kind, uint32_t id)
{
	uint64_t key = (uint64_t)kind << 32 | id;
	uint32_t found = map_get(&t->children, parent, key);

	if (found != MAP_NONE)
		return found;
	ALLOC_GROW(t->nodes, t->count + 1, t->capacity);
	t->nodes[t->count] = (struct tree_node){
		.parent = parent,
		.kind = kind,
		.id = id,
	};
	map_put(&t->children, parent, key, t->count);
	return t->count++;
}

static uint32_t find_place(const struct function_tree *t, uint32_t base,
			   uint32_t node)
{
	return base ? map_get(&t->elsewhere, base, node) : t->places[node];
}

static void set_place(struct function_tree *t, uint32_t base, uint32_t node,
		      uint32_t place)
{
	if (base)
		map_put(&t->elsewhere, base, node, place);
	else
		t->places[node] = place;
}

/* Stacks may be 20,000 frames deep: up to the first node that is known, down
 * again with an array instead of recursion. */
uint32_t function_tree_place(struct function_tree *t, uint32_t base,
			     uint32_t node)
{
	struct reader *r = t->profile->reader;
	uint32_t *path = NULL;
	size_t n = 0, capacity = 0;
	uint32_t place = base;

	if (node == ID_NONE)
		return child(t, base, TREE_NO_STACK, 0);
	for (; node != ID_NONE; node = reader_node(r, node).parent) {
		uint32_t known = find_place(t, base, node);

		if (known != MAP_NONE) {
			place = known;
			break;
		}
		ALLOC_GROW(path, n + 1, capacity);
		path[n++] = node;
	}
	while (n--) {
		uint32_t frame = reader_node(r, path[n]).frame;

		place = child(t, place, TREE_FUNCTION,
			      reader_frame(r, frame).function);
		set_place(t, base, path[n], place);
	}
	free(path);
	return place;
}

static uint32_t place_thread(struct function_tree *t, uint32_t thread)
{
	uint32_t process = reader_thread(t->profile->reader, thread)->process;

	return child(t, child(t, 0, TREE_PROCESS, process), TREE_THREAD,
		     thread);
}

static void add_totals(struct function_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->nodes[i].total = t->nodes[i].self;
	for (uint32_t i = t->count - 1; i > 0; i--)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}

int function_tree_fill(struct function_tree *t, bool threads, struct error *err)
{
	struct census census = CENSUS_INIT;
	int status = census_fill(&census, t->profile, 0, err);

	for (uint32_t i = 0; !status && i < census.count; i++) {
		const struct census_entry *e = &census.entries[i];
		uint32_t base = threads ? place_thread(t, e->thread) : 0;
		uint32_t place = function_tree_place(t, base, e->node);

		t->nodes[place].self += e->samples;
	}
	add_totals(t);
	census_release(&census);
	return status;
}

const struct function_info *function_tree_function(
	const struct function_tree *t, uint32_t node)
{
	const struct tree_node *n = &t->nodes[node];

	return n->kind == TREE_FUNCTION
		       ? reader_function(t->profile->reader, n->id)
		       : NULL;
}

void function_tree_add_name(const struct function_tree *t, uint32_t node,
			    struct buffer *out)
{
	const struct tree_node *n = &t->nodes[node];
	const struct reader *r = t->profile->reader;

	switch (n->kind) {
	case TREE_ROOT:
		buffer_add_string(out, "all");
		break;
	case TREE_PROCESS:
		buffer_printf(out, "process %u:\"%s\"",
			      reader_process(r, n->id)->pid,
			      reader_process(r, n->id)->command);
		break;
	case TREE_THREAD:
		buffer_printf(out, "thread (%u): %s",
			      reader_thread(r, n->id)->tid,
			      label_thread(reader_thread(r, n->id)));
		break;
	case TREE_FUNCTION:
		buffer_add_string(out, reader_function(r, n->id)->name);
		break;
	case TREE_NO_STACK:
		buffer_add_string(out, LABEL_NO_STACK);
		break;
	}
}
