#include <string.h>

#include "base/error.h"
#include "unit.h"

static void test_fail_returns_the_code_and_keeps_the_sentence(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(fail(&err, ERR_IO, "cannot open %s", "x"), -ERR_IO);
	assert_int_equal(err.code, ERR_IO);
	assert_string_equal(err.text, "cannot open x");
	assert_int_equal(fail(NULL, ERR_GONE, "%s", "unheard"), -ERR_GONE);
}

static void test_context_goes_in_front(void **state)
{
	struct error err = ERROR_INIT;

	fail(&err, ERR_CORRUPT, "bad block %d", 7);
	assert_int_equal(error_context(&err, "file %s", "a.pyro"),
			 -ERR_CORRUPT);
	assert_string_equal(err.text, "file a.pyro: bad block 7");
	assert_true(error_context(NULL, "nobody listens") < 0);
}

static void test_long_texts_are_cut(void **state)
{
	struct error err = ERROR_INIT;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	fail(&err, ERR_IO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_context(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void test_every_code_has_its_own_exit_status(void **state)
{
	int seen[256] = { 0 };

	for (int code = ERR_NONE; code <= ERR_LIMIT; code++) {
		int status = error_exit_status(code);

		assert_int_equal(status, error_exit_status(-code));
		assert_in_range(status, 0, 125); /* a shell keeps the rest */
		assert_false(seen[status]);
		seen[status] = 1;
		assert_true(strlen(error_name(-code)) > 0);
	}
	assert_int_equal(error_exit_status(ERR_NONE), 0);
}

static void test_unknown_codes_are_failures(void **state)
{
	assert_int_not_equal(error_exit_status(-12345), 0);
	assert_non_null(error_name(12345));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_fail_returns_the_code_and_keeps_the_sentence),
		cmocka_unit_test(test_context_goes_in_front),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_every_code_has_its_own_exit_status),
		cmocka_unit_test(test_unknown_codes_are_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
