#include "sample/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void node_table_init(struct node_table *t, struct codes *codes,
		     struct writer *writer)
{
	memset(t, 0, sizeof(*t));
	t->codes = codes;
	t->writer = writer;
}

void node_table_release(struct node_table *t)
{
	map_release(&t->by_raw);
}

void node_path_release(struct node_path *p)
{
	free(p->frames);
	free(p->nodes);
	memset(p, 0, sizeof(*p));
}

/* Instruction and parent in one word. An instruction is an offset, or an
 * address near its code object; one in thread-local bytecode is neither and is
 * folded. */
static uint64_t raw_key(const struct raw_frame *f, uint32_t parent)
{
	uint64_t offset = f->instruction - f->code;

	if (f->instruction < f->code || offset > UINT32_MAX)
		offset = f->instruction <= UINT32_MAX
				 ? f->instruction
				 : map_hash(f->instruction, 0);
	return offset << 32 ^ offset >> 32 ^ parent;
}

static uint32_t find_node(struct node_table *t, const struct raw_frame *f,
			  uint32_t parent)
{
	uint64_t key = raw_key(f, parent);
	uint32_t node = map_get(&t->by_raw, f->code, key);

	if (node == MAP_NONE && codes_is_internal(t->codes, f))
		return parent;
	if (node == MAP_NONE) {
		node = writer_node(t->writer, parent, codes_frame(t->codes, f));
		map_put(&t->by_raw, f->code, key, node);
	}
	return node;
}

static bool same_frame(const struct raw_frame *a, const struct raw_frame *b)
{
	return a->instruction == b->instruction && a->code == b->code &&
	       a->frame == b->frame;
}

/* How many frames from the root on are as they were. */
static uint32_t common_part(const struct node_path *p,
			    const struct stack *stack)
{
	uint32_t n = stack->n_frames < p->count ? stack->n_frames : p->count;
	uint32_t i = 0;

	while (i < n && same_frame(&p->frames[i],
				   &stack->frames[stack->n_frames - 1 - i]))
		i++;
	return i;
}

static void path_reserve(struct node_path *p, uint32_t n)
{
	if (n <= p->capacity)
		return;
	p->capacity = n + n / 2 + 16;
	p->frames = xreallocarray(p->frames, p->capacity, sizeof(*p->frames));
	p->nodes = xreallocarray(p->nodes, p->capacity, sizeof(*p->nodes));
}

static uint64_t counted(uint64_t generation)
{
	return generation & NODE_NOT_COUNTED ? 0 : generation;
}

uint32_t node_of_stack(struct node_table *t, struct node_path *p,
		       const struct stack *stack, uint64_t generation)
{
	uint32_t n = stack->n_frames, i;

	if (p->epoch != t->epoch || p->generation != generation)
		p->count = 0;
	if (n && p->count == n && p->walk == stack->walk)
		i = n - 1 + same_frame(&p->frames[n - 1], &stack->frames[0]);
	else
		i = common_part(p, stack);
	if (i < n &&
	    codes_check(t->codes, stack->frames, n - i, counted(generation))) {
		map_clear(&t->by_raw);
		t->epoch++;
		i = 0;
	}
	p->epoch = t->epoch;
	p->generation = generation;
	p->walk = stack->walk;
	path_reserve(p, n);
	for (; i < n; i++) {
		p->frames[i] = stack->frames[n - 1 - i];
		p->nodes[i] = find_node(t, &p->frames[i],
					i ? p->nodes[i - 1] : ID_NONE);
	}
	p->count = n;
	return n ? p->nodes[n - 1] : ID_NONE;
}

/* ---- stacks with native frames ---- */

void merged_path_release(struct merged_path *p)
{
	free(p->frames);
	free(p->nodes);
	free(p->changed);
	memset(p, 0, sizeof(*p));
}

static bool same_merged(const struct merged_frame *a,
			const struct merged_frame *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind != MERGED_PYTHON)
		return a->address == b->address && a->module == b->module;
	return a->python.instruction == b->python.instruction &&
	       a->python.code == b->python.code &&
	       a->python.frame == b->python.frame;
}

static uint32_t common_merged(const struct merged_path *p,
			      const struct merged *stack)
{
	uint32_t n = stack->count < p->count ? stack->count : p->count;
	uint32_t i = 0;

	while (i < n && same_merged(&p->frames[i], &stack->frames[i]))
		i++;
	return i;
}

/* Whether a code object among the frames from `at` on has changed. */
static bool code_changed(struct node_table *t, struct merged_path *p,
			 const struct merged *stack, uint32_t at,
			 uint64_t generation)
{
	uint32_t n = 0;

	for (; at < stack->count; at++) {
		if (stack->frames[at].kind != MERGED_PYTHON)
			continue;
		ALLOC_GROW(p->changed, n + 1, p->changed_capacity);
		p->changed[n++] = stack->frames[at].python;
	}
	return n && codes_check(t->codes, p->changed, n, counted(generation));
}

static void merged_reserve(struct merged_path *p, uint32_t n)
{
	if (n <= p->capacity)
		return;
	p->capacity = n + n / 2 + 16;
	p->frames = xreallocarray(p->frames, p->capacity, sizeof(*p->frames));
	p->nodes = xreallocarray(p->nodes, p->capacity, sizeof(*p->nodes));
}

/* An address of code is never that of a code object, so both kinds share the
 * table. */
static uint32_t find_merged(struct node_table *t, const struct merged_frame *f,
			    uint32_t parent, struct node_namer *namer)
{
	uint64_t key = (uint64_t)f->module << 32 | parent;
	uint32_t node;

	if (f->kind == MERGED_PYTHON)
		return find_node(t, &f->python, parent);
	node = map_get(&t->by_raw, f->address, key);
	if (node == MAP_NONE) {
		node = writer_node(t->writer, parent, namer->frame(namer, f));
		map_put(&t->by_raw, f->address, key, node);
	}
	return node;
}

uint32_t node_below(struct node_table *t, uint32_t node,
		    const struct merged_frame *frame, struct node_namer *namer)
{
	return find_merged(t, frame, node, namer);
}

uint32_t node_of_merged(struct node_table *t, struct merged_path *p,
			const struct merged *stack, uint64_t generation,
			struct node_namer *namer)
{
	uint32_t n = stack->count, i;

	if (p->epoch != t->epoch || p->generation != generation)
		p->count = 0;
	i = common_merged(p, stack);
	if (i < n && code_changed(t, p, stack, i, generation)) {
		map_clear(&t->by_raw);
		t->epoch++;
		i = 0;
	}
	p->epoch = t->epoch;
	p->generation = generation;
	merged_reserve(p, n);
	for (; i < n; i++) {
		p->frames[i] = stack->frames[i];
		p->nodes[i] = find_merged(t, &p->frames[i],
					  i ? p->nodes[i - 1] : ID_NONE, namer);
	}
	p->count = n;
	return n ? p->nodes[n - 1] : ID_NONE;
}
