/* Several looks in one read, at a made-up target that changes in between. */
#include "unit.h"

#include <string.h>

#include "../support/fake_thread.h"
#include "base/clock.h"
#include "python/layouts/layouts.h"
#include "sample/sampler.h"

#define CODE(i)	    (UINT64_C(0x7000) + 0x100 * (uint64_t)(i))
#define THREADS_MAX 9
#define SETTLED	    40 /* looks, after which all is calm */

/* Threads that run main(), which calls something else. */
struct scene {
	struct fake_memory *memory;
	const struct layout *layout;
	struct fake_thread threads[THREADS_MAX];
	uint64_t main[THREADS_MAX], leaf[THREADS_MAX];
	struct target *target;
	struct sampler sampler;
	/* What happens during a read: `change` is called before the piece of
	 * that number, of those that have to do with thread 0. */
	void (*change)(struct scene *s);
	int at, pieces;
	uint64_t below; /* see pieces_below() */
};

static void add_thread(struct scene *s, uint64_t interpreter, int n)
{
	const struct layout *l = s->layout;
	struct fake_thread *t = &s->threads[n];

	*t = fake_thread_new(s->memory, l);
	fake_memory_put_word(s->memory, t->tstate + l->thread.interpreter,
			     interpreter);
	if (n) {
		fake_memory_put_word(s->memory, t->tstate + l->thread.previous,
				     t[-1].tstate);
		fake_memory_put_word(s->memory, t[-1].tstate + l->thread.next,
				     t->tstate);
	}
	s->main[n] = fake_frame(t, 0, CODE(0));
	s->leaf[n] = fake_frame(t, s->main[n], CODE(1));
	fake_thread_run(t, s->leaf[n]);
}

static void begin(struct scene *s, const struct layout *l, int n_threads)
{
	struct python python;
	uint64_t head, interpreter;

	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	s->layout = l;
	head = fake_memory_map(s->memory, 64);
	interpreter = fake_memory_map(s->memory, 1 << 18);
	fake_memory_put_word(s->memory, head, interpreter);
	for (int i = 0; i < n_threads; i++)
		add_thread(s, interpreter, i);
	fake_memory_put_word(s->memory,
			     interpreter + l->interpreter.threads_head,
			     s->threads[0].tstate);
	python = fake_python_over(s->memory, l);
	python.interpreters = head;
	target_new_over(&s->target, python.memory, &python);
	sampler_init(&s->sampler, RIDE_NEVER, 0);
	s->sampler.bursts = true;
}

static void end(struct scene *s)
{
	target_free(s->target);
	fake_memory_free(s->memory);
}

static void take(struct scene *s)
{
	assert_int_equal(sampler_take(&s->sampler, s->target, clock_now()), 0);
}

/* A look, and how many more came with it. */
static int take_all(struct scene *s)
{
	uint64_t when;
	int n = 0;

	take(s);
	while (sampler_next(&s->sampler, s->target, &when))
		n++;
	return n;
}

static void settle(struct scene *s)
{
	for (int i = 0; i < SETTLED; i++)
		take_all(s);
}

static const struct target_thread *first(const struct scene *s)
{
	return s->target->threads[0];
}

static void count_piece(void *context, uint64_t address)
{
	struct scene *s = context;
	uint64_t chunk = s->threads[0].chunk;

	if (address != s->threads[0].tstate &&
	    (address < chunk || address > s->leaf[0]))
		return;
	if (s->pieces++ == s->at)
		s->change(s);
}

static void count_below(void *context, uint64_t address)
{
	struct scene *s = context;

	s->pieces += address >= s->threads[0].chunk && address < s->below;
}

/* The pieces of thread 0 are those of the look itself (its chunk, its state)
 * and then those of each further look. */
static void change_before(struct scene *s, int look, bool is_state,
			  void (*change)(struct scene *s))
{
	s->at = 2 * look + is_state;
	s->pieces = 0;
	s->change = change;
	fake_memory_hook(s->memory, count_piece, s);
}

static void test_stack_that_stays_gives_many_samples(void **state)
{
	static const struct layout *const able[] = {
		&layout_3_15, &layout_3_15t, &layout_3_14, &layout_3_13t
	};

	(void)state;
	for (size_t i = 0; i < sizeof(able) / sizeof(*able); i++) {
		struct sampler_counts *c;
		struct scene s;
		uint64_t before, reads;

		begin(&s, able[i], 1);
		settle(&s);
		c = &s.sampler.counts;
		before = c->samples;
		reads = fake_memory_reader(s.memory)->reads;
		assert_int_equal(take_all(&s), BURST_LOOKS);
		assert_int_equal(c->samples, before + 1 + BURST_LOOKS);
		assert_int_equal(fake_memory_reader(s.memory)->reads,
				 reads + 1);
		assert_int_equal(c->lost + c->torn + c->unproven, 0);
		assert_int_equal(first(&s)->stack.n_frames, 2);
		end(&s);
	}
}

/* Who holds the GIL is told elsewhere in 3.13; before, frames lie otherwise. */
static void test_other_versions_have_none(void **state)
{
	static const struct layout *const unable[] = { &layout_3_13,
						       &layout_3_12,
						       &layout_3_8 };

	(void)state;
	for (size_t i = 0; i < sizeof(unable) / sizeof(*unable); i++) {
		struct scene s;

		begin(&s, unable[i], 1);
		settle(&s);
		assert_int_equal(take_all(&s), 0);
		end(&s);
	}
}

/* How many pieces of the next look begin below this frame of thread 0. */
static int pieces_below(struct scene *s, uint64_t frame, int looks)
{
	s->below = frame;
	s->pieces = 0;
	fake_memory_hook(s->memory, count_below, s);
	assert_int_equal(take_all(s), looks);
	return s->pieces;
}

static void test_none_unless_wanted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	s.sampler.bursts = false;
	assert_int_equal(pieces_below(&s, s.leaf[0], 0), 1);
	end(&s);
}

static void test_time_goes_on(void **state)
{
	uint64_t last, when;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	for (int i = 0; i < SETTLED; i++) {
		last = clock_now();
		assert_int_equal(sampler_take(&s.sampler, s.target, last), 0);
		while (sampler_next(&s.sampler, s.target, &when)) {
			assert_true(when >= last);
			last = when;
		}
		assert_true(last <= clock_now());
	}
	end(&s);
}

/* ---- changes during a read ---- */

static void return_to_main(struct scene *s)
{
	fake_thread_run(&s->threads[0], s->main[0]);
}

static void call_another(struct scene *s)
{
	fake_frame_code(&s->threads[0], s->leaf[0], CODE(7));
}

static void be_called_by_another(struct scene *s)
{
	fake_frame_code(&s->threads[0], s->main[0], CODE(8));
}

static void be_called_from_elsewhere(struct scene *s)
{
	fake_frame_instruction(&s->threads[0], s->main[0], 77);
}

static void lead_elsewhere(struct scene *s)
{
	fake_frame_previous(&s->threads[0], s->leaf[0], 0);
}

static void become_another_thread(struct scene *s)
{
	fake_memory_put_word(s->memory,
			     s->threads[0].tstate + s->layout->thread.thread_id,
			     4711);
}

static void free_chunk(struct scene *s)
{
	fake_memory_unmap(s->memory, s->threads[0].chunk);
}

static void free_state(struct scene *s)
{
	fake_memory_unmap(s->memory, s->threads[0].tstate);
}

static const struct {
	void (*change)(struct scene *s);
	bool is_state; /* is seen in the thread state, not in the chunk */
} changes[] = {
	{ return_to_main, true },	 { call_another, false },
	{ be_called_by_another, false }, { be_called_from_elsewhere, false },
	{ lead_elsewhere, false },	 { become_another_thread, true },
	{ free_chunk, false },		 { free_state, true },
};

/* The looks before the change are as they were, and those behind are none. */
static void check_change(size_t change, int at)
{
	struct scene s;
	uint64_t samples, when;

	begin(&s, &layout_3_15, 1);
	settle(&s);
	samples = s.sampler.counts.samples;
	change_before(&s, at, changes[change].is_state, changes[change].change);
	take(&s);
	for (int i = 1; i < at; i++) {
		const struct stack *stack = &first(&s)->stack;

		assert_true(sampler_next(&s.sampler, s.target, &when));
		assert_int_equal(stack->n_frames, 2);
		assert_int_equal(stack->frames[0].code, CODE(1));
		assert_int_equal(stack->frames[0].previous, s.main[0]);
		assert_int_equal(stack->frames[1].code, CODE(0));
	}
	assert_false(sampler_next(&s.sampler, s.target, &when));
	assert_int_equal(s.sampler.counts.samples, samples + (uint64_t)at);
	assert_int_equal(s.sampler.counts.torn + s.sampler.counts.lost, 0);
	end(&s);
}

static void test_change_ends_a_burst(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		for (int at = 1; at <= BURST_LOOKS; at++)
			check_change(i, at);
}

/* What was found changed is there at the next look, proven by itself. */
static void test_change_is_found_by_the_next_look(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	change_before(&s, 3, true, return_to_main);
	assert_int_equal(take_all(&s), 2);
	fake_memory_hook(s.memory, NULL, NULL);
	assert_int_equal(take_all(&s), 0);
	assert_int_equal(first(&s)->stack.n_frames, 1);
	assert_int_equal(first(&s)->stack.frames[0].code, CODE(0));
	assert_int_equal(take_all(&s), BURST_LOOKS);
	end(&s);
}

static void test_lost_target_is_lost_after_the_burst(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	change_before(&s, 2, true, free_state);
	assert_int_equal(take_all(&s), 1);
	assert_int_equal(s.sampler.counts.lost, 0);
	assert_int_equal(take_all(&s), 0);
	assert_int_equal(s.sampler.counts.lost, 1);
	end(&s);
}

/* A look that has to be taken again has nothing behind it. */
static void test_look_that_moved_has_no_burst(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	change_before(&s, 0, false, call_another);
	assert_int_equal(take_all(&s), 0);
	assert_int_equal(first(&s)->stack.frames[0].code, CODE(7));
	end(&s);
}

/* Each piece finds the thread at another instruction, and the GIL held by it
 * at every other look. */
static void go_on(void *context, uint64_t address)
{
	struct scene *s = context;
	const struct layout *l = s->layout;
	uint64_t tstate = s->threads[0].tstate;

	if (address != tstate && address != s->threads[0].chunk &&
	    address != s->main[0])
		return;
	s->pieces++;
	if (address == tstate)
		fake_memory_put_int(s->memory, tstate + l->thread.holds_gil,
				    s->pieces / 2 % 2);
	else
		fake_frame_instruction(&s->threads[0], s->leaf[0],
				       1000 + (uint32_t)s->pieces / 2);
}

static void test_each_look_keeps_its_own(void **state)
{
	struct scene s;
	uint64_t when;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	fake_memory_hook(s.memory, go_on, &s);
	take(&s);
	for (uint32_t look = 0; look <= BURST_LOOKS; look++) {
		const struct target_thread *t = first(&s);

		assert_int_equal(t->stack.frames[0].instruction, 1000 + look);
		assert_int_equal(!!(t->state & STATE_GIL), (look + 1) % 2);
		assert_int_equal(sampler_next(&s.sampler, s.target, &when),
				 look < BURST_LOOKS);
	}
	end(&s);
}

/* ---- who has bursts ---- */

static void test_threads_share_a_burst(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 3);
	settle(&s);
	assert_int_equal(take_all(&s), BURST_LOOKS);
	assert_int_equal(s.target->n_threads, 3);
	/* One that changes ends it for all. */
	change_before(&s, 4, true, return_to_main);
	assert_int_equal(take_all(&s), 3);
	end(&s);
	begin(&s, &layout_3_15, THREADS_MAX);
	settle(&s);
	assert_int_equal(take_all(&s), 0);
	end(&s);
}

static void move(struct scene *s, int i)
{
	fake_thread_run(&s->threads[0], i % 2 ? s->main[0] : s->leaf[0]);
}

/* Bursts would make more of its quiet moments than they are. */
static void test_restless_thread_has_none_for_a_while(void **state)
{
	struct scene s;
	int looks = 0;

	(void)state;
	begin(&s, &layout_3_15, 1);
	settle(&s);
	for (int i = 0; i < 1000; i++) {
		move(&s, i);
		take_all(&s);
	}
	for (int i = 0; i < SETTLED; i++)
		assert_int_equal(take_all(&s), 0);
	while (!take_all(&s) && looks < 1000000)
		looks++;
	assert_true(looks > 1000 && looks < 1000000);
	assert_int_equal(take_all(&s), BURST_LOOKS);
	end(&s);
}

/* Of a deep stack the leaf end is copied, not all. */
static void test_deep_stack_is_copied_once(void **state)
{
	uint64_t twelfth = 0;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15, 1);
	for (int i = 2; i < 24; i++) {
		s.leaf[0] = fake_frame(&s.threads[0], s.leaf[0], CODE(i));
		if (i == 24 - 12)
			twelfth = s.leaf[0];
	}
	fake_thread_run(&s.threads[0], s.leaf[0]);
	settle(&s);
	assert_int_equal(pieces_below(&s, twelfth, BURST_LOOKS), 1);
	assert_int_equal(pieces_below(&s, twelfth + 1, BURST_LOOKS),
			 1 + BURST_LOOKS);
	assert_int_equal(first(&s)->stack.n_frames, 24);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_that_stays_gives_many_samples),
		cmocka_unit_test(test_other_versions_have_none),
		cmocka_unit_test(test_none_unless_wanted),
		cmocka_unit_test(test_time_goes_on),
		cmocka_unit_test(test_change_ends_a_burst),
		cmocka_unit_test(test_change_is_found_by_the_next_look),
		cmocka_unit_test(test_lost_target_is_lost_after_the_burst),
		cmocka_unit_test(test_look_that_moved_has_no_burst),
		cmocka_unit_test(test_each_look_keeps_its_own),
		cmocka_unit_test(test_threads_share_a_burst),
		cmocka_unit_test(test_restless_thread_has_none_for_a_while),
		cmocka_unit_test(test_deep_stack_is_copied_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
