#include "analyze_support.h"

/* Two threads, two processes, 10 ticks; see each test for what it asks. */
static void record_mixture(struct fake *f)
{
	uint32_t other = fake_process(f, 200);
	uint32_t a = fake_thread(f, 0, 100, "MainThread");
	uint32_t b = fake_thread(f, other, 201, "worker-1");
	uint32_t parse = fake_stack(f, "main;parse@/app/b.py");
	uint32_t load = fake_stack(f, "main;load");

	for (int i = 0; i < 10; i++) {
		fake_tick(f);
		fake_see(f, a, i < 7 ? parse : load,
			 i < 5 ? FAKE_CPU : STATE_GIL_WAIT);
		if (i >= 4)
			fake_see(f, b, ID_NONE, i == 4 ? STATE_ON_CPU : 0);
	}
}

static void test_counts_self_and_total(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	uint32_t main = fake_stack(&f, "main");
	uint32_t parse = fake_stack(&f, "main;parse");
	struct profile *p;

	fake_run(&f, t, main, 3);
	fake_run(&f, t, parse, 5);
	fake_run(&f, t, main, 2);
	p = fake_profile(&f, NULL);
	assert_int_equal(p->samples, 10);
	assert_int_equal(p->self[main], 5);
	assert_int_equal(p->total[main], 10);
	assert_int_equal(p->self[parse], 5);
	assert_int_equal(p->total[parse], 5);
	assert_true(p->seconds_per_sample > 0.00099 &&
		    p->seconds_per_sample < 0.00101);
	fake_end(&f);
}

static void test_threads_have_their_states(void **state)
{
	struct fake f = fake_begin();
	struct profile *p;

	record_mixture(&f);
	p = fake_profile(&f, NULL);
	assert_int_equal(p->samples, 16);
	assert_int_equal(p->no_stack, 6);
	assert_int_equal(p->threads[0].samples, 10);
	assert_int_equal(p->threads[0].on_cpu, 5);
	assert_int_equal(p->threads[0].gil, 5);
	assert_int_equal(p->threads[0].gil_wait, 5);
	assert_int_equal(p->threads[1].samples, 6);
	assert_int_equal(p->threads[1].on_cpu, 1);
	fake_end(&f);
}

static uint64_t samples_with(struct fake *f, struct profile_filter filter)
{
	return fake_profile(f, &filter)->samples;
}

static void test_modes(void **state)
{
	struct fake f = fake_begin();

	record_mixture(&f);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .mode = MODE_CPU }),
		6);
	assert_int_equal(f.profile->all_samples, 16);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .mode = MODE_GIL }),
		5);
	fake_end(&f);
}

static void test_filters_by_thread_and_process(void **state)
{
	const char *name = "work*", *tid = "100", *part = "10";
	uint32_t pid = 200;
	struct fake f = fake_begin();

	record_mixture(&f);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .threads = &name,
							  .n_threads = 1 }),
		6);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .threads = &tid,
							  .n_threads = 1 }),
		10);
	/* A number is not searched for within other numbers. */
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .threads = &part,
							  .n_threads = 1 }),
		0);
	assert_int_equal(samples_with(&f,
				      (struct profile_filter){ .pids = &pid,
							       .n_pids = 1 }),
			 6);
	fake_end(&f);
}

static void test_filters_by_function_and_file(void **state)
{
	const char *main = "main", *load = "load", *file = "b.py";
	struct fake f = fake_begin();

	record_mixture(&f);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .functions = &main,
							  .n_functions = 1 }),
		10);
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .functions = &load,
							  .n_functions = 1 }),
		3);
	assert_int_equal(samples_with(&f,
				      (struct profile_filter){ .files = &file,
							       .n_files = 1 }),
			 7);
	/* Both lists must be satisfied, by whichever frames. */
	assert_int_equal(
		samples_with(&f, (struct profile_filter){ .functions = &load,
							  .n_functions = 1,
							  .files = &file,
							  .n_files = 1 }),
		0);
	fake_end(&f);
}

static void test_window_cuts_runs(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct profile_filter window = { .from = 10 * FAKE_PERIOD - 1,
					 .to = 30 * FAKE_PERIOD - 1 };
	struct profile *p;

	fake_run(&f, t, fake_stack(&f, "main"), 100);
	p = fake_profile(&f, &window);
	/* Times are stored in units of about a 256th of the period. */
	assert_in_range(p->samples, 19, 21);
	assert_int_equal(p->all_samples, p->samples);
	assert_true(p->duration > 0.0199 && p->duration < 0.0201);
	fake_end(&f);
}

struct seen {
	uint64_t samples, last;
	uint32_t runs;
};

static int see_run(void *context, const struct run *run, uint64_t first,
		   uint64_t last)
{
	struct seen *seen = context;

	assert_true(first <= last);
	assert_true(first >= seen->last);
	seen->last = first;
	seen->samples += run->ticks;
	seen->runs++;
	return seen->runs == 3 ? 42 : 0;
}

static void test_visits_in_order_until_told_to_stop(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct seen seen = { 0 };

	for (int i = 0; i < 5; i++) {
		fake_run(&f, t, fake_stack(&f, "a"), 4);
		fake_run(&f, t, fake_stack(&f, "b"), 6);
	}
	fake_profile(&f, NULL);
	assert_int_equal(profile_each_run(f.profile, see_run, &seen, NULL), 42);
	assert_int_equal(seen.runs, 3);
	assert_int_equal(seen.samples, 14);
	fake_end(&f);
}

static void test_stack_keeps_the_innermost(void **state)
{
	struct fake f = fake_begin();
	uint32_t frames[3];
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	uint32_t node = fake_stack(&f, "a;b;c;d");
	struct profile *p;

	fake_run(&f, t, node, 1);
	p = fake_profile(&f, NULL);
	assert_int_equal(profile_stack(p, node, frames, 3), 4);
	for (int i = 0; i < 3; i++) {
		uint32_t function = reader_frame(f.reader, frames[i]).function;
		const char *name = reader_function(f.reader, function)->name;

		assert_int_equal(name[0], 'b' + i);
	}
	assert_int_equal(profile_stack(p, node, NULL, 0), 4);
	assert_int_equal(profile_stack(p, ID_NONE, frames, 3), 0);
	fake_end(&f);
}

static void test_empty_recording(void **state)
{
	struct fake f = fake_begin();
	struct profile *p = fake_profile(&f, NULL);

	assert_int_equal(p->samples, 0);
	assert_int_equal(p->n_nodes, 0);
	fake_end(&f);
}

/* The recorder said how far it was after 2 of 10 ticks, then it was killed. */
static void knows_the_time_of_what_broke_off(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	char path[64];

	fake_run(&f, t, fake_stack(&f, "main"), 2);
	f.info = (struct recording_info){ .period = FAKE_PERIOD,
					  .duration = 2 * FAKE_PERIOD,
					  .ticks = 2,
					  .samples = 2,
					  .version = "",
					  .host = "",
					  .command = "",
					  .note = "" };
	writer_info(f.writer, &f.info);
	writer_flush(f.writer, NULL);
	fake_run(&f, t, fake_stack(&f, "main"), 8);
	writer_flush(f.writer, NULL);
	writer_free(f.writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(reader_open(&f.reader, path, NULL), 0);
	fake_profile(&f, NULL);
	assert_int_equal(f.profile->samples, 10);
	assert_float_equal(f.profile->seconds, 0.010, 0.0001);
	assert_in_range(profile_recorded_until(f.reader), 8 * FAKE_PERIOD,
			10 * FAKE_PERIOD);
	fake_end(&f);
}

/* On a CPU by their samples; by the kernel's word one ran all the time, two a
 * quarter of it, of one nothing is known. */
static void see_ready(struct fake *f, const uint64_t *ran, uint32_t ticks)
{
	uint32_t node = fake_stack(f, "main"), threads[4];

	for (uint32_t i = 0; i < 4; i++) {
		threads[i] = fake_thread(f, 0, 100 + i, "worker");
		writer_thread_ran(f->writer, threads[i], ran[i] ? 777 : 0);
	}
	for (uint32_t tick = 0; tick < ticks; tick++) {
		fake_tick(f);
		for (uint32_t i = 0; i < 4; i++)
			fake_see(f, threads[i], node, STATE_ON_CPU);
	}
	for (uint32_t i = 0; i < 4; i++)
		writer_thread_ran(f->writer, threads[i],
				  ran[i] ? 777 + ran[i] : 0);
}

static void test_ready_is_not_running(void **state)
{
	struct fake f = fake_begin();
	uint64_t ms = 1000000, all = 0;
	const uint32_t pid = 100;
	struct profile_filter half = { .to = 500 * ms,
				       .pids = &pid,
				       .n_pids = 1 };
	struct profile *p;

	see_ready(&f, (uint64_t[]){ 1005 * ms, 250 * ms, 250 * ms, 0 }, 1000);
	p = fake_profile(&f, NULL);
	assert_int_equal(p->threads[0].ready, 0);
	assert_in_range(p->threads[1].ready, 749, 751);
	assert_in_range(p->threads[2].ready, 749, 751);
	/* As the others on average: they ran 1505 of 3000 ms. */
	assert_in_range(p->threads[3].ready, 497, 500);
	for (uint32_t i = 0; i < 4; i++)
		all += p->threads[i].ready;
	assert_int_equal(p->ready, all);
	p = fake_profile(&f, &half);
	assert_in_range(p->threads[1].ready, 374, 376);
	fake_end(&f);
}

/* Some percent are within what sampling is sure of. */
static void test_little_is_not_called_ready(void **state)
{
	struct fake f = fake_begin();
	uint64_t ms = 1000000;

	see_ready(&f, (uint64_t[]){ 960 * ms, 940 * ms, 970 * ms, 0 }, 1000);
	assert_int_equal(fake_profile(&f, NULL)->ready, 0);
	fake_end(&f);
}

/* A stack counts once, whatever is in it how often. */
static void test_unreadable_functions_are_counted(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct function_info mark = { UNREADABLE_FUNCTION, "", 0, FUNCTION_MARK,
				      "" };
	uint32_t main = fake_stack(&f, "main"), once, twice;
	uint32_t frame =
		writer_frame(f.writer, writer_function(f.writer, &mark), 0);

	once = writer_node(f.writer, main, frame);
	twice = writer_node(f.writer, once, frame);
	fake_run(&f, t, main, 90);
	fake_run(&f, t, once, 3);
	fake_run(&f, t, twice, 4);
	assert_int_equal(fake_profile(&f, NULL)->nameless, 7);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_self_and_total),
		cmocka_unit_test(test_threads_have_their_states),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_filters_by_thread_and_process),
		cmocka_unit_test(test_filters_by_function_and_file),
		cmocka_unit_test(test_window_cuts_runs),
		cmocka_unit_test(test_visits_in_order_until_told_to_stop),
		cmocka_unit_test(test_stack_keeps_the_innermost),
		cmocka_unit_test(test_empty_recording),
		cmocka_unit_test(knows_the_time_of_what_broke_off),
		cmocka_unit_test(test_ready_is_not_running),
		cmocka_unit_test(test_little_is_not_called_ready),
		cmocka_unit_test(test_unreadable_functions_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
