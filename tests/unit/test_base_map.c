#include "base/map.h"
#include "unit.h"

static void test_empty_map_has_nothing(void **state)
{
	struct map m = MAP_INIT;

	assert_int_equal(map_get(&m, 0, 0), MAP_NONE);
	map_clear(&m);
	map_release(&m);
}

static void test_values_survive_growth(void **state)
{
	struct map m = MAP_INIT;

	for (uint32_t i = 0; i < 10000; i++)
		map_put(&m, i * 16ull, i % 7, i);
	assert_int_equal(m.count, 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(map_get(&m, i * 16ull, i % 7), i);
		assert_int_equal(map_get(&m, i * 16ull, 7), MAP_NONE);
	}
	map_release(&m);
}

static void test_both_words_count(void **state)
{
	struct map m = MAP_INIT;

	map_put(&m, 1, 2, 12);
	map_put(&m, 2, 1, 21);
	assert_int_equal(map_get(&m, 1, 2), 12);
	assert_int_equal(map_get(&m, 2, 1), 21);
	assert_int_equal(map_get(&m, 1, 1), MAP_NONE);
	map_release(&m);
}

static void test_put_replaces(void **state)
{
	struct map m = MAP_INIT;

	map_put(&m, UINT64_MAX, 0, 1);
	map_put(&m, UINT64_MAX, 0, 2);
	assert_int_equal(m.count, 1);
	assert_int_equal(map_get(&m, UINT64_MAX, 0), 2);
	map_release(&m);
}

static void test_clear_forgets(void **state)
{
	struct map m = MAP_INIT;

	map_put(&m, 0, 0, 0);
	assert_int_equal(map_get(&m, 0, 0), 0);
	map_clear(&m);
	assert_int_equal(map_get(&m, 0, 0), MAP_NONE);
	assert_int_equal(m.count, 0);
	map_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_map_has_nothing),
		cmocka_unit_test(test_values_survive_growth),
		cmocka_unit_test(test_both_words_count),
		cmocka_unit_test(test_put_replaces),
		cmocka_unit_test(test_clear_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
