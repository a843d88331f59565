/* Walks over made-up stacks of the three ways in which CPython keeps frames. */
#include "unit.h"

#include "stack_support.h"

#define DEEP 250000 /* frames; more than a walk follows */

/* How many reads a look takes. */
static uint64_t reads_of_look(struct scene *s, bool prove, bool shims)
{
	struct memory *m = fake_memory_reader(s->memory);
	uint64_t before = m->reads;

	look_with(s, &s->stack, prove, shims);
	return m->reads - before;
}

static void test_frames_are_found_leaf_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 20);
		fake_frame_instruction(&s.thread, leaf, 1234);
		look(&s);
		assert_codes(&s.stack, 20);
		assert_int_equal(s.stack.frames[0].frame, leaf);
		assert_int_equal(s.stack.frames[0].instruction, 1234);
		assert_true(s.stack.rooted && !s.stack.unreadable);
		assert_true(stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_thread_without_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;

		begin(&s, layouts[i]);
		look(&s);
		assert_int_equal(s.stack.n_frames, 0);
		assert_true(s.stack.rooted && stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_lost_thread_state(void **state)
{
	struct scene s;
	uint64_t word;

	(void)state;
	begin(&s, &layout_3_15);
	push(&s, 0, 0, 3);
	look(&s);
	fake_memory_unmap(s.memory, s.thread.tstate);
	pieces_clear(&s.pieces);
	pieces_add(&s.pieces, s.thread.chunk, &word, 8);
	stack_plan(&s.stack, &s.pieces, true, true);
	assert_int_equal(pieces_read(&s.pieces, fake_memory_reader(s.memory)),
			 0);
	assert_int_equal(stack_walk(&s.stack, &s.pieces), -ERR_UNREADABLE);
	end(&s);
}

/* The second look asks for all that the first one found, at once. */
static void test_known_stack_takes_one_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;

		begin(&s, layouts[i]);
		push(&s, 0, 0, 30);
		assert_true(reads_of_look(&s, true, true) > 1);
		assert_true(s.stack.missed);
		assert_int_equal(reads_of_look(&s, true, true), 1);
		assert_false(s.stack.missed);
		assert_codes(&s.stack, 30);
		assert_true(stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_what_was_not_predicted_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 5);
		look(&s);
		push(&s, leaf, 5, 60);
		look(&s);
		assert_codes(&s.stack, 65);
		assert_true(s.stack.missed && stack_stood_still(&s.stack));
		assert_int_equal(reads_of_look(&s, true, true), 1);
		fake_thread_run(&s.thread, leaf);
		look(&s);
		assert_codes(&s.stack, 5);
		end(&s);
	}
}

static void test_two_chunks(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) { /* 3.8 has none */
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 40);
		fake_thread_grow(&s.thread, 16384);
		push(&s, leaf, 40, 40);
		look(&s);
		assert_codes(&s.stack, 80);
		assert_int_equal(reads_of_look(&s, true, true), 1);
		assert_codes(&s.stack, 80);
		assert_true(stack_stood_still(&s.stack));
		end(&s);
	}
}

/* A chunk that was left and freed must not cost a read for ever. */
static void test_freed_chunk_is_forgotten(void **state)
{
	struct scene s;
	struct fake_thread before;
	uint64_t leaf, freed;

	(void)state;
	begin(&s, &layout_3_15);
	leaf = push(&s, 0, 0, 10);
	before = s.thread;
	fake_thread_grow(&s.thread, 16384);
	push(&s, leaf, 10, 10);
	look(&s);
	freed = s.thread.chunk;
	s.thread = before;
	fake_memory_unmap(s.memory, freed);
	fake_memory_put_word(s.memory,
			     s.thread.tstate +
				     layout_3_15.thread.datastack_chunk,
			     before.chunk);
	fake_thread_run(&s.thread, leaf);
	assert_true(reads_of_look(&s, true, true) > 1);
	for (int i = 0; i < 100; i++)
		look(&s);
	assert_codes(&s.stack, 10);
	assert_int_equal(reads_of_look(&s, true, true), 1);
	end(&s);
}

static void test_ring_of_chunks(void **state)
{
	struct scene s;
	uint64_t first;

	(void)state;
	begin(&s, &layout_3_15);
	first = s.thread.chunk;
	fake_thread_grow(&s.thread, 16384);
	fake_memory_put_word(s.memory, first, s.thread.chunk);
	push(&s, 0, 0, 3);
	assert_true(reads_of_look(&s, true, true) < 10);
	assert_codes(&s.stack, 3);
	end(&s);
}

static void test_absurd_chunk(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	fake_memory_put_word(s.memory, s.thread.chunk + 8, UINT64_MAX);
	push(&s, 0, 0, 30);
	for (int i = 0; i < 3; i++)
		look(&s);
	assert_codes(&s.stack, 30);
	end(&s);
}

static void test_generator_outside_the_chunks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 4);
		leaf = fake_loose_frame(&s.thread, leaf, CODE(4), 1);
		leaf = fake_loose_frame(&s.thread, leaf, CODE(5), 1);
		push(&s, leaf, 6, 2);
		look(&s);
		assert_codes(&s.stack, 8);
		assert_int_equal(reads_of_look(&s, true, true), 1);
		assert_codes(&s.stack, 8);
		assert_true(s.stack.rooted && stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_shims_are_passed_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, fake_shim(&s.thread, 0), 0, 4);
		push(&s, fake_shim(&s.thread, leaf), 4, 4);
		look(&s);
		assert_codes(&s.stack, 8);
		assert_true(s.stack.rooted);
		assert_int_equal(reads_of_look(&s, false, false), 1);
		assert_codes(&s.stack, 8);
		end(&s);
	}
}

/* An entry that is not in the stack any more may come back as another one, at
 * the same place of the C stack. */
static void test_shim_that_was_left_is_read_again(void **state)
{
	struct scene s;
	uint64_t root, one, other, shim, leaf;

	(void)state;
	begin(&s, &layout_3_12);
	root = fake_frame(&s.thread, 0, CODE(0));
	one = fake_frame(&s.thread, root, CODE(1));
	other = fake_frame(&s.thread, root, CODE(2));
	shim = fake_shim(&s.thread, one);
	leaf = fake_frame(&s.thread, shim, CODE(3));
	fake_thread_run(&s.thread, leaf);
	look(&s);
	assert_int_equal(s.stack.frames[1].code, CODE(1));
	fake_thread_run(&s.thread, root);
	look_with(&s, &s.stack, false, false);
	assert_codes(&s.stack, 1);
	fake_frame_previous(&s.thread, shim, other);
	fake_thread_run(&s.thread, leaf);
	look_with(&s, &s.stack, false, false);
	assert_int_equal(s.stack.n_frames, 3);
	assert_int_equal(s.stack.frames[1].code, CODE(2));
	end(&s);
}

static void test_lost_c_frame(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_12);
	push(&s, 0, 0, 3);
	look(&s);
	fake_memory_unmap(s.memory, s.thread.cframe);
	look(&s);
	assert_true(s.stack.unreadable && !s.stack.rooted);
	assert_int_equal(s.stack.n_frames, 0);
	end(&s);
}

static void test_unreadable_frame_ends_the_walk(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t frame;

		begin(&s, layouts[i]);
		frame = fake_frame(&s.thread, 0x1000, CODE(0));
		push(&s, frame, 1, 2);
		look(&s);
		assert_codes(&s.stack, 3);
		assert_true(s.stack.unreadable && !s.stack.rooted);
		assert_false(stack_stood_still(&s.stack));
		end(&s);
	}
}

static void test_ring_of_frames_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t root, leaf;

		begin(&s, layouts[i]);
		root = fake_frame(&s.thread, 0, CODE(0));
		leaf = push(&s, root, 1, 20);
		fake_frame_previous(&s.thread, root, leaf);
		look(&s);
		assert_true(s.stack.unreadable && !s.stack.rooted);
		assert_true(s.stack.n_frames < 100);
		end(&s);
	}
}

/* A chain of entries, none of which is a frame to be kept. */
static void test_endless_chain_of_shims_ends(void **state)
{
	const struct layout *l = &layout_3_12;
	uint32_t size = l->frame.size;
	uint64_t block;
	struct scene s;

	(void)state;
	begin(&s, l);
	block = fake_memory_map(s.memory, (size_t)DEEP * size);
	for (uint64_t i = 0; i + 1 < DEEP; i++) {
		uint64_t at = block + i * size;

		fake_frame_previous(&s.thread, at, at + size);
		fake_memory_put(s.memory, at + l->frame.owner,
				&l->frame.owner_cstack, 1);
	}
	fake_thread_run(&s.thread, block);
	look(&s);
	assert_true(s.stack.truncated && !s.stack.rooted);
	end(&s);
}

/* A generator that seems to have been resumed by nobody is being entered or
 * left. */
static void test_generator_is_no_root(void **state)
{
	struct scene s;
	uint64_t code;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(&s, layouts[i]);
		fake_thread_run(&s.thread,
				fake_loose_frame(&s.thread, 0, CODE(0), 1));
		look(&s);
		assert_false(s.stack.rooted);
		assert_false(stack_stood_still(&s.stack));
		end(&s);
	}
	begin(&s, &layout_3_8); /* the code tells */
	code = fake_memory_map(s.memory, 256);
	fake_thread_run(&s.thread, fake_frame(&s.thread, 0, code));
	look(&s);
	assert_true(s.stack.rooted);
	fake_memory_put_int(s.memory, code + layout_3_8.code.flags, 0x20);
	fake_thread_run(&s.thread, fake_frame(&s.thread, 0, code));
	look(&s);
	assert_false(s.stack.rooted);
	end(&s);
}

/* ---- stacks that change while they are read ---- */

/* What the thread does when its state is being read: between the two copies of
 * its leaf end. */
struct mischief {
	struct scene *scene;
	uint64_t frame;
	uint64_t code; /* 0: only go on in it */
};

static void do_mischief(void *context, uint64_t address)
{
	struct mischief *m = context;
	struct fake_thread *t = &m->scene->thread;

	if (address != t->tstate)
		return;
	if (m->code)
		fake_frame_code(t, m->frame, m->code);
	else
		fake_frame_instruction(t, m->frame, 99);
}

/* Whether the stack is taken to have stood still while `m` was done. */
static bool still_during(struct mischief *m)
{
	struct scene *s = m->scene;
	bool still;

	fake_memory_hook(s->memory, do_mischief, m);
	look(s);
	fake_memory_hook(s->memory, NULL, NULL);
	still = stack_stood_still(&s->stack);
	return still;
}

static void test_moved_stack_is_noticed(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct mischief m;
		struct scene s;
		uint64_t middle, leaf;

		begin(&s, layouts[i]);
		middle = push(&s, 0, 0, 5);
		leaf = push(&s, middle, 5, 2);
		look(&s);
		m = (struct mischief){ &s, leaf, CODE(50) };
		assert_false(still_during(&m));
		m = (struct mischief){ &s, middle, CODE(51) };
		assert_false(still_during(&m));
		m = (struct mischief){ &s, middle, 0 };
		assert_false(still_during(&m));
		m = (struct mischief){ &s, middle, 0 }; /* is there already */
		assert_true(still_during(&m));
		end(&s);
	}
}

static void test_leaf_may_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct mischief m;
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 5);
		look(&s);
		m = (struct mischief){ &s, leaf, 0 };
		assert_true(still_during(&m));
		end(&s);
	}
}

/* ---- the short way ---- */

static void assert_same_walk(const struct stack *a, const struct stack *b)
{
	assert_int_equal(a->n_frames, b->n_frames);
	for (uint32_t i = 0; i < a->n_frames; i++) {
		assert_int_equal(a->frames[i].code, b->frames[i].code);
		assert_int_equal(a->frames[i].frame, b->frames[i].frame);
		assert_int_equal(a->frames[i].instruction,
				 b->frames[i].instruction);
	}
}

/* Return, call, go on: one step of a program. */
static void step(struct scene *s, uint64_t *frames, int *depth, uint32_t dice)
{
	struct fake_thread *t = &s->thread;

	if (dice % 8 == 0 && *depth > 1) {
		t->top = frames[--*depth];
	} else if (dice % 8 == 1 && *depth < 60) {
		frames[*depth] =
			fake_frame(t, frames[*depth - 1], CODE(dice % 5));
		++*depth;
	} else {
		fake_frame_instruction(t, frames[*depth - 1], dice);
	}
	fake_thread_run(t, frames[*depth - 1]);
}

static void test_short_way_finds_the_same(void **state)
{
	uint64_t frames[64];
	uint32_t dice = 1, quick = 0;
	struct stack fresh;
	int depth = 1;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	frames[0] = push(&s, fake_shim(&s.thread, 0), 0, 1);
	for (int i = 0; i < 3000; i++) {
		dice = dice * 1664525 + 1013904223;
		step(&s, frames, &depth, dice >> 16);
		look_with(&s, &s.stack, false, i % 50 == 0);
		quick += s.stack.same;
		stack_init(&fresh, &s.python, s.thread.tstate);
		look_with(&s, &fresh, true, true);
		assert_same_walk(&s.stack, &fresh);
		stack_release(&fresh);
	}
	assert_true(quick > 1000);
	end(&s);
}

/* What was a shim, just below a chunk, says that it is a frame: the short way
 * must not take it for one in the chunk. */
static void test_short_way_keeps_to_the_chunk(void **state)
{
	const struct layout *l = &layout_3_15;
	struct scene s;
	uint64_t chunk, frame;
	unsigned char owner = l->frame.owner_interpreter;

	(void)state;
	begin(&s, l);
	chunk = fake_memory_map(s.memory, 4096) + 512;
	frame = chunk - 16;
	fake_memory_put_word(s.memory, chunk + 8, 2048);
	fake_memory_put_word(s.memory,
			     s.thread.tstate + l->thread.datastack_chunk,
			     chunk);
	s.thread.top = chunk + 256;
	fake_frame_code(&s.thread, frame, CODE(1));
	fake_frame_previous(&s.thread, frame,
			    fake_frame(&s.thread, 0, CODE(0)));
	fake_memory_put(s.memory, frame + l->frame.owner, &owner, 1);
	fake_thread_run(&s.thread, frame);
	look(&s);
	assert_codes(&s.stack, 1);
	owner = 0;
	fake_memory_put(s.memory, frame + l->frame.owner, &owner, 1);
	look(&s);
	assert_codes(&s.stack, 2);
	look_with(&s, &s.stack, false, false);
	assert_false(s.stack.same);
	assert_codes(&s.stack, 2);
	end(&s);
}

static void test_same_as_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t leaf;

		begin(&s, layouts[i]);
		leaf = push(&s, 0, 0, 5);
		look(&s);
		look_with(&s, &s.stack, false, false);
		assert_true(stack_same_as_before(&s.stack));
		fake_frame_instruction(&s.thread, leaf, 7);
		look_with(&s, &s.stack, false, false);
		assert_true(stack_same_as_before(&s.stack));
		push(&s, leaf, 5, 1);
		look_with(&s, &s.stack, false, false);
		assert_false(stack_same_as_before(&s.stack));
		fake_frame_instruction(&s.thread, leaf, 8);
		look_with(&s, &s.stack, false, false);
		assert_false(stack_same_as_before(&s.stack));
		end(&s);
	}
}

static void test_common_part_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;
		uint64_t middle;

		begin(&s, layouts[i]);
		middle = push(&s, 0, 0, 5);
		push(&s, middle, 5, 3);
		look(&s);
		stack_remember(&s.stack);
		push(&s, middle, 20, 4);
		look(&s);
		stack_cut_to_common(&s.stack);
		assert_codes(&s.stack, 5);
		end(&s);
	}
}

/* What was cut is no ground for the short way. */
static void test_cut_stack_is_walked_anew(void **state)
{
	struct scene s;
	uint64_t leaf;

	(void)state;
	begin(&s, &layout_3_15);
	leaf = push(&s, 0, 0, 5);
	look(&s);
	stack_remember(&s.stack);
	fake_frame_code(&s.thread, s.stack.before[4].frame, CODE(90));
	look(&s);
	stack_cut_to_common(&s.stack);
	assert_int_equal(s.stack.n_frames, 0);
	fake_thread_run(&s.thread, leaf);
	look_with(&s, &s.stack, false, false);
	assert_int_equal(s.stack.n_frames, 5);
	assert_int_equal(s.stack.frames[4].code, CODE(90));
	end(&s);
}

/* A thread state may be described as large; all of it must be in the copy. */
static void test_far_field_of_the_thread_state(void **state)
{
	struct layout layout = layout_3_15;
	struct scene s;
	uint64_t tstate;

	(void)state;
	layout.thread.frame = 0x3000;
	begin(&s, &layout_3_15);
	push(&s, 0, 0, 3);
	tstate = fake_memory_map(s.memory, 0x4000);
	fake_memory_put_word(s.memory, tstate + 0x3000, s.thread.top - 104);
	s.python.layout = layout;
	stack_release(&s.stack);
	stack_init(&s.stack, &s.python, tstate);
	look(&s);
	assert_codes(&s.stack, 3);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_are_found_leaf_first),
		cmocka_unit_test(test_thread_without_frames),
		cmocka_unit_test(test_lost_thread_state),
		cmocka_unit_test(test_known_stack_takes_one_read),
		cmocka_unit_test(test_what_was_not_predicted_is_read),
		cmocka_unit_test(test_two_chunks),
		cmocka_unit_test(test_freed_chunk_is_forgotten),
		cmocka_unit_test(test_ring_of_chunks),
		cmocka_unit_test(test_absurd_chunk),
		cmocka_unit_test(test_generator_outside_the_chunks),
		cmocka_unit_test(test_shims_are_passed_over),
		cmocka_unit_test(test_shim_that_was_left_is_read_again),
		cmocka_unit_test(test_lost_c_frame),
		cmocka_unit_test(test_unreadable_frame_ends_the_walk),
		cmocka_unit_test(test_ring_of_frames_ends),
		cmocka_unit_test(test_endless_chain_of_shims_ends),
		cmocka_unit_test(test_generator_is_no_root),
		cmocka_unit_test(test_moved_stack_is_noticed),
		cmocka_unit_test(test_leaf_may_go_on),
		cmocka_unit_test(test_short_way_finds_the_same),
		cmocka_unit_test(test_short_way_keeps_to_the_chunk),
		cmocka_unit_test(test_same_as_before),
		cmocka_unit_test(test_common_part_is_kept),
		cmocka_unit_test(test_cut_stack_is_walked_anew),
		cmocka_unit_test(test_far_field_of_the_thread_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
