/* A made-up thread and the stack that watches it. */
#ifndef PYROMETER_TESTS_STACK_SUPPORT_H
#define PYROMETER_TESTS_STACK_SUPPORT_H

#include <string.h>

#include "../support/fake_thread.h"
#include "python/layouts/layouts.h"
#include "sample/stack.h"

#define CODE(i) (UINT64_C(0x7000) + 0x100 * (uint64_t)(i))

/* A thread and the stack that watches it. */
struct scene {
	struct fake_memory *memory;
	struct python python;
	struct fake_thread thread;
	struct stack stack;
	struct pieces pieces;
};

static const struct layout *const layouts[] = { &layout_3_15, &layout_3_12,
						&layout_3_8 };
#define N_LAYOUTS (sizeof(layouts) / sizeof(*layouts))

static void begin(struct scene *s, const struct layout *layout)
{
	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	s->python = fake_python_over(s->memory, layout);
	s->thread = fake_thread_new(s->memory, layout);
	stack_init(&s->stack, &s->python, s->thread.tstate);
}

static void end(struct scene *s)
{
	stack_release(&s->stack);
	pieces_release(&s->pieces);
	fake_memory_free(s->memory);
}

static void look_with(struct scene *s, struct stack *stack, bool prove,
		      bool shims)
{
	pieces_clear(&s->pieces);
	stack_plan(stack, &s->pieces, prove, shims);
	assert_int_equal(pieces_read(&s->pieces, fake_memory_reader(s->memory)),
			 0);
	assert_int_equal(stack_walk(stack, &s->pieces), 0);
}

static void look(struct scene *s)
{
	look_with(s, &s->stack, true, true);
}

/* n frames, the innermost being CODE(n - 1); returns its address. */
static uint64_t push(struct scene *s, uint64_t previous, int first, int n)
{
	uint64_t frame = previous;

	for (int i = first; i < first + n; i++)
		frame = fake_frame(&s->thread, frame, CODE(i));
	fake_thread_run(&s->thread, frame);
	return frame;
}

/* The walk found CODE(n - 1) ... CODE(0), innermost first. */
static void assert_codes(const struct stack *s, int n)
{
	assert_int_equal(s->n_frames, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(s->frames[i].code, CODE(n - 1 - i));
}

#endif
