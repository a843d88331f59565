#include "base/clock.h"
#include "unit.h"

static void test_clocks_go_forward(void **state)
{
	uint64_t now = clock_now(), cpu = clock_thread_cpu();

	for (volatile int i = 0; i < 1000000; i++)
		;
	assert_true(clock_now() > now);
	assert_true(clock_thread_cpu() > cpu);
	assert_true(clock_process_cpu() >= clock_thread_cpu() - cpu);
}

static void test_wall_clock_is_nanoseconds(void **state)
{
	/* Between 2020 and 2200, if it counts what it should. */
	assert_in_range(clock_wall() / NS_PER_SECOND, 1577836800, 7258118400);
}

static void test_sleep_does_not_end_early(void **state)
{
	uint64_t when = clock_now() + NS_PER_SECOND / 200;

	clock_sleep_until(when);
	assert_true(clock_now() >= when);
	clock_sleep_until(0); /* long past: returns */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_go_forward),
		cmocka_unit_test(test_wall_clock_is_nanoseconds),
		cmocka_unit_test(test_sleep_does_not_end_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
