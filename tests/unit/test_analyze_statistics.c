/* Intervals against simulated programs whose true shares are known. */
#include <math.h>

#include "analyze/top.h"
#include "analyze_support.h"

#define RECORDINGS 200
#define TICKS	   600

static void test_wilson_known_values(void **state)
{
	struct interval none = share_interval(0, 10);
	struct interval half = share_interval(50, 100);
	struct interval nothing = share_interval(0, 0);

	assert_true(none.low == 0 && fabs(none.high - 0.2775) < 0.001);
	assert_true(fabs(half.low - 0.4038) < 0.001);
	assert_true(fabs(half.high - 0.5962) < 0.001);
	assert_true(nothing.low == 0 && nothing.high == 1);
}

static void test_interval_narrows_with_samples(void **state)
{
	double before = 1;

	for (uint64_t n = 10; n < 1000000; n *= 4) {
		double now = interval_half(share_interval(n / 10 * 3, n));

		assert_true(now < before);
		before = now;
	}
}

/* A program of one function "hot" (true share given) and one "cold", in
 * `threads` threads. `switches`: how likely it is per tick to choose anew which
 * one it runs: 1 is a new choice at each tick. `alike`: all threads do the same
 * at the same time. */
struct program {
	double share;
	double switches;
	uint32_t threads;
	bool alike;
};

struct covered {
	uint32_t run, again,
		naive; /* recordings whose interval has the truth */
	double width;  /* of `run`, on average */
};

static void record_program(struct fake *f, const struct program *program,
			   uint64_t *random)
{
	uint32_t stacks[2] = { fake_stack(f, "main;cold"),
			       fake_stack(f, "main;hot") };
	bool hot[16];

	for (uint32_t k = 0; k < program->threads; k++) {
		fake_thread(f, 0, 100 + k, "thread");
		hot[k] = fake_uniform(random) < program->share;
	}
	for (int i = 0; i < TICKS; i++) {
		fake_tick(f);
		for (uint32_t k = 0; k < program->threads; k++) {
			if (fake_uniform(random) < program->switches)
				hot[k] = fake_uniform(random) < program->share;
			if (program->alike && k)
				hot[k] = hot[0];
			fake_see(f, k, stacks[hot[k]], FAKE_CPU);
		}
	}
}

static bool holds(struct interval i, double truth)
{
	return i.low <= truth && truth <= i.high;
}

static void check_recording(struct covered *c, const struct program *program,
			    uint64_t *random)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	struct shares top;

	record_program(&f, program, random);
	fake_profile(&f, NULL);
	assert_int_equal(top_count(&top, f.profile, BY_FLAT, &arena, NULL), 0);
	for (uint32_t i = 0; i < top.n_items; i++) {
		const struct share_count *flat = &top.items[i].flat;

		if (top.items[i].key != fake_function(&f, "hot"))
			continue;
		c->run += holds(flat->sure.run, program->share);
		c->again += holds(flat->sure.again, program->share);
		c->naive +=
			holds(share_interval(flat->samples, f.profile->samples),
			      program->share);
		c->width += interval_half(flat->sure.run) / RECORDINGS;
		assert_true(flat->sure.again.low <= flat->sure.run.low);
		assert_true(flat->sure.again.high >= flat->sure.run.high);
	}
	arena_release(&arena);
	fake_end(&f);
}

static struct covered simulate(struct program program)
{
	struct covered c = { 0 };
	uint64_t random = 20240229;

	for (int i = 0; i < RECORDINGS; i++)
		check_recording(&c, &program, &random);
	return c;
}

#define AT_LEAST_90_PERCENT(n) assert_true((n) >= RECORDINGS * 90 / 100)

static void test_covers_one_thread(void **state)
{
	const double shares[] = { 0.1, 0.3, 0.6 };

	for (int i = 0; i < 3; i++) {
		struct covered c =
			simulate((struct program){ shares[i], 1, 1, false });
		struct interval plain =
			share_interval_of(shares[i], (double)TICKS);

		AT_LEAST_90_PERCENT(c.run);
		AT_LEAST_90_PERCENT(c.again);
		/* And is no wider than need be. */
		assert_true(c.width < 1.1 * interval_half(plain));
	}
}

static void test_covers_threads_in_step(void **state)
{
	struct covered c = simulate((struct program){ 0.3, 1, 8, true });

	AT_LEAST_90_PERCENT(c.run);
	/* Had each sample been counted as a look of its own, it would not. */
	assert_true(c.naive < RECORDINGS * 70 / 100);
}

static void test_covers_independent_threads(void **state)
{
	struct covered c = simulate((struct program){ 0.3, 1, 8, false });

	AT_LEAST_90_PERCENT(c.run);
}

static void test_again_covers_phases(void **state)
{
	struct covered c = simulate((struct program){ 0.3, 0.15, 1, false });

	AT_LEAST_90_PERCENT(c.again);
	/* The binomial knows nothing of phases. */
	assert_true(c.naive < RECORDINGS * 85 / 100);
}

/* A program of long phases, looked at by a regular sampler: the interval for
 * the time recorded holds the share of that very time. */
static void test_run_covers_the_time_recorded(void **state)
{
	uint64_t random = 7;
	uint32_t covered = 0;

	for (int i = 0; i < RECORDINGS; i++) {
		double at = 0, hot = 0;
		uint64_t hits = 0;
		bool is_hot = false;

		while (at < TICKS) {
			double end = fmin(at - 20 * log(fake_uniform(&random) +
							1e-9),
					  TICKS);

			if (is_hot) {
				hot += end - at;
				hits += (uint64_t)(ceil(end) - ceil(at));
			}
			is_hot = !is_hot;
			at = end;
		}
		covered += holds(share_interval(hits, TICKS), hot / TICKS);
	}
	AT_LEAST_90_PERCENT(covered);
}

/* One thread works, many wait: those that wait must not blur the shares. */
static void test_waiting_threads_add_little(void **state)
{
	struct share_base base = { .samples = 41 * 1000, .ticks = 1000 };
	struct share_sums sums = { 0 };
	struct confidence c;
	double alone;

	for (int i = 0; i < 41; i++)
		share_base_thread(&base, 1000);
	share_sums_thread(&sums, 500, 1000);
	c = share_confidence(&sums, &base, 500);
	alone = interval_half(share_interval(500, 1000)) / 41;
	assert_true(holds(c.run, c.share));
	assert_true(interval_half(c.run) < 4 * alone);
}

/* Thousands of short threads: ticks are the better bound. */
static void test_short_threads_are_bounded_by_ticks(void **state)
{
	struct share_base base = { .samples = 10000, .ticks = 10000 };
	struct share_sums sums = { 0 };
	struct confidence c;

	for (int i = 0; i < 5000; i++)
		share_base_thread(&base, 2);
	for (int i = 0; i < 2500; i++)
		share_sums_thread(&sums, 1, 2);
	c = share_confidence(&sums, &base, 2500);
	assert_true(interval_half(c.run) <
		    1.01 * interval_half(share_interval(2500, 10000)));
}

static void test_phases_are_marked(void **state)
{
	struct share_base base = { .samples = 2000, .ticks = 2000 };
	struct share_sums steady = { 0 }, phase = { 0 };

	share_base_thread(&base, 2000);
	share_sums_thread(&steady, 600, 2000);
	share_sums_thread(&phase, 600, 2000);
	for (int i = 0; i < 20; i++) {
		share_base_slice(&base, 100);
		share_sums_slice(&steady, 28 + i % 5, 100);
		share_sums_slice(&phase, i < 6 ? 100 : 0, 100);
	}
	assert_false(share_confidence(&steady, &base, 600).drifts);
	assert_true(share_confidence(&phase, &base, 600).drifts);
}

static void test_no_samples_no_certainty(void **state)
{
	struct share_base base = { 0 };
	struct share_sums sums = { 0 };
	struct confidence c = share_confidence(&sums, &base, 0);

	assert_true(c.run.low == 0 && c.run.high == 1);
	assert_false(c.drifts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wilson_known_values),
		cmocka_unit_test(test_interval_narrows_with_samples),
		cmocka_unit_test(test_covers_one_thread),
		cmocka_unit_test(test_covers_threads_in_step),
		cmocka_unit_test(test_covers_independent_threads),
		cmocka_unit_test(test_again_covers_phases),
		cmocka_unit_test(test_run_covers_the_time_recorded),
		cmocka_unit_test(test_waiting_threads_add_little),
		cmocka_unit_test(test_short_threads_are_bounded_by_ticks),
		cmocka_unit_test(test_phases_are_marked),
		cmocka_unit_test(test_no_samples_no_certainty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
