#include <math.h>

#include "base/json.h"
#include "unit.h"

/* Check what the writer of `j` made so far, and forget it. */
static void expect(struct json *j, const char *text)
{
	assert_string_equal(buffer_text(j->out), text);
	buffer_reset(j->out);
	j->comma = false;
}

static void test_nesting_and_commas(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct json j = JSON_OVER(&b);

	json_open(&j, NULL, '{');
	json_int(&j, "a", INT64_MIN);
	json_open(&j, "b", '[');
	json_bool(&j, NULL, true);
	json_null(&j, NULL);
	json_open(&j, NULL, '{');
	json_close(&j);
	json_open(&j, NULL, '[');
	json_close(&j);
	json_close(&j);
	json_string(&j, "c", "");
	json_close(&j);
	expect(&j, "{\"a\":-9223372036854775808,\"b\":[true,null,{},[]],"
		   "\"c\":\"\"}");
	buffer_release(&b);
}

static void test_escapes(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct json j = JSON_OVER(&b);

	json_string(&j, NULL, "q\"b\\n\nr\rt\tb\bf\f\x01\x1f\x7f/");
	expect(&j, "\"q\\\"b\\\\n\\nr\\rt\\tb\\bf\\f\\u0001\\u001f\x7f/\"");
	json_bytes(&j, NULL, "a\0b", 3);
	expect(&j, "\"a\\u0000b\"");
	json_int(&j, "k\"", 1);
	expect(&j, "\"k\\\"\":1");
	buffer_release(&b);
}

static void test_bad_bytes_are_replaced_one_by_one(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct json j = JSON_OVER(&b);

	json_string(&j, NULL, "h\xc3\xa9\xf0\x9f\x94\xa5");
	expect(&j, "\"h\xc3\xa9\xf0\x9f\x94\xa5\"");
	json_string(&j, NULL, "a\xff\xc3z\xe2\x82");
	expect(&j, "\"a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\"");
	buffer_release(&b);
}

static void test_doubles_are_short_and_exact(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct json j = JSON_OVER(&b);

	json_double(&j, NULL, 0.1);
	json_double(&j, NULL, 1.0 / 3);
	json_double(&j, NULL, 100);
	json_double(&j, NULL, 5e-324);
	json_double(&j, NULL, NAN);
	json_double(&j, NULL, -INFINITY);
	expect(&j,
	       "0.1,0.3333333333333333,100,4.94065645841247e-324,null,null");
	buffer_release(&b);
}

/* What is too deep becomes null, and what follows is still well formed. */
static void test_depth_is_bounded(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct json j = JSON_OVER(&b);
	int open = 0, close = 0;

	for (int i = 0; i < JSON_DEPTH + 10; i++)
		json_open(&j, NULL, '[');
	json_string(&j, NULL, "unseen");
	for (int i = 0; i < JSON_DEPTH + 10; i++)
		json_close(&j);
	for (size_t i = 0; i < b.size; i++) {
		open += b.data[i] == '[';
		close += b.data[i] == ']';
	}
	assert_int_equal(open, JSON_DEPTH);
	assert_int_equal(close, JSON_DEPTH);
	assert_memory_equal(b.data + JSON_DEPTH, "null]", 5);
	assert_int_equal(b.size, 2 * JSON_DEPTH + 4);
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting_and_commas),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_bad_bytes_are_replaced_one_by_one),
		cmocka_unit_test(test_doubles_are_short_and_exact),
		cmocka_unit_test(test_depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
