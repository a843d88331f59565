/* Walks over stacks that the kernel has taken by a visit. */
#include "unit.h"

#include "stack_support.h"

/* What the kernel's program would take, see os/visit.c. */
struct fake_visit {
	struct visit visit;
	unsigned char head[2048];
	unsigned char items[VISIT_ITEMS_MAX * 256];
};

static void take(struct scene *s, struct fake_visit *v)
{
	struct memory *m = fake_memory_reader(s->memory);
	struct visit_shape shape;
	uint64_t item;
	uint32_t n = 0;

	stack_shape(&s->stack, &shape);
	assert_int_equal(memory_read(m, s->thread.tstate, v->head,
				     shape.head_size),
			 0);
	memcpy(&item, v->head + shape.first, sizeof(item));
	if (item && shape.via != VISIT_DIRECT)
		assert_int_equal(memory_read_u64(m, item + shape.via, &item),
				 0);
	v->visit = (struct visit){ .head_copy = v->head,
				   .items = v->items,
				   .stride = 256 };
	for (; item && n < VISIT_ITEMS_MAX; n++) {
		unsigned char *to = v->items + n * v->visit.stride;

		memcpy(to, &item, sizeof(item));
		if (memory_read(m, item, to + 8, shape.item_size))
			break;
		memcpy(&item, to + 8 + shape.next, sizeof(item));
	}
	v->visit.n_items = n;
	v->visit.whole = !item;
}

static void test_visits_find_what_looks_find(void **state)
{
	static struct fake_visit v;

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		take(&s, &v);
		assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
		assert_true(s.stack.n_frames == 0 && s.stack.rooted);
		leaf = push(&s, 0, 0, 20);
		fake_frame_instruction(&s.thread, leaf, 1234);
		take(&s, &v);
		assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
		assert_codes(&s.stack, 20);
		assert_int_equal(s.stack.frames[0].instruction, 1234);
		assert_true(s.stack.rooted && !s.stack.unreadable);
		end(&s);
	}
}

/* A look after a visit owes nothing to it, nor to the look before. */
static void test_looks_after_visits(void **state)
{
	static struct fake_visit v;

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t caller;

		begin(&s, layouts[i]);
		caller = push(&s, 0, 0, 10);
		push(&s, caller, 10, 5);
		look_with(&s, &s.stack, false, false);
		look_with(&s, &s.stack, false, false);
		fake_thread_run(&s.thread, caller);
		take(&s, &v);
		assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
		assert_codes(&s.stack, 10);
		push(&s, caller, 10, 2);
		look_with(&s, &s.stack, false, false);
		assert_codes(&s.stack, 12);
		assert_false(stack_same_as_before(&s.stack));
		look(&s);
		assert_codes(&s.stack, 12);
		assert_true(stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_visits_that_are_not_whole(void **state)
{
	static struct fake_visit v;
	struct scene s;
	uint64_t frame;

	(void)state;
	begin(&s, &layout_3_8);
	frame = push(&s, 0, 0, VISIT_ITEMS_MAX);
	take(&s, &v);
	assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
	assert_codes(&s.stack, VISIT_ITEMS_MAX);
	push(&s, frame, VISIT_ITEMS_MAX, 1);
	take(&s, &v);
	assert_int_equal(stack_walk_visited(&s.stack, &v.visit), -ERR_LIMIT);
	assert_codes(&s.stack, VISIT_ITEMS_MAX);

	/* The good part of one that leads nowhere; and none of it. */
	frame = push(&s, 0x10, 0, 3);
	take(&s, &v);
	assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
	assert_codes(&s.stack, 3);
	assert_true(s.stack.unreadable && !s.stack.rooted);
	fake_thread_run(&s.thread, 0x10);
	take(&s, &v);
	assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
	assert_true(s.stack.unreadable && !s.stack.n_frames);
	end(&s);
}

/* Met while it is resumed: nobody is below it yet. */
static void test_visit_in_the_middle_of_a_change(void **state)
{
	static struct fake_visit v;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	fake_thread_run(&s.thread,
			fake_loose_frame(&s.thread, 0, CODE(0),
					 layout_3_15.frame.owner_generator));
	take(&s, &v);
	assert_int_equal(stack_walk_visited(&s.stack, &v.visit), 0);
	assert_false(s.stack.rooted);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visits_find_what_looks_find),
		cmocka_unit_test(test_looks_after_visits),
		cmocka_unit_test(test_visits_that_are_not_whole),
		cmocka_unit_test(test_visit_in_the_middle_of_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
