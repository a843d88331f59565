#include "analyze_support.h"

#include "base/buffer.h"
#include "format/slices.h"

#define TOLERANCE 65536 /* ns: times are stored in units of about 1/16 ms */

struct seen {
	struct fake *fake;
	struct buffer log; /* "+name@ms" and "-name@ms" */
	int stop_at;	   /* slices before `begin` says stop; 0: never */
	int begun;
};

static void note(struct seen *s, char sign, const struct slice *slice,
		 uint64_t when)
{
	const char *name = "none";

	if (slice->function != ID_NONE)
		name = reader_function(s->fake->reader, slice->function)->name;
	buffer_printf(&s->log, "%c%s@%d ", sign, name,
		      (int)((when + TOLERANCE) / FAKE_PERIOD));
}

static int begin(void *context, const struct slice *slice)
{
	struct seen *s = context;

	assert_int_equal(slice->order, s->begun);
	s->begun++;
	note(s, '+', slice, slice->start);
	return s->begun == s->stop_at ? 42 : 0;
}

static void end(void *context, const struct slice *slice, uint64_t when)
{
	note(context, '-', slice, when);
}

static int log_slices(struct seen *s)
{
	static const struct slice_visitor visitor = { begin, end };

	return slices_each(fake_profile(s->fake, NULL), &visitor, s, NULL);
}

static void test_slices_nest(void **state)
{
	struct fake f = fake_begin();
	struct seen s = { &f };
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");

	(void)state;
	fake_run(&f, t, fake_stack(&f, "main@/a.py:1;f"), 2);
	fake_run(&f, t, fake_stack(&f, "main@/a.py:2;f;g"), 1);
	fake_run(&f, t, fake_stack(&f, "main@/a.py:2;g"), 1);
	fake_run(&f, t, ID_NONE, 1);
	assert_int_equal(log_slices(&s), 0);
	assert_string_equal(buffer_text(&s.log),
			    "+main@0 +f@0 +g@2 -g@3 -f@3 +g@3 -g@4 -main@4 "
			    "+none@4 -none@5 ");
	buffer_release(&s.log);
	fake_end(&f);
}

static void test_a_thread_that_was_away_ends_its_slices(void **state)
{
	struct fake f = fake_begin();
	struct seen s = { &f };
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	uint32_t node = fake_stack(&f, "main");

	(void)state;
	fake_run(&f, t, node, 2);
	for (int i = 0; i < 2; i++)
		fake_tick(&f);
	fake_run(&f, t, node, 1); /* soon back: still the same call */
	for (int i = 0; i < 50; i++)
		fake_tick(&f);
	fake_run(&f, t, node, 1);
	assert_int_equal(log_slices(&s), 0);
	assert_string_equal(buffer_text(&s.log),
			    "+main@0 -main@5 +main@55 -main@56 ");
	buffer_release(&s.log);
	fake_end(&f);
}

static void test_begin_can_stop_the_visit(void **state)
{
	struct fake f = fake_begin();
	struct seen s = { &f, .stop_at = 2 };
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");

	(void)state;
	fake_run(&f, t, fake_stack(&f, "main;f;g"), 2);
	assert_int_equal(log_slices(&s), 42);
	assert_int_equal(s.begun, 2);
	buffer_release(&s.log);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices_nest),
		cmocka_unit_test(test_a_thread_that_was_away_ends_its_slices),
		cmocka_unit_test(test_begin_can_stop_the_visit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
