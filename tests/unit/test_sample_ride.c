/* Which threads are read from their own core, and the proof that it held. */
#include "unit.h"

#include "sample/ride.h"

#define SLOW 1000000u /* ns: a period at which riding is possible */
#define FAST 10000u

static struct rider rider(enum ride_mode mode, uint64_t period)
{
	struct rider r = { 0 };

	rider_init(&r, mode, period);
	return r;
}

static void test_restless_threads_are_learnt_and_forgotten(void **state)
{
	struct target_thread thread = { .state = STATE_ON_CPU };
	struct rider r = rider(RIDE_AUTO, SLOW);
	double restless;

	(void)state;
	assert_false(rider_wants(&r, &thread));
	for (int i = 0; i < 100; i++)
		rider_learn(&thread, true);
	assert_true(rider_wants(&r, &thread));
	restless = thread.moving;
	rider_forget(&thread);
	assert_true(thread.moving < restless && thread.moving > 0);
	for (int i = 0; i < 100000; i++)
		rider_forget(&thread);
	assert_false(rider_wants(&r, &thread));
	for (int i = 0; i < 100; i++)
		rider_learn(&thread, i % 2);
	for (int i = 0; i < 2000; i++)
		rider_learn(&thread, false);
	assert_false(rider_wants(&r, &thread));
}

static void test_only_threads_that_run_are_ridden(void **state)
{
	struct target_thread thread = { .moving = 1 };
	struct rider r = rider(RIDE_AUTO, SLOW);

	(void)state;
	assert_false(rider_wants(&r, &thread));
	thread.state = STATE_GIL;
	assert_true(rider_wants(&r, &thread));
	thread.state = STATE_ON_CPU;
	assert_true(rider_wants(&r, &thread));
	thread.moving = 0;
	r = rider(RIDE_ALWAYS, SLOW);
	assert_true(rider_wants(&r, &thread));
}

static void test_rate_and_mode_decide(void **state)
{
	struct target_thread thread = { .moving = 1, .state = STATE_ON_CPU };
	struct rider r = rider(RIDE_AUTO, FAST);

	(void)state;
	assert_false(rider_wants(&r, &thread));
	r = rider(RIDE_AUTO, 0);
	assert_false(rider_wants(&r, &thread));
	r = rider(RIDE_NEVER, SLOW);
	assert_false(rider_wants(&r, &thread));
	r = rider(RIDE_ALWAYS, FAST);
	assert_true(rider_wants(&r, &thread));
	thread.moving = 0;
	r = rider(RIDE_WAKE, FAST);
	assert_true(rider_wants(&r, &thread));
	r = rider(RIDE_NEVER, SLOW);
	rider_insist(&r);
	assert_false(rider_wants(&r, &thread));
}

static void test_unknown_core_is_not_gone_to(void **state)
{
	struct target_thread thread = { .core = UINT32_MAX };
	struct rider r = rider(RIDE_AUTO, SLOW);

	(void)state;
	assert_false(rider_go(&r, &thread));
	assert_true(r.wanted && !r.refused);
}

static void test_forbidden_core_ends_riding(void **state)
{
	struct target_thread thread = { .core = CPU_SETSIZE };
	struct rider r = rider(RIDE_AUTO, SLOW);

	(void)state;
	assert_false(rider_go(&r, &thread));
	assert_true(r.refused && r.core == -1);
}

/* A target without a process: it has no core to tell, and no time. */
static void test_nothing_is_proven_of_nothing(void **state)
{
	struct target_thread thread = { .os = OS_THREAD_INIT };
	struct rider r = rider(RIDE_AUTO, SLOW);
	struct target target = { 0 };

	(void)state;
	rider_begin(&r, &target, &thread);
	assert_false(rider_held(&r, &target, &thread));
	thread.core = (uint32_t)sched_core();
	if (!rider_go(&r, &thread))
		skip();
	rider_begin(&r, &target, &thread);
	assert_false(rider_held(&r, &target, &thread));
	rider_leave(&r);
	assert_int_equal(r.core, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_restless_threads_are_learnt_and_forgotten),
		cmocka_unit_test(test_only_threads_that_run_are_ridden),
		cmocka_unit_test(test_rate_and_mode_decide),
		cmocka_unit_test(test_unknown_core_is_not_gone_to),
		cmocka_unit_test(test_forbidden_core_ends_riding),
		cmocka_unit_test(test_nothing_is_proven_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
