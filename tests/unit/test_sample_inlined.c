/* What is folded of the functions at one address. */
#include "unit.h"

#include <string.h>

#include "sample/inlined.h"

static uint32_t fold(struct symbol *found, uint32_t n, bool interpreter)
{
	for (uint32_t i = 0; i < n; i++)
		found[i].inlined = i + 1 < n;
	return inlined_fold(found, n, interpreter);
}

static void test_machinery_between(void **state)
{
	struct symbol found[] = { { .name = "_PyVectorcall_FunctionInline" },
				  { .name = "list_length" },
				  { .name = "_PyObject_VectorcallTstate" },
				  { .name = "map_next", .line = 7 } };

	(void)state;
	assert_int_equal(fold(found, 4, true), 2);
	assert_string_equal(found[0].name, "list_length");
	assert_true(found[0].inlined);
	assert_string_equal(found[1].name, "map_next");
	assert_int_equal(found[1].line, 7);
	assert_false(found[1].inlined);
}

/* By its address it is known whether it is folded, not here. */
static void test_the_function_itself_stays(void **state)
{
	struct symbol found[] = { { .name = "_PyEval_EvalFrame" },
				  { .name = "_PyEval_Vector" } };

	(void)state;
	assert_int_equal(fold(found, 2, true), 1);
	assert_string_equal(found[0].name, "_PyEval_Vector");
}

static void test_names_that_are_anybodys(void **state)
{
	struct symbol found[] = { { .name = "call_function" },
				  { .name = "_PyObject_Vectorcall" },
				  { .name = "wrap_up" },
				  { .name = "work" } };

	(void)state;
	assert_int_equal(fold(found, 4, false), 3);
	assert_string_equal(found[0].name, "call_function");
	assert_string_equal(found[1].name, "wrap_up");
	assert_string_equal(found[2].name, "work");
	assert_int_equal(fold(found, 3, true), 1);
}

/* Of a chain that was cut, something is left. */
static void test_nothing_but_machinery(void **state)
{
	struct symbol found[] = {
		{ .name = "_PyEval_EvalFrame", .inlined = true },
		{ .name = "_PyObject_Call", .inlined = true }
	};

	(void)state;
	assert_int_equal(inlined_fold(found, 2, true), 1);
	assert_string_equal(found[0].name, "_PyObject_Call");
	assert_int_equal(inlined_fold(found, 0, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machinery_between),
		cmocka_unit_test(test_the_function_itself_stays),
		cmocka_unit_test(test_names_that_are_anybodys),
		cmocka_unit_test(test_nothing_but_machinery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
