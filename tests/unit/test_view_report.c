/* Every view, on an ordinary, a hostile and an empty recording, on screens of
 * every width. */
#include "analyze_support.h"
#include "base/text.h"
#include "view/summary.h"
#include "view/view.h"

#define HOSTILE "ev\033[2Jil\n\xe2\x80\xae\x7f"

static view_render *const text_views[] = { view_tree,	 view_top,
					   view_lines,	 view_threads,
					   view_callers, view_asm };
static view_render *const json_views[] = {
	view_tree_json,	   view_top_json,     view_lines_json,
	view_threads_json, view_callers_json, view_asm_json,
};

#define VIEWS (sizeof(text_views) / sizeof(text_views[0]))

static void record_program(struct fake *f)
{
	uint32_t main = fake_thread(f, 0, 100, "MainThread");
	uint32_t evil = fake_thread(f, 0, 101, HOSTILE);
	uint32_t hot = fake_stack(f, "main:1;hot:3");
	uint32_t json =
		fake_stack(f,
			   "main:2;loads@/usr/lib/python3.12/json/__init__.py;"
			   "decode@/usr/lib/python3.12/json/decoder.py");
	uint32_t bad = fake_stack(f, "main;" HOSTILE "@/app/" HOSTILE
				     ";" HOSTILE "+64@/app/" HOSTILE ".so");

	writer_source(f->writer, "/app/a.py", "def main():\n\thot()\n\033[1m\n",
		      strlen("def main():\n\thot()\n\033[1m\n"));
	for (int i = 0; i < 1000; i++) {
		fake_tick(f);
		fake_see(f, main, i % 10 < 6 ? hot : json, FAKE_CPU);
		fake_see(f, evil, i % 2 ? bad : hot,
			 i % 100 ? 0 : FAKE_CPU | STATE_TORN);
	}
	f->info.missed = 7;
	f->info.recorder_cpu = 5000000;
}

static struct view_request request_for(struct fake *f,
				       const struct view_style *style)
{
	return (struct view_request){ .profile = fake_profile(f, NULL),
				      .style = style,
				      .function = "main",
				      .code = "ev*" };
}

/* Nothing but what a terminal shows, no line too long. */
static void check_text(const char *text, const struct view_style *style)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		assert_true(text_width(line) <= style->width);
		for (const char *s = line; *s; s++) {
			assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
			assert_true(style->unicode || (unsigned char)*s < 0x80);
		}
		assert_null(strstr(line, "\xe2\x80\xae"));
	}
	free(copy);
}

static void test_fits_every_width(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;

	record_program(&f);
	for (int width = 40; width <= 220; width += 12) {
		for (int unicode = 0; unicode < 2; unicode++) {
			struct view_style style = { width, false, unicode };
			struct view_request r = request_for(&f, &style);

			for (size_t i = 0; i < VIEWS; i++) {
				buffer_reset(&out);
				assert_int_equal(text_views[i](&out, &r, NULL),
						 0);
				check_text(buffer_text(&out), &style);
			}
			buffer_reset(&out);
			view_summary(&out, f.profile, &style);
			check_text(buffer_text(&out), &style);
		}
	}
	buffer_release(&out);
	fake_end(&f);
}

static void test_colours_only_when_asked(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;
	struct view_style style = { 100, true, true };
	struct view_request r;

	record_program(&f);
	r = request_for(&f, &style);
	for (size_t i = 0; i < VIEWS; i++) {
		buffer_reset(&out);
		assert_int_equal(text_views[i](&out, &r, NULL), 0);
		assert_non_null(strstr(buffer_text(&out), "\033[0m"));
		/* The recording's own escapes stay out of it. */
		assert_null(strstr(buffer_text(&out), "\033[2J"));
	}
	buffer_release(&out);
	fake_end(&f);
}

static const char *render(struct buffer *out, struct fake *f, view_render *view,
			  int width)
{
	struct view_style style = { width, false, true };
	struct view_request r = request_for(f, &style);

	buffer_reset(out);
	assert_int_equal(view(out, &r, NULL), 0);
	return buffer_text(out);
}

static void test_busy_recorder(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;

	(void)state;
	record_program(&f);
	f.info.recorder_cpu *= 200;
	assert_non_null(strstr(render(&out, &f, view_tree, 120),
			       "recorder used 100% of a core"));
	buffer_release(&out);
	fake_end(&f);
}

static void test_says_what_it_must(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;
	const char *text;

	record_program(&f);
	text = render(&out, &f, view_tree, 120);
	assert_non_null(strstr(text, "python3 app.py"));
	assert_non_null(strstr(text, "Python 3.12.1"));
	assert_non_null(strstr(text, "2,000 samples"));
	assert_non_null(strstr(text, "7 ticks missed"));
	assert_non_null(strstr(text, "10 torn"));
	assert_non_null(strstr(text, "recorder used 0.5% of a core"));
	assert_non_null(strstr(text, "[1 frame hidden: json]"));
	assert_non_null(strstr(text, " 60.0%"));
	text = render(&out, &f, view_lines, 120);
	assert_non_null(strstr(text, "def main():"));
	assert_non_null(strstr(text, "source not found"));
	text = render(&out, &f, view_threads, 120);
	assert_non_null(strstr(text, "100.0")); /* on CPU */
	text = render(&out, &f, view_callers, 120);
	assert_non_null(strstr(text, "called by nobody"));
	buffer_release(&out);
	fake_end(&f);
}

static void test_summary_names_the_place(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;
	struct view_style style = { 100, false, true };

	record_program(&f);
	fake_profile(&f, NULL);
	view_summary(&out, f.profile, &style);
	assert_non_null(strstr(buffer_text(&out), "hot  a.py:3"));
	assert_non_null(strstr(buffer_text(&out), "mostly in loads"));
	assert_non_null(strstr(buffer_text(&out), "2,000 samples"));
	buffer_release(&out);
	fake_end(&f);
}

/* Code of libraries alone, first in one place, then all over the place. */
static void test_summary_says_mostly_of_most_only(void **state)
{
	static const struct {
		const char *most;
		uint32_t samples;
	} rows[] = { { " 53.3%  in no code of yours, mostly in f0", 60 },
		     { " 37.5%  in no code of yours, most often (10%) in f0",
		       6 } };
	struct view_style style = { 100, false, true };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fake f = fake_begin();
		uint32_t t = fake_thread(&f, 0, 100, "MainThread");
		struct buffer out = BUFFER_INIT;

		fake_run(&f, t, fake_stack(&f, "main"), 100);
		fake_run(&f, t, fake_stack(&f, "f0@/usr/lib/python3.12/a.py"),
			 rows[i].samples);
		for (char name[] = "f1@/usr/lib/python3.12/a.py";
		     name[1] <= '9'; name[1]++)
			fake_run(&f, t, fake_stack(&f, name), 6);
		fake_profile(&f, NULL);
		view_summary(&out, f.profile, &style);
		assert_non_null(strstr(buffer_text(&out), rows[i].most));
		buffer_release(&out);
		fake_end(&f);
	}
}

static void test_nothing_to_show(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;
	struct view_style style = { 80, false, true };
	struct view_request r = request_for(&f, &style);

	for (size_t i = 0; i + 2 < VIEWS; i++) {
		buffer_reset(&out);
		assert_int_equal(text_views[i](&out, &r, NULL), 0);
		assert_non_null(strstr(buffer_text(&out), "no samples"));
		assert_int_equal(json_views[i](&out, &r, NULL), 0);
	}
	buffer_reset(&out);
	view_summary(&out, f.profile, &style);
	assert_non_null(strstr(buffer_text(&out), "no samples"));
	buffer_release(&out);
	fake_end(&f);
}

static void test_unknown_function_is_an_error(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;
	struct error err = ERROR_INIT;
	struct view_style style = { 80, false, true };
	struct view_request r;

	record_program(&f);
	r = request_for(&f, &style);
	r.function = "nowhere";
	assert_int_equal(view_callers(&out, &r, &err), -ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "'nowhere'"));
	assert_int_equal(view_callers_json(&out, &r, &err), -ERR_NOT_FOUND);
	r.code = "main"; /* is Python */
	assert_int_equal(view_asm(&out, &r, &err), -ERR_NOT_FOUND);
	assert_int_equal(view_asm_json(&out, &r, &err), -ERR_NOT_FOUND);
	assert_int_equal(out.size, 0);
	buffer_release(&out);
	fake_end(&f);
}

/* By library, hostile names included. */
static void test_libraries_fit_too(void **state)
{
	struct fake f = fake_begin();
	struct buffer out = BUFFER_INIT;

	record_program(&f);
	for (int width = 40; width <= 160; width += 30) {
		struct view_style style = { width, false, false };
		struct view_request r = request_for(&f, &style);

		r.by_library = true;
		buffer_reset(&out);
		assert_int_equal(view_top(&out, &r, NULL), 0);
		check_text(buffer_text(&out), &style);
	}
	buffer_release(&out);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits_every_width),
		cmocka_unit_test(test_colours_only_when_asked),
		cmocka_unit_test(test_says_what_it_must),
		cmocka_unit_test(test_busy_recorder),
		cmocka_unit_test(test_summary_names_the_place),
		cmocka_unit_test(test_summary_says_mostly_of_most_only),
		cmocka_unit_test(test_nothing_to_show),
		cmocka_unit_test(test_unknown_function_is_an_error),
		cmocka_unit_test(test_libraries_fit_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
