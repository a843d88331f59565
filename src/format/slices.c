#include "format/slices.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "format/label.h"

#define GAP_SAMPLES 3 /* a thread unseen for longer was away */

struct open_stack {
	struct slice *slices;
	uint32_t count, capacity;
	uint32_t node; /* of the last run */
	uint64_t end;  /* one sample after it was last seen */
};

struct slicer {
	struct profile *profile;
	const struct slice_visitor *visitor;
	void *context;
	struct open_stack *stacks; /* by thread */
	uint32_t *path; /* nodes of the run at hand, outermost first */
	size_t path_capacity;
	uint64_t order, sample_ns;
	int status;
};

static void close_down_to(struct slicer *s, struct open_stack *stack,
			  uint32_t depth, uint64_t when)
{
	while (stack->count > depth) {
		const struct slice *top = &stack->slices[--stack->count];

		if (s->visitor->end)
			s->visitor->end(s->context, top, when);
	}
}

static int open_one(struct slicer *s, struct open_stack *stack,
		    const struct slice *slice)
{
	ALLOC_GROW(stack->slices, stack->count + 1, stack->capacity);
	stack->slices[stack->count++] = *slice;
	s->order++;
	return s->visitor->begin ? s->visitor->begin(s->context, slice) : 0;
}

/* Fill s->path for `node` and return its length. */
static uint32_t find_path(struct slicer *s, uint32_t node)
{
	struct reader *r = s->profile->reader;
	uint32_t depth = 0, at = node;

	for (; at != ID_NONE; at = reader_node(r, at).parent)
		depth++;
	ALLOC_GROW(s->path, depth, s->path_capacity);
	at = node;
	for (uint32_t i = depth; i > 0; i--) {
		s->path[i - 1] = at;
		at = reader_node(r, at).parent;
	}
	return depth;
}

static uint32_t function_of(const struct slicer *s, uint32_t node)
{
	struct reader *r = s->profile->reader;

	return reader_frame(r, reader_node(r, node).frame).function;
}

/* How many of the open slices the path continues. */
static uint32_t common_depth(const struct slicer *s,
			     const struct open_stack *stack, uint32_t depth)
{
	uint32_t same = 0;

	while (same < depth && same < stack->count &&
	       stack->slices[same].function == function_of(s, s->path[same]))
		same++;
	return same;
}

static int switch_stack(struct slicer *s, struct open_stack *stack,
			const struct run *run, uint64_t when)
{
	uint32_t depth = find_path(s, run->node);
	uint32_t same = common_depth(s, stack, depth);
	struct slice new = { .start = when, .thread = run->thread };
	int status = 0;

	close_down_to(s, stack, same, when);
	for (uint32_t i = same; i < depth && !status; i++) {
		new.order = s->order;
		new.node = s->path[i];
		new.function = function_of(s, new.node);
		status = open_one(s, stack, &new);
	}
	if (depth)
		return status;
	new.order = s->order;
	new.node = new.function = ID_NONE;
	return open_one(s, stack, &new);
}

static int see_run(void *context, const struct run *run, uint64_t first,
		   uint64_t last)
{
	struct slicer *s = context;
	struct open_stack *stack = &s->stacks[run->thread];

	if (stack->count && first > stack->end + GAP_SAMPLES * s->sample_ns)
		close_down_to(s, stack, 0, stack->end);
	if (!stack->count || stack->node != run->node)
		s->status = switch_stack(s, stack, run, first);
	stack->node = run->node;
	stack->end = last + s->sample_ns;
	return s->status;
}

int slices_each(struct profile *p, const struct slice_visitor *visitor,
		void *context, struct error *err)
{
	struct slicer s = {
		.profile = p,
		.visitor = visitor,
		.context = context,
		.sample_ns = label_sample_ns(p),
	};
	uint32_t n = reader_threads(p->reader);
	int status;

	s.stacks = xcalloc((size_t)n + 1, sizeof(*s.stacks));
	status = profile_each_run(p, see_run, &s, err);
	for (uint32_t i = 0; i < n; i++) {
		close_down_to(&s, &s.stacks[i], 0, s.stacks[i].end);
		free(s.stacks[i].slices);
	}
	free(s.stacks);
	free(s.path);
	return s.status ? s.status : status;
}
