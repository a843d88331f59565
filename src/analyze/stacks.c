#include "analyze/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct forest {
	const struct reader *reader;
	uint32_t first_root;
	uint32_t *first_child, *next; /* ID_NONE: no more */
};

static void forest_init(struct forest *f, const struct reader *reader)
{
	uint32_t n = reader_nodes(reader);

	f->reader = reader;
	f->first_root = ID_NONE;
	f->first_child = xreallocarray(NULL, n, sizeof(uint32_t));
	f->next = xreallocarray(NULL, n, sizeof(uint32_t));
	memset(f->first_child, 0xff, n * sizeof(uint32_t));
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = reader_node(reader, i).parent;
		uint32_t *head = parent == ID_NONE ? &f->first_root
						   : &f->first_child[parent];

		f->next[i] = *head;
		*head = i;
	}
}

static void forest_release(struct forest *f)
{
	free(f->first_child);
	free(f->next);
}

/* The walk: which keys are open on the way from the root to here. */
struct walk {
	const uint32_t *key_of_frame;
	uint32_t *open; /* by key */
	bool *outermost;
};

static void enter(struct walk *w, const struct forest *f, uint32_t node)
{
	uint32_t frame = reader_node(f->reader, node).frame;
	uint32_t key = w->key_of_frame[frame];

	if (key != ID_NONE)
		w->outermost[node] = w->open[key]++ == 0;
}

static void leave(struct walk *w, const struct forest *f, uint32_t node)
{
	uint32_t frame = reader_node(f->reader, node).frame;
	uint32_t key = w->key_of_frame[frame];

	if (key != ID_NONE)
		w->open[key]--;
}

/* Depth first by the parent links, for stacks may be deeper than ours. */
static void walk_forest(struct walk *w, const struct forest *f)
{
	uint32_t node = f->first_root;

	while (node != ID_NONE) {
		enter(w, f, node);
		if (f->first_child[node] != ID_NONE) {
			node = f->first_child[node];
			continue;
		}
		for (;;) {
			leave(w, f, node);
			if (f->next[node] != ID_NONE) {
				node = f->next[node];
				break;
			}
			node = reader_node(f->reader, node).parent;
			if (node == ID_NONE)
				return;
		}
	}
}

bool *stacks_outermost(const struct reader *reader,
		       const uint32_t *key_of_frame, uint32_t n_keys,
		       struct arena *arena)
{
	struct walk w = {
		.key_of_frame = key_of_frame,
		.open = xcalloc(n_keys, sizeof(uint32_t)),
		.outermost = arena_calloc(arena, reader_nodes(reader) + 1,
					  sizeof(bool)),
	};
	struct forest f;

	forest_init(&f, reader);
	walk_forest(&w, &f);
	forest_release(&f);
	free(w.open);
	return w.outermost;
}
