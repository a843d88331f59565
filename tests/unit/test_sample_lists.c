/* Threads of a made-up target: found, followed, dropped. */
#include "unit.h"

#include <string.h>

#include "../support/fake_thread.h"
#include "python/layouts/layouts.h"
#include "sample/lists.h"

#define THREADS	    6
#define MILLISECOND 1000000

struct scene {
	struct fake_memory *memory;
	const struct layout *layout;
	uint64_t head, interpreter;
	struct fake_thread threads[THREADS];
	struct target *target;
	uint64_t now;
};

static const struct layout *const layouts[] = { &layout_3_15, &layout_3_12,
						&layout_3_8 };
#define N_LAYOUTS (sizeof(layouts) / sizeof(*layouts))

static uint64_t new_interpreter(struct scene *s)
{
	return fake_memory_map(s->memory, 1 << 18);
}

static void put(struct scene *s, uint64_t object, uint32_t field, uint64_t word)
{
	fake_memory_put_word(s->memory, object + field, word);
}

/* A thread that is in no list yet; it runs one frame. */
static void make_thread(struct scene *s, int i)
{
	const struct layout *l = s->layout;
	struct fake_thread *t = &s->threads[i];

	*t = fake_thread_new(s->memory, l);
	put(s, t->tstate, l->thread.interpreter, s->interpreter);
	if (l->thread.id != LAYOUT_NONE)
		put(s, t->tstate, l->thread.id, (uint64_t)i + 1);
	fake_thread_run(t, fake_frame(t, 0, 0x7000 + 0x100 * (uint64_t)i));
}

static void begin(struct scene *s, const struct layout *layout)
{
	struct python python;

	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	s->layout = layout;
	s->head = fake_memory_map(s->memory, 64);
	s->interpreter = new_interpreter(s);
	put(s, s->head, 0, s->interpreter);
	for (int i = 0; i < THREADS; i++)
		make_thread(s, i);
	python = fake_python_over(s->memory, layout);
	python.interpreters = s->head;
	target_new_over(&s->target, python.memory, &python);
}

static void end(struct scene *s)
{
	target_free(s->target);
	fake_memory_free(s->memory);
}

/* Let the interpreter's list hold these threads, in this order. */
static void link_threads(struct scene *s, const int *order, int n)
{
	const struct layout *l = s->layout;
	uint64_t at = s->interpreter + l->interpreter.threads_head;

	for (int i = 0; i < n; i++) {
		fake_memory_put_word(s->memory, at,
				     s->threads[order[i]].tstate);
		at = s->threads[order[i]].tstate + l->thread.next;
	}
	fake_memory_put_word(s->memory, at, 0);
}

static int look(struct scene *s)
{
	s->now += MILLISECOND;
	return target_look(s->target, s->now);
}

static void assert_threads(const struct scene *s, const int *order, int n)
{
	assert_int_equal(s->target->n_threads, n);
	for (int i = 0; i < n; i++) {
		const struct target_thread *t = s->target->threads[i];

		assert_int_equal(t->stack.tstate, s->threads[order[i]].tstate);
		assert_true(t->good);
		assert_int_equal(t->stack.n_frames, 1);
		assert_int_equal(t->stack.frames[0].code,
				 0x7000 + 0x100 * order[i]);
	}
}

static void test_threads_come_and_go(void **state)
{
	static const int before[] = { 2, 1, 0 }, after[] = { 4, 3, 2, 0 };

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;

		begin(&s, layouts[i]);
		assert_int_equal(look(&s), 0);
		assert_int_equal(s.target->n_threads, 0);
		link_threads(&s, before, 3);
		look(&s);
		assert_threads(&s, before, 3);
		link_threads(&s, after, 4);
		fake_memory_unmap(s.memory, s.threads[1].tstate);
		look(&s);
		assert_threads(&s, after, 4);
		end(&s);
	}
}

/* A neighbour goes while the list is followed: the walk does not come by the
 * main thread, which is the last one, but it is no other. */
static void test_main_thread_stays(void **state)
{
	static const int order[] = { 2, 1, 0 };

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		const struct target_thread *main;
		struct scene s;

		begin(&s, layouts[i]);
		link_threads(&s, order, 3);
		look(&s);
		main = s.target->threads[2];
		s.target->pid = s.target->threads[2]->tid = 77;
		put(&s, s.threads[1].tstate, s.layout->thread.interpreter, 8);
		put(&s, s.threads[1].tstate, s.layout->thread.next, 8);
		look(&s);
		assert_int_equal(s.target->n_threads, 2);
		assert_ptr_equal(s.target->threads[1], main);
		end(&s);
	}
}

/* Until a new thread runs, its state has the ids of the thread that made it. */
static void test_name_of_the_maker_is_forgotten(void **state)
{
	static const struct layout *const old[] = { &layout_2_7, &layout_3_8,
						    &layout_3_11 };
	static const int order[] = { 1, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++) {
		struct target_thread *young;
		struct scene s;
		uint64_t tstate;

		begin(&s, old[i]);
		tstate = s.threads[1].tstate;
		put(&s, tstate, s.layout->thread.thread_id, 0x1000);
		link_threads(&s, order, 2);
		look(&s);
		young = s.target->threads[0];
		young->named = true;
		look(&s);
		assert_true(young->named);
		put(&s, tstate, s.layout->thread.thread_id, 0x2000);
		assert_int_equal(target_look_thread(s.target, young), 0);
		assert_false(young->named);
		look(&s);
		assert_ptr_equal(s.target->threads[0], young);
		if (s.layout->thread.native_thread_id != LAYOUT_NONE) {
			young->named = true;
			put(&s, tstate, s.layout->thread.native_thread_id, 7);
			look(&s);
			assert_false(young->named);
		}
		end(&s);
	}
}

static void test_known_lists_take_one_read(void **state)
{
	static const int order[] = { 2, 1, 0 };
	struct memory *m;
	uint64_t reads;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	m = fake_memory_reader(s.memory);
	link_threads(&s, order, 3);
	look(&s);
	look(&s);
	reads = m->reads;
	look(&s);
	assert_int_equal(m->reads, reads + 1);
	assert_true(lists_agree(s.target));
	assert_threads(&s, order, 3);
	end(&s);
}

/* The list leads back to where it has been. */
static void test_ring_ends(void **state)
{
	static const int order[] = { 2, 1, 0 };

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct scene s;

		begin(&s, layouts[i]);
		link_threads(&s, order, 3);
		put(&s, s.threads[0].tstate, s.layout->thread.next,
		    s.threads[2].tstate);
		for (int k = 0; k < 5; k++)
			look(&s);
		assert_threads(&s, order, 3);
		end(&s);
	}
}

/* A thread that was freed leads anywhere: the others are not dropped for it,
 * nor found twice. */
static void test_torn_list_loses_and_doubles_nothing(void **state)
{
	static const int order[] = { 3, 2, 1, 0 };
	struct target_thread *known[4];
	uint32_t seen = 0;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	link_threads(&s, order, 4);
	look(&s);
	memcpy(known, s.target->threads, sizeof(known));
	put(&s, s.threads[2].tstate, s.layout->thread.next, 0x1000);
	for (int k = 0; k < 3; k++)
		look(&s);
	for (uint32_t i = 0; i < s.target->n_threads; i++)
		for (int k = 0; k < 4; k++)
			seen += s.target->threads[i] == known[k];
	assert_int_equal(seen, s.target->n_threads);
	assert_true(seen >= 3); /* the last one has no witness */
	link_threads(&s, order, 4);
	look(&s);
	assert_threads(&s, order, 4);
	assert_ptr_equal(s.target->threads[1], known[1]);
	end(&s);
}

/* The same address, but another thread: it begins anew. */
static void test_taken_address_is_another_thread(void **state)
{
	static const int order[] = { 1, 0 };
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	link_threads(&s, order, 2);
	look(&s);
	s.target->threads[0]->record = 77;
	put(&s, s.threads[1].tstate, s.layout->thread.id, 99);
	link_threads(&s, order, 1);
	look(&s);
	link_threads(&s, order, 2);
	look(&s);
	assert_threads(&s, order, 2);
	assert_int_equal(s.target->threads[0]->serial, 99);
	assert_int_equal(s.target->threads[0]->record, ID_NONE);
	end(&s);
}

static void test_interpreters_are_numbered_from_the_main_one(void **state)
{
	static const int order[] = { 0 };
	const struct layout *l = &layout_3_15;
	struct scene s;
	uint64_t sub;

	(void)state;
	begin(&s, l);
	link_threads(&s, order, 1);
	sub = new_interpreter(&s);
	put(&s, sub, l->interpreter.next, s.interpreter);
	put(&s, sub, l->interpreter.threads_head, s.threads[5].tstate);
	put(&s, s.threads[5].tstate, l->thread.interpreter, sub);
	look(&s);
	assert_int_equal(s.target->n_threads, 1);
	put(&s, s.head, 0, sub);
	look(&s);
	assert_int_equal(s.target->n_interpreters, 2);
	assert_int_equal(s.target->n_threads, 2);
	for (int i = 0; i < 2; i++) {
		const struct target_thread *t = s.target->threads[i];

		assert_int_equal(s.target->interpreters[t->interpreter].number,
				 t->stack.tstate == s.threads[5].tstate);
	}
	put(&s, s.interpreter, l->interpreter.next, sub); /* a ring */
	look(&s);
	assert_int_equal(s.target->n_interpreters, 2);
	end(&s);
}

/* All memory is gone: nothing of the look before may pass for this one's. */
static void test_failed_look_is_told(void **state)
{
	static const int order[] = { 0 };
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	link_threads(&s, order, 1);
	look(&s);
	fake_memory_unmap(s.memory, s.threads[0].tstate);
	fake_memory_unmap(s.memory, s.threads[0].chunk);
	assert_int_equal(target_look_thread(s.target, s.target->threads[0]),
			 -ERR_UNREADABLE);
	assert_false(s.target->threads[0]->good);
	fake_memory_unmap(s.memory, s.head);
	fake_memory_unmap(s.memory, s.interpreter);
	assert_int_equal(look(&s), -ERR_UNREADABLE);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_main_thread_stays),
		cmocka_unit_test(test_name_of_the_maker_is_forgotten),
		cmocka_unit_test(test_known_lists_take_one_read),
		cmocka_unit_test(test_ring_ends),
		cmocka_unit_test(test_torn_list_loses_and_doubles_nothing),
		cmocka_unit_test(test_taken_address_is_another_thread),
		cmocka_unit_test(
			test_interpreters_are_numbered_from_the_main_one),
		cmocka_unit_test(test_failed_look_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
