#include "analyze/query.h"
#include "base/buffer.h"
#include "unit.h"

static void takes_fields(void **state)
{
	struct arena arena = ARENA_INIT;
	struct query q;
	uint32_t *list;

	query_parse(&q, "view=top&n=7&empty=&no&list=3,1,40&off=0&on=1",
		    &arena);
	assert_string_equal(query_text(&q, "view", "x"), "top");
	assert_string_equal(query_text(&q, "gone", "x"), "x");
	assert_string_equal(query_text(&q, "empty", "x"), "");
	assert_int_equal(query_number(&q, "n", 1), 7);
	assert_int_equal(query_number(&q, "view", 5), 5);
	assert_int_equal(query_within(&q, "n", 1, 10, 20), 10);
	assert_int_equal(query_within(&q, "n", 1, 1, 5), 5);
	assert_int_equal(query_list(&q, "list", &list, &arena), 3);
	assert_int_equal(list[2], 40);
	assert_int_equal(query_list(&q, "gone", &list, &arena), 0);
	assert_true(query_flag(&q, "on"));
	assert_false(query_flag(&q, "off"));
	assert_false(query_flag(&q, "empty"));
	arena_release(&arena);
}

static void undoes_escapes(void **state)
{
	struct arena arena = ARENA_INIT;
	struct query q;

	query_parse(&q, "a=%26%3d%2Bx+y&b=%zz%4&c=%00z&d=%", &arena);
	assert_string_equal(query_text(&q, "a", ""), "&=+x y");
	assert_string_equal(query_text(&q, "b", ""), "%zz%4");
	assert_string_equal(query_text(&q, "c", ""), "%00z");
	assert_string_equal(query_text(&q, "d", ""), "%");
	arena_release(&arena);
}

static void ignores_what_is_too_much(void **state)
{
	struct arena arena = ARENA_INIT;
	struct buffer text = BUFFER_INIT;
	struct query q;

	for (int i = 0; i < 2 * QUERY_FIELDS; i++)
		buffer_printf(&text, "f%d=%d&", i, i);
	query_parse(&q, buffer_text(&text), &arena);
	assert_int_equal(q.n_fields, QUERY_FIELDS);
	assert_int_equal(query_number(&q, "f0", 9), 0);
	buffer_release(&text);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_fields),
		cmocka_unit_test(undoes_escapes),
		cmocka_unit_test(ignores_what_is_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
