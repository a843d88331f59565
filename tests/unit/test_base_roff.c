/* Text for man pages. */
#include "unit.h"

#include "base/roff.h"

static void assert_text(const char *text, const char *roff)
{
	struct buffer b = BUFFER_INIT;

	roff_text(&b, text);
	assert_string_equal(buffer_text(&b), roff);
	buffer_release(&b);
}

static void assert_paragraphs(const char *text, const char *roff)
{
	struct buffer b = BUFFER_INIT;

	roff_paragraphs(&b, text);
	assert_string_equal(buffer_text(&b), roff);
	buffer_release(&b);
}

static void test_text(void **state)
{
	assert_text("", "");
	assert_text("plain. 'quoted'", "plain. 'quoted'");
	assert_text("--rate", "\\-\\-rate");
	assert_text("a\\b", "a\\eb");
}

static void test_no_line_is_a_command(void **state)
{
	assert_text(".TH", "\\&.TH");
	assert_text("'s", "\\&'s");
	assert_paragraphs("one\n.two\n'three",
			  ".PP\none\n\\&.two\n\\&'three\n");
}

static void test_paragraphs(void **state)
{
	assert_paragraphs("", "");
	assert_paragraphs("\n\n", "");
	assert_paragraphs("one\ntwo\n\n\nthree\n",
			  ".PP\none\ntwo\n.PP\nthree\n");
}

static void test_tables_keep_their_lines(void **state)
{
	assert_paragraphs("  a  1\n  b  2\n\nafter",
			  ".PP\n.nf\n  a  1\n  b  2\n.fi\n.PP\nafter\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_no_line_is_a_command),
		cmocka_unit_test(test_paragraphs),
		cmocka_unit_test(test_tables_keep_their_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
