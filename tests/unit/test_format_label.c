#include "analyze_support.h"

#include "format/label.h"

static void test_states_have_an_order(void **state)
{
	uint32_t all = STATE_ON_CPU | STATE_GIL | STATE_GC;

	(void)state;
	assert_int_equal(label_state(0), LABEL_IDLE);
	assert_int_equal(label_state(STATE_GIL), LABEL_IDLE);
	assert_int_equal(label_state(STATE_ON_CPU), LABEL_NATIVE);
	assert_int_equal(label_state(STATE_ON_CPU | STATE_GIL), LABEL_PYTHON);
	assert_int_equal(label_state(STATE_GIL_WAIT), LABEL_GIL_WAIT);
	assert_int_equal(label_state(all), LABEL_GC);
	for (int i = 0; i < LABEL_STATES; i++)
		assert_non_null(label_state_name((enum label_state)i));
}

static void check_clean(const char *from, const char *to)
{
	struct buffer out = BUFFER_INIT;

	label_add_clean(&out, from, ";", ',');
	assert_string_equal(buffer_text(&out), to);
	buffer_release(&out);
}

static void test_cleans_hostile_text(void **state)
{
	(void)state;
	check_clean("", "");
	check_clean("a;b", "a,b");
	check_clean("a\nb\x7f\x1b", "a,b,,");
	check_clean("\xc3\xa9", "\xc3\xa9");
	check_clean("\xff.", "\xef\xbf\xbd.");
	check_clean("\xe5\x90", "\xef\xbf\xbd\xef\xbf\xbd"); /* cut short */
}

static void check_frame(const char *file, uint32_t line, const char *to)
{
	struct function_info f = { "f", file, 1, FUNCTION_PYTHON, "" };
	struct buffer out = BUFFER_INIT;

	label_add_frame(&out, &f, line, strlen("/srv/"));
	assert_string_equal(buffer_text(&out), to);
	buffer_release(&out);
}

static void test_frames_as_py_spy_has_them(void **state)
{
	(void)state;
	check_frame("/srv/app.py", 7, "f (app.py:7)");
	check_frame("/srv/app.py", 0, "f (app.py)");
	check_frame("/usr/lib/python3.12/json/decoder.py", 7,
		    "f (json/decoder.py:7)");
	check_frame("<string>", 1, "f (<string>:1)");
	check_frame("", 1, "f");
}

static void test_thread_ids_are_unique(void **state)
{
	struct fake f = fake_begin();
	uint32_t *tids;

	(void)state;
	fake_thread(&f, 0, 100, "main");
	fake_thread(&f, 0, 0, "unknown");
	fake_thread(&f, 0, 0, "unknown too");
	fake_thread(&f, 0, 100, "took its number");
	tids = label_unique_tids(fake_profile(&f, NULL));
	assert_int_equal(tids[0], 100);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(tids[i], tids[j]);
	free(tids);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_have_an_order),
		cmocka_unit_test(test_cleans_hostile_text),
		cmocka_unit_test(test_frames_as_py_spy_has_them),
		cmocka_unit_test(test_thread_ids_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
