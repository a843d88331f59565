#include <string.h>

#include "base/unicode.h"
#include "unit.h"

static void test_valid_characters(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t c;
	} rows[] = {
		{ "a", 'a' },
		{ "\xc2\x80", 0x80 },
		{ "\xdf\xbf", 0x7ff },
		{ "\xe0\xa0\x80", 0x800 },
		{ "\xed\x9f\xbf", 0xd7ff },
		{ "\xef\xbf\xbf", 0xffff },
		{ "\xf0\x90\x80\x80", 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].bytes);
		uint32_t c;

		assert_int_equal(unicode_decode(rows[i].bytes, n, &c), n);
		assert_int_equal(c, rows[i].c);
	}
}

static void test_invalid_bytes_stand_alone(void **state)
{
	static const char *const rows[] = {
		"\x80",		    /* a tail without a head */
		"\xc3",		    /* a head without a tail */
		"\xc3(",	    /* the tail is another character */
		"\xe2\x82",	    /* cut */
		"\xc0\x80",	    /* overlong NUL */
		"\xe0\x80\xaf",	    /* overlong slash */
		"\xf0\x82\x82\xac", /* overlong euro */
		"\xed\xa0\x80",	    /* surrogate */
		"\xf4\x90\x80\x80", /* beyond the last */
		"\xf8\x88\x80\x80", /* five bytes announced */
		"\xff",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t c = 0;

		assert_int_equal(unicode_decode(rows[i], strlen(rows[i]), &c),
				 1);
		assert_int_equal(c, UNICODE_BAD);
	}
}

static void test_never_reads_past_the_end(void **state)
{
	const char *euro = "\xe2\x82\xac";
	uint32_t c;

	assert_int_equal(unicode_decode(euro, 2, &c), 1);
	assert_int_equal(c, UNICODE_BAD);
	assert_int_equal(unicode_decode(euro, 3, &c), 3);
	assert_int_equal(c, 0x20ac);
}

static void test_widths(void **state)
{
	static const struct {
		uint32_t c;
		int width;
	} rows[] = {
		{ 'a', 1 },	 { 0xe9, 1 },	 { 0x300, 0 },	{ 0x36f, 0 },
		{ 0x370, 1 },	 { 0x200d, 0 },	 { 0x2026, 1 }, { 0x1100, 2 },
		{ 0x4e2d, 2 },	 { 0xac00, 2 },	 { 0xff21, 2 }, { 0xfe0f, 0 },
		{ 0x1f525, 2 },	 { 0x2ffff, 2 }, { 0xfffd, 1 }, { 0xe0100, 0 },
		{ 0x10ffff, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(unicode_width(rows[i].c), rows[i].width);
}

static void test_controls(void **state)
{
	static const uint32_t controls[] = { 0,	     0x1b,   0x7f,   0x9b,
					     0x2028, 0x202e, 0x2066, 0x200f };
	static const uint32_t others[] = { ' ', 'a', 0xa0, 0x200d, 0xfffd };

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		assert_true(unicode_is_control(controls[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(unicode_is_control(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid_characters),
		cmocka_unit_test(test_invalid_bytes_stand_alone),
		cmocka_unit_test(test_never_reads_past_the_end),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
