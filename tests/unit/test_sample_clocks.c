/* What a thread did at the ticks of a window, without native stacks: from rows
 * of its clock, and from what the kernel counted. */
#include "unit.h"

#include <string.h>

#include "sample/clocks_private.h"

#define PERIOD	1000u
#define TICKS	8u
#define RUNNING 100u /* node of the first row; the next ones follow */
#define BEFORE	50u  /* node of the tick before the window */
#define ASLEEP	77u  /* node of the tick at its end */

struct scene {
	struct target target;
	struct target_thread thread;
	struct clock_track track;
	struct clock_window window;
	struct clock_row rows[CLOCK_ROWS_MAX];
};

/* A thread that ran before the window and runs at its end. */
static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->window = (struct clock_window){ .start = 100 * PERIOD,
					   .period = PERIOD,
					   .ticks = TICKS };
	s->thread.tid = 1;
	s->thread.os_state = 'R';
	s->track.python = &s->thread;
	s->track.rows = s->rows;
	s->track.planned = s->track.runs = true;
	s->track.judged = true; /* `naps` says what the kernel told */
	s->track.seen = s->track.was_seen = true;
	s->track.state = s->track.first_state = STATE_ON_CPU;
	s->track.node = s->track.first_node = BEFORE;
	s->track.last =
		(struct clock_row){ .node = BEFORE, .state = STATE_ON_CPU };
}

/* At a moment after the window's beginning. */
static void add_row(struct scene *s, uint64_t time)
{
	s->rows[s->track.n_rows] = (struct clock_row){
		.time = s->window.start + time,
		.node = RUNNING + s->track.n_rows,
		.state = STATE_ON_CPU,
	};
	s->track.n_rows++;
}

static void falls_asleep(struct scene *s, uint64_t naps)
{
	s->track.node = ASLEEP;
	s->track.state = 0;
	s->track.naps = naps;
}

static void ask(struct scene *s, uint32_t tick, enum clock_found wanted,
		uint32_t node)
{
	struct clock_row row = { 0 };
	enum clock_found found =
		clock_track_find(&s->target, &s->window, &s->track,
				 s->window.start + tick * PERIOD, &row);

	assert_int_equal(found, wanted);
	if (wanted == CLOCK_FOUND)
		assert_int_equal(row.node, node);
}

static void ask_all(struct scene *s, uint32_t from, uint32_t to,
		    enum clock_found wanted, uint32_t node)
{
	for (uint32_t tick = from; tick <= to; tick++)
		ask(s, tick, wanted, node);
}

static void test_each_row_once(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint32_t i = 0; i < TICKS; i++)
		add_row(&s, i * PERIOD + 300 + i % 3 * 200);
	for (uint32_t i = 0; i < TICKS; i++)
		ask(&s, i + 1, CLOCK_FOUND, RUNNING + i);
}

/* One that never slept was where it was. */
static void test_rows_that_are_missing(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_row(&s, 2 * PERIOD);
	add_row(&s, 6 * PERIOD);
	ask(&s, 1, CLOCK_FOUND, BEFORE);
	ask_all(&s, 2, 5, CLOCK_FOUND, RUNNING);
	ask_all(&s, 6, 8, CLOCK_FOUND, RUNNING + 1);
}

static void test_sleeps_of_one_that_runs(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_row(&s, PERIOD);
	add_row(&s, 6 * PERIOD);
	s.track.naps = 1; /* nobody knows in what */
	ask(&s, 1, CLOCK_FOUND, RUNNING);
	ask_all(&s, 2, 5, CLOCK_LOST, 0);
	ask(&s, 6, CLOCK_FOUND, RUNNING + 1);
	ask_all(&s, 7, 8, CLOCK_LOST, 0);
}

static void test_one_that_falls_asleep(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_row(&s, PERIOD);
	add_row(&s, 4 * PERIOD);
	falls_asleep(&s, 1);
	ask_all(&s, 1, 3, CLOCK_FOUND, RUNNING);
	ask(&s, 4, CLOCK_FOUND, RUNNING + 1);
	ask_all(&s, 5, 8, CLOCK_FOUND, ASLEEP);

	/* It has also slept elsewhere. */
	begin(&s);
	add_row(&s, PERIOD);
	falls_asleep(&s, 2);
	ask(&s, 1, CLOCK_FOUND, RUNNING);
	ask_all(&s, 2, 8, CLOCK_LOST, 0);
}

/* The last tick before the window found it so. */
static void test_one_that_slept_from_before(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.track.last.hole = true;
	falls_asleep(&s, 0);
	ask_all(&s, 1, 8, CLOCK_FOUND, ASLEEP);
}

/* The kernel's tick makes five rows in two ticks: an old one must not stand for
 * a tick at which the thread slept. */
static void test_more_rows_than_ticks(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint32_t i = 1; i <= 7; i++)
		add_row(&s, i * 400); /* to 2800, and then it sleeps */
	for (uint32_t i = 16; i <= 20; i++)
		add_row(&s, i * 400); /* from 6400 on */
	s.track.naps = 1;
	ask(&s, 1, CLOCK_FOUND, RUNNING + 1); /* 800 */
	ask(&s, 2, CLOCK_FOUND, RUNNING + 4); /* 2000 */
	ask(&s, 3, CLOCK_FOUND, RUNNING + 6); /* 2800 */
	ask_all(&s, 4, 5, CLOCK_LOST, 0);
	ask(&s, 6, CLOCK_FOUND, RUNNING + 7);  /* 6400 */
	ask(&s, 7, CLOCK_FOUND, RUNNING + 8);  /* 6800 */
	ask(&s, 8, CLOCK_FOUND, RUNNING + 11); /* 8000 */
}

static void test_few_rows_stay_for_the_next_window(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.track.ran = 1;
	s.track.turns = 1;
	for (uint32_t i = 1; i <= TICKS + 1; i++)
		add_row(&s, i * PERIOD - 300);
	for (uint32_t i = 0; i < TICKS; i++)
		ask(&s, i + 1, CLOCK_FOUND, RUNNING + i);
	clock_track_plan(&s.target, &s.track, true);
	assert_int_equal(s.track.n_rows - s.track.next, 1);
	assert_int_equal(s.rows[0].node, RUNNING + TICKS);
	s.track.runs = true;
	for (uint32_t i = 0; i < TICKS; i++)
		add_row(&s, i * PERIOD);
	clock_track_plan(&s.target, &s.track, true); /* nobody asked */
	assert_int_equal(s.track.n_rows, 1);
	s.track.runs = true;
	clock_track_plan(&s.target, &s.track, false);
	assert_int_equal(s.track.n_rows, 0);
}

static void test_holes(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_row(&s, PERIOD);
	s.rows[0].hole = true;
	ask_all(&s, 1, 2, CLOCK_LOST, 0);
}

static void test_one_that_ends(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_row(&s, PERIOD);
	s.thread.ended = true;
	ask(&s, 1, CLOCK_FOUND, RUNNING);
	ask_all(&s, 2, 8, CLOCK_NOBODY, 0);

	/* 3.15 keeps what is left of it for a while. */
	begin(&s);
	add_row(&s, PERIOD);
	falls_asleep(&s, 1);
	s.thread.os_state = 0;
	ask(&s, 1, CLOCK_FOUND, RUNNING);
	ask_all(&s, 2, 8, CLOCK_NOBODY, 0);

	begin(&s);
	add_row(&s, PERIOD);
	s.target.status = -ERR_GONE;
	ask(&s, 1, CLOCK_FOUND, RUNNING);
	ask_all(&s, 2, 8, CLOCK_NOBODY, 0);
}

/* A glimpse came first, and others had to be looked at: it is one tick. */
static void test_a_glimpse_and_a_glance_of_one_moment(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.track.glimpsed = 7;
	clock_track_glanced(&s.track, 7);
	assert_int_equal(s.track.n_glances, 0);
	clock_track_glanced(&s.track, 8);
	assert_int_equal(s.track.n_glances, 1);
	assert_int_equal(s.track.glances[0].time, 8);
	assert_int_equal(s.track.glances[0].node, BEFORE);
}

static void test_sleepers(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	s.track.runs = false;
	s.track.first_state = 0;
	ask_all(&s, 1, 8, CLOCK_FOUND, BEFORE);
	s.track.woke = true;
	ask_all(&s, 1, 8, CLOCK_LOST, 0);
	s.track.woke = s.track.was_seen = false;
	ask_all(&s, 1, 8, CLOCK_LOST, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_row_once),
		cmocka_unit_test(test_rows_that_are_missing),
		cmocka_unit_test(test_sleeps_of_one_that_runs),
		cmocka_unit_test(test_one_that_falls_asleep),
		cmocka_unit_test(test_one_that_slept_from_before),
		cmocka_unit_test(test_more_rows_than_ticks),
		cmocka_unit_test(test_few_rows_stay_for_the_next_window),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_one_that_ends),
		cmocka_unit_test(test_a_glimpse_and_a_glance_of_one_moment),
		cmocka_unit_test(test_sleepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
