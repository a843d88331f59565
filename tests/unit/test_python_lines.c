/* The four line tables. */
#include "unit.h"

#include <string.h>

#include "python/lines.h"

#define UNITS 12

static void check(enum line_style style, const char *table, size_t size,
		  uint32_t first, const uint32_t *expected, size_t n)
{
	uint32_t lines[UNITS + 1];

	memset(lines, 0xee, sizeof(lines));
	lines_expand(style, (const unsigned char *)table, size, first, lines,
		     n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(lines[i], expected[i]);
	assert_int_equal(lines[n], 0xeeeeeeee);
}

#define CHECK(style, table, first, ...)                                 \
	do {                                                            \
		const uint32_t expected[] = { __VA_ARGS__ };            \
		check(style, table, sizeof(table) - 1, first, expected, \
		      sizeof(expected) / sizeof(expected[0]));          \
	} while (0)

static void test_lnotab_of_2_7(void **state)
{
	(void)state;
	CHECK(LINES_LNOTAB_UNSIGNED, "\x02\x01\x03\xff", 10, 10, 10, 11, 11, 11,
	      266, 266);
	CHECK(LINES_LNOTAB_UNSIGNED, "", 3, 3, 3);
}

static void test_lnotab(void **state)
{
	(void)state;
	CHECK(LINES_LNOTAB, "\x04\x02\x02\xff", 5, 5, 5, 7, 6, 6);
	/* a step of more than 127 lines comes in parts, code stands still */
	CHECK(LINES_LNOTAB, "\x02\x7f\x00\x7f", 1, 1, 255);
	/* lines below 1 cannot be */
	CHECK(LINES_LNOTAB, "\x02\x80", 1, 1, 0);
}

static void test_pairs(void **state)
{
	(void)state;
	CHECK(LINES_PAIRS, "\x04\x00\x02\x80\x02\x02\x00\x05\x02\xff", 9, 9, 9,
	      0, 11, 15, 0);
}

static void test_locations(void **state)
{
	(void)state;
	/* none of 1 unit, short of 2, one line (+1) of 1, no columns (-3) */
	CHECK(LINES_LOCATIONS, "\xf8\x81\x10\xd8\x01\x05\xe8\x07", 20, 0, 20,
	      20, 21, 18);
	/* long: +70 in two groups of bits, then end line and columns */
	CHECK(LINES_LOCATIONS, "\xf1\x4c\x02\x00\x01\x02\x80\x33", 1, 71, 71,
	      71, 0);
}

static void test_tables_that_lie(void **state)
{
	(void)state;
	/* longer than the code, cut in the middle, a number that never ends */
	CHECK(LINES_LNOTAB, "\xff\x01\xff\x01\xff", 1, 1, 1);
	CHECK(LINES_PAIRS, "\xff\x01\x05", 1, 2, 2);
	CHECK(LINES_LOCATIONS, "\xe8", 5, 5, 0);
	CHECK(LINES_LOCATIONS, "\xef\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 5, 0,
	      0);
	CHECK(LINES_LOCATIONS, "", 5, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lnotab_of_2_7),
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_tables_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
