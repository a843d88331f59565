/* Strings of every kind. */
#include "unit.h"

#include "../support/fake_memory.h"
#include "python/code.h"
#include "python/layouts/layouts.h"
#include "python/object.h"

static const struct layout *const layouts[] = {
	&layout_3_6, &layout_3_8, &layout_3_12, &layout_3_13t, &layout_3_14t,
};

static void check_max(struct fake_python *p, uint64_t text, size_t max,
		      const char *expected)
{
	struct buffer out = BUFFER_INIT;

	assert_int_equal(text_read(&out, fake_memory_reader(p->memory),
				   p->layout, text, max),
			 0);
	assert_string_equal(buffer_text(&out), expected);
	buffer_release(&out);
}

static void check(struct fake_python *p, uint64_t text, const char *expected)
{
	check_max(p, text, CODE_NAME_MAX, expected);
}

static void test_compact(void **state)
{
	const uint16_t two[] = { 0x6587, 'x', 0xdc80, 0xe9 };
	const uint32_t four[] = { 0x1f600, 'y', 0x110000 };

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct fake_python p = { fake_memory_new(), layouts[i] };

		check(&p, fake_ascii(&p, "plain"), "plain");
		check(&p, fake_ascii(&p, ""), "");
		check(&p, fake_text(&p, "caf\xe9", 4, 1), "caf\xc3\xa9");
		check(&p, fake_text(&p, two, 4, 2),
		      "\xe6\x96\x87x\xef\xbf\xbd\xc3\xa9");
		check(&p, fake_text(&p, four, 3, 4),
		      "\xf0\x9f\x98\x80y\xef\xbf\xbd");
		fake_memory_free(p.memory);
	}
}

/* An instance of a subclass of str points at its characters. */
static void test_not_compact(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t text = fake_text(&p, "", 0, 1);
	uint64_t data = fake_memory_map(p.memory, 8);
	uint64_t object = fake_object(&p, 0, layout_3_12.unicode.data + 8);

	(void)state;
	(void)text;
	fake_memory_put(p.memory, data, "apart", 5);
	fake_memory_put_word(p.memory, object + layout_3_12.unicode.length, 5);
	fake_memory_put_int(p.memory, object + layout_3_12.unicode.state,
			    1 << 2);
	fake_memory_put_word(p.memory, object + layout_3_12.unicode.data, data);
	check(&p, object, "apart");
	fake_memory_free(p.memory);
}

static void test_cut(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	static char longer[CODE_NAME_MAX + 100];
	struct buffer out = BUFFER_INIT;

	(void)state;
	check_max(&p, fake_ascii(&p, "abcdef"), 3, "abc");
	/* no half of a character */
	check_max(&p, fake_text(&p, "\xe9\xe9", 2, 1), 3, "\xc3\xa9");
	check_max(&p, fake_ascii(&p, "abc"), 0, "");
	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = 'z';
	assert_int_equal(text_read(&out, fake_memory_reader(p.memory), p.layout,
				   fake_text(&p, longer, sizeof(longer), 1),
				   SIZE_MAX),
			 0);
	assert_int_equal(out.size, CODE_NAME_MAX);
	buffer_release(&out);
	fake_memory_free(p.memory);
}

static void test_2_7(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_2_7 };
	const uint16_t narrow[] = { 'a', 'b', 0xe9, 'c' };
	const uint32_t wide[] = { 'a', 'b', 0xe9, 0x1f600 };

	(void)state;
	check(&p, fake_ascii(&p, "bytes"), "bytes");
	check(&p, fake_ascii(&p, "caf\xc3\xa9 \xff"),
	      "caf\xc3\xa9 \xef\xbf\xbd");
	check(&p, fake_text(&p, narrow, 4, 2),
	      "ab\xc3\xa9"
	      "c");
	check(&p, fake_text(&p, wide, 4, 4), "ab\xc3\xa9\xf0\x9f\x98\x80");
	fake_memory_free(p.memory);
}

static void check_refused(struct fake_python *p, uint64_t object, int code)
{
	struct buffer out = BUFFER_INIT;

	assert_int_equal(text_read(&out, fake_memory_reader(p->memory),
				   p->layout, object, 100),
			 -code);
	assert_int_equal(out.size, 0);
	buffer_release(&out);
}

static void test_refused(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t text = fake_ascii(&p, "abc");

	(void)state;
	check_refused(&p, 0, ERR_UNREADABLE);
	fake_memory_put_word(p.memory, text + p.layout->unicode.length, 4000);
	check_refused(&p, text, ERR_UNREADABLE);
	fake_memory_put_word(p.memory, text + p.layout->unicode.length,
			     UINT64_MAX);
	check_refused(&p, text, ERR_CORRUPT);
	fake_memory_put_int(p.memory, text + p.layout->unicode.state, 3 << 2);
	check_refused(&p, text, ERR_CORRUPT);
	p.layout = &layout_2_7;
	check_refused(&p, fake_list(&p, NULL, 0), ERR_CORRUPT);
	fake_memory_free(p.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_not_compact),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_2_7),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
