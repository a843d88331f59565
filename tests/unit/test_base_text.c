#include <math.h>
#include <string.h>

#include "base/text.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Check what was added, and release it. */
static void expect(struct buffer *b, const char *text)
{
	assert_string_equal(buffer_text(b), text);
	buffer_release(b);
}

static void test_width(void **state)
{
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("e\xcc\x81"), 1);	     /* e + acute */
	assert_int_equal(text_width("\xe4\xb8\xad\xe6"), 3); /* wide, bad */
	assert_int_equal(text_width("a\x1b[2Jb"), 6);
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		int columns;
		bool keep_end;
		const char *cut;
	} rows[] = {
		{ "abcdef", 6, false, "abcdef" },
		{ "abcdef", 5, false, "abcd…" },
		{ "abcdef", 5, true, "…cdef" },
		{ "abcdef", 1, false, "…" },
		{ "abcdef", 1, true, "…" },
		{ "abcdef", 0, false, "" },
		{ "abcdef", -3, true, "" },
		{ "", 3, false, "" },
		{ "中文字", 5, false, "中文…" },
		{ "中文字", 4, false, "中…" }, /* no half character */
		{ "中文字", 4, true, "…字" },
		{ "ae\xcc\x81z", 2, false, "a…" },
		{ "e\xcc\x81z!", 2, true, "…!" },
		{ "ae\xcc\x81z", 2, true, "…z" }, /* the accent goes too */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer b = BUFFER_INIT;

		text_add_cut(&b, rows[i].text, rows[i].columns,
			     rows[i].keep_end);
		assert_true(text_width(buffer_text(&b)) <= rows[i].columns ||
			    !b.size);
		expect(&b, rows[i].cut);
	}
}

static void test_hostile_text_is_made_visible(void **state)
{
	struct buffer b = BUFFER_INIT;

	text_add_safe(&b, "a\x1b[31m\n\xff\xe2\x80\xae"
			  "z");
	expect(&b, "a\uFFFD[31m\uFFFD\uFFFD\uFFFDz");
	text_add_cut(&b, "\r\t\x07", 3, false);
	expect(&b, "\uFFFD\uFFFD\uFFFD");
}

static void test_seconds(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {
		{ 0, "0 s" },
		{ 1.234, "1.23 s" },
		{ 12.34, "12.3 s" },
		{ 123.4, "123 s" },
		{ 12345.6, "12346 s" },
		{ 0.0456, "45.6 ms" },
		{ 7.8e-6, "7.80 us" },
		{ 0.9996, "1.00 s" },
		{ 0.9994, "999 ms" },
		{ 9.999e-3, "10.0 ms" },
		{ 0.0999999, "100 ms" },
		{ 5e-9, "5.00 ns" },
		{ -1.5, "-1.50 s" },
		{ NAN, "? s" },
		{ INFINITY, "? s" },
		{ 1e-12, "0.00 ns" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer b = BUFFER_INIT;

		text_add_seconds(&b, rows[i].seconds);
		expect(&b, rows[i].text);
	}
}

static void test_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 999, "999 B" },
		{ 1000, "1.00 kB" },
		{ 12345678, "12.3 MB" },
		{ 999499, "999 kB" },
		{ 999500, "1.00 MB" },
		{ UINT64_MAX, "18.4 EB" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer b = BUFFER_INIT;

		text_add_bytes(&b, rows[i].bytes);
		expect(&b, rows[i].text);
	}
}

static void test_count(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ 1000000, "1,000,000" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer b = BUFFER_INIT;

		text_add_count(&b, rows[i].n);
		expect(&b, rows[i].text);
	}
}

static void test_patterns(void **state)
{
	static const struct {
		const char *text, *pattern;
		bool matches;
	} rows[] = {
		{ "shop.cart.add", "cart", true },
		{ "shop.cart.add", "Cart", false },
		{ "shop.cart.add", "", true },
		{ "shop.cart.add", "cart*", false }, /* now all of it counts */
		{ "shop.cart.add", "*cart*", true },
		{ "shop.cart.add", "shop.*.add", true },
		{ "shop.cart.add", "shop.????.add", true },
		{ "shop.cart.add", "shop.???.add", false },
		{ "", "*", true },
		{ "", "?", false },
		{ "aaab", "*ab", true },
		{ "aaab", "a*a*b", true },
		{ "aaab", "*a", false },
		{ "é", "?", true },
		{ "é", "??", false },
		{ "ab", "*???", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(text_matches(rows[i].text, rows[i].pattern),
				 rows[i].matches);
}

/* Exponential matchers do not come back from this one. */
static void test_many_stars_end(void **state)
{
	char text[3001];

	memset(text, 'a', 3000);
	text[3000] = 0;
	assert_false(text_matches(text, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile_text_is_made_visible),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_many_stars_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
