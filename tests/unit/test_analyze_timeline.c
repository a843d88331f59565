#include "analyze/timeline.h"
#include "analyze/waits.h"
#include "analyze_support.h"

#define MS FAKE_PERIOD

static struct profile *window(struct fake *f, struct profile_filter *filter,
			      uint64_t from, uint64_t to)
{
	*filter = (struct profile_filter){ .from = from, .to = to };
	if (!f->reader)
		fake_open(f);
	return profile_uncounted(f->reader, filter);
}

/* Ticks 0 to 9: A holds the GIL; B waits for it, is off CPU, collects. */
static struct fake make(void)
{
	struct fake f = fake_begin();
	uint32_t a = fake_thread(&f, 0, 100, "A");
	uint32_t b = fake_thread(&f, 0, 2, "B");
	uint32_t run = fake_stack(&f, "main;run"),
		 wait = fake_stack(&f, "wait");

	for (int i = 0; i < 10; i++) {
		fake_tick(&f);
		if (i < 8)
			fake_see(&f, a, run, FAKE_CPU);
		fake_see(&f, b, wait,
			 i < 4	 ? STATE_GIL_WAIT
			 : i < 8 ? 0
				 : STATE_GC | FAKE_CPU);
	}
	return f;
}

static void counts_states_in_buckets(void **state)
{
	struct fake f = make();
	struct profile_filter filter;
	struct profile *p = window(&f, &filter, 0, 10 * MS);
	struct timeline t;

	assert_int_equal(timeline_count(&t, p, 5, NULL, NULL), 0);
	assert_float_equal(t.lanes[0][1][LANE_GIL], 1, 0.05);
	assert_float_equal(t.lanes[0][3][LANE_GIL], 0.75, 0.05);
	/* Its last sample is at 7 ms, and stands for what follows to 7.5. */
	assert_float_equal(t.lanes[0][4][LANE_GIL], 0, 0.05);
	assert_float_equal(t.lanes[1][0][LANE_WAIT], 1, 0.05);
	assert_float_equal(t.lanes[1][2][LANE_OFF], 1, 0.05);
	assert_float_equal(t.lanes[1][4][LANE_GC], 0.75, 0.05);
	timeline_release(&t);
	profile_free(p);
	fake_end(&f);
}

static void shows_a_single_sample(void **state)
{
	struct fake f = make();
	struct profile_filter filter;
	struct profile *p = window(&f, &filter, 9 * MS - MS / 4, 9 * MS + 1);
	struct timeline t;

	assert_int_equal(timeline_count(&t, p, 4, NULL, NULL), 0);
	assert_null(t.lanes[0]);
	for (int i = 0; i < 4; i++)
		assert_float_equal(t.lanes[1][i][LANE_GC], 1, 0.05);
	timeline_release(&t);
	profile_free(p);
	fake_end(&f);
}

static void names_who_held_the_gil(void **state)
{
	struct fake f = make();
	struct moment m;

	fake_open(&f);
	assert_int_equal(moment_find(&m, f.reader, 1, 2 * MS + 1, NULL), 0);
	assert_true(m.found);
	/* Ticks are stored in whole units, a little early. */
	assert_in_range(m.when, 2 * MS - MS / 8, 2 * MS);
	assert_int_equal(m.state, STATE_GIL_WAIT);
	assert_int_equal(m.holder, 0);
	assert_int_equal(m.first, 0);
	assert_in_range(m.last, 3 * MS - MS / 8, 3 * MS);
	assert_in_range(m.before, MS - MS / 8, MS);
	assert_in_range(m.after, 3 * MS - MS / 8, 3 * MS);
	assert_int_equal(m.run_before, 0);
	assert_in_range(m.run_after, 4 * MS - MS / 8, 4 * MS);
	assert_int_equal(moment_find(&m, f.reader, 0, 9 * MS, NULL), 0);
	assert_false(m.found);
	assert_in_range(m.before, 8 * MS - MS / 8, 8 * MS);
	assert_int_equal(m.after, m.when);
	assert_int_equal(moment_find(&m, f.reader, 99, 9 * MS, NULL), 0);
	assert_false(m.found);
	fake_end(&f);
}

static void is_box(const struct chrono *c, const struct fake *f, uint32_t i,
		   const char *name, uint32_t depth, uint32_t start,
		   uint32_t end)
{
	const struct chrono_box *b = &c->items[i];

	assert_string_equal(reader_function(f->reader, b->function)->name,
			    name);
	assert_int_equal(b->depth, depth);
	assert_int_equal(b->start, start);
	assert_int_equal(b->end, end);
}

/* Sixteen blocks of four ticks, of which every fourth is read. */
static void stands_for_what_is_passed_over(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct chrono_options plain = { 0 };
	struct profile_filter filter;
	struct timeline lanes;
	struct profile *p;
	struct chrono c;

	for (int i = 0; i < 16; i++) {
		fake_run(&f, t, fake_stack(&f, "main"), 4);
		writer_flush(f.writer, NULL);
	}
	profile_free(window(&f, &filter, 0, 64 * MS));
	filter.stride = 4;
	p = profile_uncounted(f.reader, &filter);
	assert_int_equal(timeline_count(&lanes, p, 32, NULL, NULL), 0);
	for (int i = 0; i < 32; i++)
		assert_float_equal(lanes.lanes[0][i][LANE_GIL], 1, 0.05);
	timeline_release(&lanes);
	assert_int_equal(chrono_count(&c, p, t, 32, &plain, NULL), 0);
	assert_int_equal(c.count, 1);
	is_box(&c, &f, 0, "main", 0, 0, 32);
	chrono_release(&c);
	profile_free(p);
	fake_end(&f);
}

/* Ticks that are a tenth of a period early or late leave no gaps. */
static void forgives_ticks_that_are_late(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct profile_filter filter;
	struct timeline lanes;
	struct profile *p;

	for (int i = 0; i < 20; i++) {
		writer_tick(f.writer,
			    FAKE_START + f.ticks++ * MS + (i % 3 ? MS / 5 : 0));
		fake_see(&f, t, fake_stack(&f, i % 2 ? "odd" : "even"),
			 FAKE_CPU);
	}
	p = window(&f, &filter, 3 * MS / 2, 37 * MS / 2);
	assert_int_equal(timeline_count(&lanes, p, 340, NULL, NULL), 0);
	for (int i = 0; i < 340; i++)
		assert_float_equal(lanes.lanes[0][i][LANE_GIL], 1, 0.01);
	timeline_release(&lanes);
	profile_free(p);
	fake_end(&f);
}

/* Of B's four waits A was seen in three, of which two are in the window. */
static void counts_who_held_the_gil(void **state)
{
	struct fake f = fake_begin();
	uint32_t a = fake_thread(&f, 0, 100, "A"),
		 b = fake_thread(&f, 0, 2, "B");
	uint32_t other = fake_thread(&f, fake_process(&f, 200), 200, "C");
	uint32_t run = fake_stack(&f, "main;run"),
		 save = fake_stack(&f, "save");
	struct waits w;

	for (int i = 0; i < 4; i++) {
		fake_tick(&f);
		if (i < 3)
			fake_see(&f, a, i < 2 ? run : save, FAKE_CPU);
		fake_see(&f, b, save, STATE_GIL_WAIT);
		fake_see(&f, other, save, FAKE_CPU); /* has a GIL of its own */
	}
	fake_open(&f);
	assert_int_equal(waits_count(&w, f.reader, b, 0, 10 * MS, 1, NULL), 0);
	assert_int_equal(w.samples, 4);
	assert_int_equal(w.unknown, 1);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].thread, a);
	assert_int_equal(w.items[0].samples, 2);
	assert_int_equal(w.items[0].function, fake_function(&f, "run"));
	assert_int_equal(w.items[1].function, fake_function(&f, "save"));
	waits_release(&w);
	waits_count(&w, f.reader, b, MS / 2, 2 * MS + MS / 2, 1, NULL);
	assert_int_equal(w.samples, 2);
	waits_release(&w);
	assert_int_equal(waits_count(&w, f.reader, 99, 0, MS, 1, NULL), 0);
	assert_int_equal(w.samples, 0);
	waits_release(&w);
	fake_end(&f);
}

static void joins_what_neighbours_share(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct profile_filter filter;
	struct chrono_options plain = { 0 };
	struct profile *p;
	struct chrono c;

	fake_run(&f, t, fake_stack(&f, "main:1;load"), 4);
	fake_run(&f, t, fake_stack(&f, "main:2;save"), 2);
	fake_tick(&f);
	fake_tick(&f);
	fake_run(&f, t, fake_stack(&f, "main:2;save"), 2);
	/* Columns that begin a little before what a sample stands for. */
	p = window(&f, &filter, MS * 3 / 8, 10 * MS + MS * 3 / 8);
	assert_int_equal(chrono_count(&c, p, t, 10, &plain, NULL), 0);
	assert_int_equal(c.count, 5);
	is_box(&c, &f, 0, "load", 1, 0, 3);
	is_box(&c, &f, 1, "save", 1, 3, 6);
	is_box(&c, &f, 2, "main", 0, 0, 6);
	is_box(&c, &f, 3, "save", 1, 7, 10);
	is_box(&c, &f, 4, "main", 0, 7, 10);
	chrono_release(&c);
	profile_free(p);
	fake_end(&f);
}

static void shows_collecting_and_inverted(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct chrono_options inverted = { .inverted = true };
	struct profile_filter filter;
	struct profile *p;
	struct chrono c;

	for (int i = 0; i < 4; i++) {
		fake_tick(&f);
		fake_see(&f, t, fake_stack(&f, "main;load"),
			 FAKE_CPU | STATE_GC);
	}
	p = window(&f, &filter, 0, 3 * MS);
	assert_int_equal(chrono_count(&c, p, t, 3, &inverted, NULL), 0);
	assert_int_equal(c.count, 3);
	is_box(&c, &f, 0, "main", 2, 0, 3);
	is_box(&c, &f, 1, "load", 1, 0, 3);
	assert_int_equal(c.items[2].function, CHRONO_GC);
	assert_int_equal(c.items[2].depth, 0);
	chrono_release(&c);
	profile_free(p);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_states_in_buckets),
		cmocka_unit_test(shows_a_single_sample),
		cmocka_unit_test(names_who_held_the_gil),
		cmocka_unit_test(stands_for_what_is_passed_over),
		cmocka_unit_test(forgives_ticks_that_are_late),
		cmocka_unit_test(counts_who_held_the_gil),
		cmocka_unit_test(joins_what_neighbours_share),
		cmocka_unit_test(shows_collecting_and_inverted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
