#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "unit.h"

static void test_same_text_same_id(void **state)
{
	struct intern t = INTERN_INIT;
	char copy[] = "hello";

	assert_int_equal(intern_string(&t, ""), 0);
	assert_int_equal(intern_string(&t, "hello"), 1);
	assert_int_equal(intern_string(&t, copy), 1);
	memset(copy, 'x', 5); /* the table has its own copy */
	assert_string_equal(intern_text(&t, 1), "hello");
	intern_release(&t);
}

static void test_ids_survive_growth(void **state)
{
	struct intern t = INTERN_INIT;
	char text[16];

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "name%u", i);
			assert_int_equal(intern_string(&t, text), i);
		}
	}
	assert_int_equal(t.count, 5000);
	assert_string_equal(intern_text(&t, 4999), "name4999");
	intern_release(&t);
}

static void test_bytes_with_nul_differ(void **state)
{
	struct intern t = INTERN_INIT;
	uint32_t a = intern_bytes(&t, "a\0b", 3);

	assert_int_not_equal(a, intern_bytes(&t, "a\0c", 3));
	assert_int_not_equal(a, intern_bytes(&t, "a", 1));
	assert_int_equal(a, intern_bytes(&t, "a\0b", 3));
	assert_int_equal(t.strings[a].size, 3);
	intern_release(&t);
}

static void test_unknown_id_is_empty(void **state)
{
	struct intern t = INTERN_INIT;

	assert_string_equal(intern_text(&t, 0), "");
	intern_string(&t, "x");
	assert_string_equal(intern_text(&t, 1), "");
	assert_string_equal(intern_text(&t, UINT32_MAX), "");
	intern_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_text_same_id),
		cmocka_unit_test(test_ids_survive_growth),
		cmocka_unit_test(test_bytes_with_nul_differ),
		cmocka_unit_test(test_unknown_id_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
