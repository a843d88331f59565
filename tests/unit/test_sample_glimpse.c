/* Glimpses at a made-up thread that runs on, or does something else. */
#include "unit.h"

#include <string.h>

#include "../support/fake_thread.h"
#include "base/clock.h"
#include "python/layouts/layouts.h"
#include "sample/glimpse.h"
#include "sample/sampler.h"

#define CODE(i)	 (UINT64_C(0x7000) + 0x100 * (uint64_t)(i))
#define GIL	 256u
#define INSTANCE 40u /* an instruction of the leaf */

/* A thread that runs main(), which has called something, and holds the GIL. */
struct scene {
	struct fake_memory *memory;
	const struct layout *layout;
	struct fake_thread thread;
	uint64_t interpreter, gil, current, main, leaf;
	struct target *target;
	struct sampler sampler;
	struct glimpses glimpses;
};

static void hold_gil(struct scene *s, bool holds)
{
	const struct layout *l = s->layout;
	uint64_t tstate = s->thread.tstate;

	if (l->free_threaded)
		fake_memory_put_int(s->memory, tstate + l->thread.state, holds);
	else if (l->thread.holds_gil != LAYOUT_NONE)
		fake_memory_put_int(s->memory, tstate + l->thread.holds_gil,
				    holds);
	else if (l->gil_style == GIL_RUNTIME)
		fake_memory_put_word(s->memory, s->current, holds ? tstate : 0);
	else
		fake_memory_put_int(s->memory, s->gil + l->gil.locked, holds);
}

static void begin(struct scene *s, const struct layout *l)
{
	struct python python;
	uint64_t head;

	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	s->layout = l;
	s->thread = fake_thread_new(s->memory, l);
	head = fake_memory_map(s->memory, 64);
	s->interpreter = fake_memory_map(s->memory, 1 << 18);
	s->gil = fake_memory_map(s->memory, GIL);
	if (l->gil.holder != LAYOUT_NONE)
		fake_memory_put_word(s->memory, s->gil + l->gil.holder,
				     s->thread.tstate);
	s->current = fake_memory_map(s->memory, 8);
	hold_gil(s, true);
	fake_memory_put_word(s->memory, head, s->interpreter);
	fake_memory_put_word(s->memory,
			     s->interpreter + l->interpreter.threads_head,
			     s->thread.tstate);
	if (l->gil_style == GIL_INTERPRETER)
		fake_memory_put_word(s->memory,
				     s->interpreter + l->interpreter.gil,
				     s->gil);
	fake_memory_put_word(s->memory,
			     s->thread.tstate + l->thread.interpreter,
			     s->interpreter);
	s->main = fake_frame(&s->thread, 0, CODE(0));
	s->leaf = fake_frame(&s->thread, s->main, CODE(1));
	fake_thread_run(&s->thread, s->leaf);
	python = fake_python_over(s->memory, l);
	python.interpreters = head;
	if (l->gil_style == GIL_RUNTIME)
		python.current = s->current;
	target_new_over(&s->target, python.memory, &python);
	sampler_init(&s->sampler, RIDE_NEVER, 0);
}

static void end(struct scene *s)
{
	glimpses_release(&s->glimpses);
	target_free(s->target);
	fake_memory_free(s->memory);
}

static struct target_thread *thread(const struct scene *s)
{
	return s->target->threads[0];
}

static void plan(struct scene *s)
{
	glimpses_plan(&s->glimpses, s->target, thread(s));
}

/* There is no kernel to say whether it runs. */
static void look_at(struct scene *s, char os_state)
{
	assert_int_equal(sampler_take(&s->sampler, s->target, clock_now()), 0);
	assert_int_equal(s->target->n_threads, 1);
	thread(s)->os_state = os_state;
	thread(s)->state = target_thread_state(s->target, thread(s));
	plan(s);
}

static void look(struct scene *s)
{
	look_at(s, 'R');
}

static bool take(struct scene *s, uint64_t now)
{
	return glimpses_take(&s->glimpses, s->target, now);
}

static uint64_t instruction(const struct scene *s)
{
	return thread(s)->stack.frames[0].instruction;
}

static void test_each_is_one_read_and_keeps_the_leaf(void **state)
{
	static const struct layout *const able[] = { &layout_3_15,
						     &layout_3_13t,
						     &layout_3_13, &layout_3_12,
						     &layout_3_11 };

	(void)state;
	for (size_t i = 0; i < sizeof(able) / sizeof(*able); i++) {
		struct scene s;
		uint64_t reads, before;

		begin(&s, able[i]);
		look(&s);
		before = instruction(&s);
		reads = fake_memory_reader(s.memory)->reads;
		fake_frame_instruction(&s.thread, s.leaf, INSTANCE);
		assert_true(take(&s, 7));
		fake_frame_instruction(&s.thread, s.leaf, 2 * INSTANCE);
		assert_true(take(&s, 9));
		assert_int_equal(fake_memory_reader(s.memory)->reads,
				 reads + 2);
		assert_int_equal(s.glimpses.n, 2);
		assert_int_equal(s.glimpses.times[0], 7);
		assert_int_equal(s.glimpses.times[1], 9);
		glimpses_show(&s.glimpses, 0, s.target);
		assert_int_not_equal(instruction(&s), before);
		before = instruction(&s);
		glimpses_show(&s.glimpses, 1, s.target);
		assert_int_not_equal(instruction(&s), before);
		assert_int_equal(thread(&s)->stack.n_frames, 2);
		assert_int_equal(thread(&s)->stack.frames[1].code, CODE(0));
		end(&s);
	}
}

/* Up to 3.10 frames are objects, each by itself. */
static void test_not_of_objects(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_8);
	look(&s);
	assert_int_equal(thread(&s)->stack.n_frames, 2);
	assert_false(take(&s, 1));
	end(&s);
}

static void call(struct scene *s)
{
	fake_thread_run(&s->thread, fake_frame(&s->thread, s->leaf, CODE(2)));
}

static void give_back(struct scene *s)
{
	fake_thread_run(&s->thread, s->main);
}

static void call_from_elsewhere(struct scene *s)
{
	fake_frame_instruction(&s->thread, s->main, INSTANCE);
}

static void call_another(struct scene *s)
{
	fake_frame_code(&s->thread, s->leaf, CODE(3));
}

static void call_from_another(struct scene *s)
{
	fake_frame_previous(&s->thread, s->leaf, 0);
}

static void put_in_state(struct scene *s, uint16_t offset)
{
	fake_memory_put_word(s->memory, s->thread.tstate + offset, 4711);
}

static void bear_a_thread(struct scene *s)
{
	put_in_state(s, s->layout->thread.previous);
}

static void lose_a_thread(struct scene *s)
{
	put_in_state(s, s->layout->thread.next);
}

static void become_another_thread(struct scene *s)
{
	put_in_state(s, s->layout->thread.thread_id);
}

static void end_thread(struct scene *s)
{
	fake_memory_unmap(s->memory, s->thread.tstate);
}

static void free_chunk(struct scene *s)
{
	fake_memory_unmap(s->memory, s->thread.chunk);
}

static void test_anything_else_is_not_taken(void **state)
{
	static const struct layout *const versions[] = { &layout_3_15,
							 &layout_3_12 };
	static void (*const changes[])(struct scene *) = {
		call,
		give_back,
		call_from_elsewhere,
		call_another,
		call_from_another,
		bear_a_thread,
		lose_a_thread,
		become_another_thread,
		end_thread,
		free_chunk,
	};

	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(*versions); v++)
		for (size_t i = 0; i < sizeof(changes) / sizeof(*changes);
		     i++) {
			struct scene s;

			begin(&s, versions[v]);
			look(&s);
			assert_true(take(&s, 1));
			changes[i](&s);
			assert_false(take(&s, 2));
			assert_int_equal(s.glimpses.n, 1);
			end(&s);
		}
}

/* What cannot be compared where it lies: a generator's frame, far away. */
static void test_not_of_frames_far_apart(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	s.leaf = fake_loose_frame(&s.thread, s.main, CODE(4),
				  s.layout->frame.owner_generator);
	fake_thread_run(&s.thread, s.leaf);
	look(&s);
	assert_int_equal(thread(&s)->stack.n_frames, 2);
	assert_false(take(&s, 1));
	end(&s);
}

static int taken_of(struct scene *s, int n)
{
	int taken = 0;

	while (n--)
		taken += take(s, 1);
	return taken;
}

/* A thread that keeps changing is not tried at each tick. */
static void test_pauses_grow(void **state)
{
	struct scene s;
	uint64_t reads;
	int n;

	(void)state;
	begin(&s, &layout_3_15);
	look(&s);
	call_from_elsewhere(&s);
	reads = fake_memory_reader(s.memory)->reads;
	assert_int_equal(taken_of(&s, 100), 0);
	n = (int)(fake_memory_reader(s.memory)->reads - reads);
	assert_true(n > 5 && n < 15);
	/* It has not changed any more; soon that is found out. */
	look(&s);
	assert_true(taken_of(&s, 40) > 20);
	/* After one that holds there is a short pause again. */
	look(&s);
	assert_true(take(&s, 1));
	call_another(&s);
	assert_false(take(&s, 1));
	look(&s);
	assert_false(take(&s, 1));
	assert_true(take(&s, 1));
	end(&s);
}

static void test_there_is_room_for_so_many(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	look(&s);
	assert_int_equal(taken_of(&s, GLIMPSES_MAX + 5), GLIMPSES_MAX);
	plan(&s);
	assert_int_equal(s.glimpses.n, 0);
	assert_true(take(&s, 1));
	end(&s);
}

/* One without the GIL may fall asleep where it is, and look the same. */
static void test_not_without_the_gil(void **state)
{
	static const struct layout *const able[] = { &layout_3_15,
						     &layout_3_13t,
						     &layout_3_13, &layout_3_12,
						     &layout_3_11 };

	(void)state;
	for (size_t i = 0; i < sizeof(able) / sizeof(*able); i++) {
		struct scene s;

		begin(&s, able[i]);
		look_at(&s, 'S');
		assert_false(take(&s, 1));
		look(&s);
		assert_true(take(&s, 1));
		hold_gil(&s, false);
		assert_false(take(&s, 2));
		assert_int_equal(s.glimpses.n, 1);
		look(&s);
		assert_false(take(&s, 3));
		assert_false(take(&s, 4));
		end(&s);
	}
}

/* The fields belong to the moment, too: here, whether garbage is collected. */
static void test_state_is_that_of_its_moment(void **state)
{
	const struct layout *l = &layout_3_12;
	struct scene s;

	(void)state;
	begin(&s, l);
	look(&s);
	assert_true(take(&s, 1));
	fake_memory_put_int(s.memory,
			    s.interpreter + l->interpreter.gc_collecting, 1);
	assert_true(take(&s, 2));
	glimpses_show(&s.glimpses, 0, s.target);
	assert_false(thread(&s)->state & STATE_GC);
	glimpses_show(&s.glimpses, 1, s.target);
	assert_true(thread(&s)->state & STATE_GC);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_one_read_and_keeps_the_leaf),
		cmocka_unit_test(test_not_of_objects),
		cmocka_unit_test(test_anything_else_is_not_taken),
		cmocka_unit_test(test_not_of_frames_far_apart),
		cmocka_unit_test(test_pauses_grow),
		cmocka_unit_test(test_there_is_room_for_so_many),
		cmocka_unit_test(test_not_without_the_gil),
		cmocka_unit_test(test_state_is_that_of_its_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
