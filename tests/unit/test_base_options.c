#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "unit.h"

#define MAX_WORDS 16

/* What one command line set. */
struct values {
	bool native, quiet, dashes;
	const char *output, *calls, *module;
	long number;
	double rate, duration;
	int mode;
	struct option_list threads;
	char *argv[MAX_WORDS];
	int argc, operands;
	struct error err;
	char words[256];
};

static const char *const modes[] = { "wall", "cpu", "gil", NULL };

/* Split `line` at its spaces and parse the words with a table of all kinds. */
static int parse(struct values *v, const char *line, bool stop_at_operand)
{
	const struct option options[] = {
		{ OPTION_HEADING, .help = "All kinds" },
		{ OPTION_FLAG, 'n', "native", NULL, &v->native, "" },
		{ OPTION_FLAG, 'q', "quiet", NULL, &v->quiet, "" },
		{ OPTION_FLAG, '-', NULL, NULL, &v->dashes, "" },
		{ OPTION_STRING, 'o', "output", "FILE", &v->output, "" },
		{ OPTION_STRING, 0, "calls", "PATTERN", &v->calls, "",
		  .optional = true },
		{ OPTION_STRING, 'm', NULL, "MODULE", &v->module, "",
		  .last = true },
		{ OPTION_NUMBER, 0, "number", "N", &v->number, "" },
		{ OPTION_RATE, 'r', "rate", "RATE", &v->rate, "" },
		{ OPTION_TIME, 'd', "duration", "TIME", &v->duration, "" },
		{ OPTION_CHOICE, 0, "mode", NULL, &v->mode, "", modes },
		{ OPTION_LIST, 't', "thread", "NAME", &v->threads, "" },
		{ OPTION_END },
	};

	memset(v, 0, sizeof(*v));
	v->argv[v->argc++] = "command";
	strncpy(v->words, line, sizeof(v->words) - 1);
	for (char *s = strtok(v->words, " "); s; s = strtok(NULL, " "))
		v->argv[v->argc++] = s;
	return options_parse(options, v->argc, v->argv, stop_at_operand,
			     &v->operands, &v->err);
}

static void expect_operands(const struct values *v, int n, const char *first)
{
	assert_int_equal(v->operands, n);
	assert_null(v->argv[n]);
	if (n)
		assert_string_equal(v->argv[0], first);
}

static void test_four_spellings_of_an_argument(void **state)
{
	static const char *const lines[] = { "-r100 a", "-r 100 a",
					     "--rate=100 a", "--rate 100 a",
					     "a -r100" };
	struct values v;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(&v, lines[i], false), 0);
		assert_true(v.rate == 100);
		expect_operands(&v, 1, "a");
	}
}

static void test_bundled_letters(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "-nqr2k x", false), 0);
	assert_true(v.native && v.quiet && v.rate == 2000);
	expect_operands(&v, 1, "x");
	assert_int_equal(parse(&v, "-nqo f x", false), 0);
	assert_string_equal(v.output, "f");
	expect_operands(&v, 1, "x");
}

static void test_all_kinds(void **state)
{
	struct values v;

	assert_int_equal(parse(&v,
			       "--native --output=a=b --number 7 -d 2m "
			       "--mode gil -t x -ty --thread=z",
			       false),
			 0);
	assert_true(v.native && !v.quiet);
	assert_string_equal(v.output, "a=b");
	assert_int_equal(v.number, 7);
	assert_true(v.duration == 120);
	assert_int_equal(v.mode, 2);
	assert_int_equal(v.threads.count, 3);
	assert_string_equal(v.threads.items[0], "x");
	assert_string_equal(v.threads.items[1], "y");
	assert_string_equal(v.threads.items[2], "z");
	expect_operands(&v, 0, NULL);
	free(v.threads.items);
}

static void test_optional_argument_takes_no_word(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "--calls x", false), 0);
	assert_string_equal(v.calls, "");
	expect_operands(&v, 1, "x");
	assert_int_equal(parse(&v, "--calls=a*", false), 0);
	assert_string_equal(v.calls, "a*");
	assert_int_equal(parse(&v, "", false), 0);
	assert_null(v.calls);
}

static void test_operands_keep_their_order(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "1 -n 2 - -q 3", false), 0);
	expect_operands(&v, 4, "1");
	assert_string_equal(v.argv[1], "2");
	assert_string_equal(v.argv[2], "-");
	assert_string_equal(v.argv[3], "3");
}

static void test_dashes_end_options(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "-n a -- -q -- b", false), 0);
	assert_true(v.native && !v.quiet && v.dashes);
	expect_operands(&v, 4, "a");
	assert_string_equal(v.argv[1], "-q");
	assert_string_equal(v.argv[2], "--");
	assert_int_equal(parse(&v, "-o -- a", false), 0); /* an argument */
	assert_false(v.dashes);
	assert_string_equal(v.output, "--");
	expect_operands(&v, 1, "a");
}

static void test_program_keeps_its_options(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "-n app.py -q --rate 0 -- x", true), 0);
	assert_true(v.native && !v.quiet && !v.dashes);
	expect_operands(&v, 6, "app.py");
	assert_string_equal(v.argv[4], "--");
	assert_int_equal(parse(&v, "-m mod -q x", true), 0);
	assert_string_equal(v.module, "mod");
	assert_false(v.quiet);
	expect_operands(&v, 2, "-q");
}

static void test_failure_leaves_argv_alone(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "a b --what c", false), -ERR_USAGE);
	assert_string_equal(v.argv[0], "command");
	assert_string_equal(v.argv[2], "b");
	assert_string_equal(v.argv[4], "c");
}

static void test_mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{ "--rat 5", "unknown option '--rat'; did you mean '--rate'?" },
		{ "--durtaion=5", "unknown option '--durtaion'; did you mean "
				  "'--duration'?" },
		{ "--out x", "unknown option '--out'; did you mean "
			     "'--output'?" },
		{ "--zebra", "unknown option '--zebra'; 'pyrometer command "
			     "--help' lists them" },
		{ "-nx", "unknown option '-x'; 'pyrometer command --help' "
			 "lists them" },
		{ "-n-", "unknown option '--'; 'pyrometer command --help' "
			 "lists them" },
		{ "--rate", "--rate needs an argument: --rate RATE" },
		{ "-nr", "-r needs an argument: -r RATE" },
		{ "--native=1", "--native takes no argument" },
		{ "--mode fast", "--mode: 'fast' is none of wall, cpu, gil" },
		{ "--number=-1", "--number: '-1' is not a whole number of 0 "
				 "or more" },
		{ "--number 99999999999999999999",
		  "--number: '99999999999999999999' is too large" },
		{ "-r0", "-r: a rate of '0' is out of range; it must be "
			 "between 0.001 and 10M samples per second" },
		{ "-d soon", "-d: 'soon' is not a time; write it as 30s, "
			     "500ms, 2m, 1m30s or 1h" },
	};
	struct values v;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&v, rows[i].line, false), -ERR_USAGE);
		assert_int_equal(v.err.code, ERR_USAGE);
		assert_string_equal(v.err.text, rows[i].text);
	}
}

static void test_help_may_stand_anywhere(void **state)
{
	struct values v;

	assert_int_equal(parse(&v, "--help", false), -ERR_HELP);
	assert_int_equal(parse(&v, "-n a --help", false), -ERR_HELP);
	assert_int_equal(parse(&v, "-nh", false), -ERR_HELP);
	assert_int_equal(parse(&v, "-n a --help", true), 0); /* a's own */
	assert_int_equal(parse(&v, "-- --help", false), 0);
}

static void test_error_may_be_unheard(void **state)
{
	const struct option none[] = { { OPTION_END } };
	char *argv[] = { "command", "--x", NULL };
	int n;

	assert_int_equal(options_parse(none, 2, argv, false, &n, NULL),
			 -ERR_USAGE);
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		double rate; /* 0: refused */
	} rows[] = {
		{ "100", 100 },	    { "1k", 1000 },
		{ "10khz", 10000 }, { "10kHz", 10000 },
		{ "1.5K", 1500 },   { "2M", 2e6 },
		{ "0.5", 0.5 },	    { ".5hz", 0.5 },
		{ "10000k", 1e7 },  { "0", 0 },
		{ "0.0000001", 0 }, { "-1", 0 },
		{ "+1", 0 },	    { "nan", 0 },
		{ "inf", 0 },	    { "1e3", 0 },
		{ "0x10", 0 },	    { "", 0 },
		{ ".", 0 },	    { "k", 0 },
		{ "1kk", 0 },	    { " 1", 0 },
		{ "1 ", 0 },	    { "1.2.3", 0 },
		{ "11M", 0 },	    { "99999999999999999999999k", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = ERROR_INIT;
		double rate = 0;
		int status = options_parse_rate(rows[i].text, &rate, &err);

		assert_int_equal(status, rows[i].rate > 0 ? 0 : -ERR_USAGE);
		assert_true(rate == rows[i].rate);
		assert_true(!status || strstr(err.text, rows[i].text) != NULL);
	}
}

static void test_huge_digit_strings_are_out_of_range(void **state)
{
	char digits[1001];
	double v = 1;

	memset(digits, '9', 1000);
	digits[1000] = 0;
	assert_true(options_parse_rate(digits, &v, NULL) < 0);
	assert_true(options_parse_time(digits, &v, NULL) < 0);
	digits[0] = '.'; /* 0.999...: the scale is infinite as well */
	assert_true(options_parse_rate(digits, &v, NULL) < 0);
	assert_true(v == 1);
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		double seconds; /* -1: refused */
	} rows[] = {
		{ "30", 30 },	  { "30s", 30 },   { "500ms", 0.5 },
		{ "2m", 120 },	  { "2min", 120 }, { "1h", 3600 },
		{ "1.5h", 5400 }, { "0", 0 },	   { "1d", 86400 },
		{ "-1", -1 },	  { "", -1 },	   { "s", -1 },
		{ "1x", -1 },	  { "nan", -1 },   { "11111111h", -1 },
		{ "1m30", -1 },	  { "1m30s", 90 }, { "1h1m1s500ms", 3661.5 },
		{ "30s1", -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double seconds = -1;
		int status = options_parse_time(rows[i].text, &seconds, NULL);

		assert_int_equal(status, rows[i].seconds < 0 ? -ERR_USAGE : 0);
		assert_true(seconds == rows[i].seconds);
	}
}

static const struct option documented[] = {
	{ OPTION_FLAG, 'q', "quiet", .help = "Print nothing." },
	{ OPTION_RATE, 'r', "rate", "RATE",
	  .help = "Samples per second (1k)." },
	{ OPTION_FLAG, 0, "hidden" },
	{ OPTION_HEADING, .help = "What to record" },
	{ OPTION_STRING, 0, "calls", "PATTERN", .optional = true,
	  .help = "Record exact calls of functions like PATTERN." },
	{ OPTION_CHOICE, 0, "mode", .choices = modes, .help = "Which time." },
	{ OPTION_STRING, 'm', NULL, "MODULE", .help = ".Run" },
	{ OPTION_FLAG, 0, "a-rather-long-name-here", .help = "Wide." },
	{ OPTION_END },
};

static void test_help(void **state)
{
	struct buffer b = BUFFER_INIT;

	options_help(documented, 60, &b);
	assert_string_equal(
		buffer_text(&b),
		"  -q, --quiet             Print nothing.\n"
		"  -r, --rate RATE         Samples per second (1k).\n"
		"\n"
		"What to record:\n"
		"      --calls[=PATTERN]   Record exact calls of functions\n"
		"                          like PATTERN.\n"
		"      --mode wall|cpu|gil Which time.\n"
		"  -m MODULE               .Run\n"
		"      --a-rather-long-name-here\n"
		"                          Wide.\n");
	buffer_release(&b);
}

static void test_help_on_a_narrow_terminal(void **state)
{
	struct buffer b = BUFFER_INIT;

	options_help(documented, 0, &b);
	assert_non_null(strstr(buffer_text(&b), "Print nothing.\n"));
	buffer_release(&b);
}

static void test_man(void **state)
{
	struct buffer b = BUFFER_INIT;

	options_man(documented, &b);
	assert_non_null(strstr(buffer_text(&b),
			       ".TP\n.B \\-r, \\-\\-rate RATE\n"
			       "Samples per second (1k).\n"));
	assert_non_null(strstr(buffer_text(&b), ".SS What to record\n"));
	assert_non_null(strstr(buffer_text(&b), "\n\\&.Run\n"));
	assert_null(strstr(buffer_text(&b), "hidden"));
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_spellings_of_an_argument),
		cmocka_unit_test(test_bundled_letters),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_optional_argument_takes_no_word),
		cmocka_unit_test(test_operands_keep_their_order),
		cmocka_unit_test(test_dashes_end_options),
		cmocka_unit_test(test_program_keeps_its_options),
		cmocka_unit_test(test_failure_leaves_argv_alone),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_help_may_stand_anywhere),
		cmocka_unit_test(test_error_may_be_unheard),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_huge_digit_strings_are_out_of_range),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_on_a_narrow_terminal),
		cmocka_unit_test(test_man),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
