#include "analyze/lines.h"
#include "analyze/top.h"
#include "analyze_support.h"

static const struct key_share *find(const struct shares *s, uint32_t key)
{
	for (uint32_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == key)
			return &s->items[i];
	return NULL;
}

static void test_recursion_counts_once(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	const struct key_share *fib, *main, *helper;
	struct shares top;

	fake_run(&f, t, fake_stack(&f, "main;fib;fib;fib"), 6);
	fake_run(&f, t, fake_stack(&f, "main;fib;helper;fib"), 3);
	fake_run(&f, t, fake_stack(&f, "main"), 1);
	fake_profile(&f, NULL);
	assert_int_equal(top_count(&top, f.profile, BY_FLAT, &arena, NULL), 0);
	fib = find(&top, fake_function(&f, "fib"));
	main = find(&top, fake_function(&f, "main"));
	helper = find(&top, fake_function(&f, "helper"));
	assert_int_equal(fib->flat.samples, 9);
	assert_int_equal(fib->cum.samples, 9);
	assert_int_equal(main->flat.samples, 1);
	assert_int_equal(main->cum.samples, 10);
	assert_int_equal(helper->flat.samples, 0);
	assert_int_equal(helper->cum.samples, 3);
	assert_ptr_equal(fib, &top.items[0]);
	arena_release(&arena);
	fake_end(&f);
}

static void test_sorts_by_what_is_asked(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct shares top;

	fake_run(&f, t, fake_stack(&f, "main;leaf"), 8);
	fake_run(&f, t, fake_stack(&f, "main"), 2);
	fake_profile(&f, NULL);
	assert_int_equal(top_count(&top, f.profile, BY_FLAT, &arena, NULL), 0);
	assert_int_equal(top.items[0].key, fake_function(&f, "leaf"));
	assert_int_equal(top_count(&top, f.profile, BY_CUM, &arena, NULL), 0);
	assert_int_equal(top.items[0].key, fake_function(&f, "main"));
	arena_release(&arena);
	fake_end(&f);
}

/* The counts per thread and per slice must come out as one pass over all. */
static void test_sums_over_strata_agree_with_the_profile(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint64_t random = 1, flat = 0, sliced = 0;
	uint32_t stacks[50];
	char text[64];
	struct shares top;
	struct tally tally;

	for (uint32_t i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "r;f%u;f%u;f%u", i % 7, i % 3, i);
		stacks[i] = fake_stack(&f, text);
	}
	for (uint32_t k = 0; k < 5; k++)
		fake_thread(&f, 0, 100 + k, "t");
	for (int i = 0; i < 3000; i++) {
		fake_tick(&f);
		for (uint32_t k = 0; k < 1 + fake_random(&random) % 5; k++)
			fake_see(&f, k, stacks[fake_random(&random) % 50],
				 FAKE_CPU);
	}
	fake_profile(&f, NULL);
	assert_int_equal(top_count(&top, f.profile, BY_FLAT, &arena, NULL), 0);
	for (uint32_t i = 0; i < top.n_items; i++)
		flat += top.items[i].flat.samples;
	assert_int_equal(flat, f.samples);
	assert_int_equal(find(&top, fake_function(&f, "r"))->cum.samples,
			 f.samples);
	assert_int_equal(tally_count(&tally, f.profile, &arena, NULL), 0);
	assert_int_equal(tally.ticks, 3000);
	for (uint32_t i = 0; i < TALLY_SLICES; i++)
		sliced += tally.slices[i].samples;
	assert_int_equal(sliced, f.samples);
	arena_release(&arena);
	fake_end(&f);
}

/* A run over the whole recording is spread evenly over its slices. */
static void test_slices_divide_a_long_run(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct tally tally;

	fake_run(&f, t, fake_stack(&f, "main"), 2000);
	fake_profile(&f, NULL);
	assert_int_equal(tally_count(&tally, f.profile, &arena, NULL), 0);
	assert_int_equal(tally.ticks, 2000);
	for (uint32_t i = 0; i < TALLY_SLICES; i++)
		assert_in_range(tally.slices[i].samples, 98, 102);
	arena_release(&arena);
	fake_end(&f);
}

/* 20,000 levels of recursion, as CPython permits. */
static void test_deep_recursion(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct function_info info = { "deep", "/a.py", 1, FUNCTION_PYTHON, "" };
	uint32_t frame, node = ID_NONE;
	struct shares top;

	frame = writer_frame(f.writer, writer_function(f.writer, &info), 1);
	for (int i = 0; i < 20000; i++) {
		node = writer_node(f.writer, node, frame);
		if (i % 100 == 0)
			fake_run(&f, t, node, 1);
	}
	fake_profile(&f, NULL);
	assert_int_equal(top_count(&top, f.profile, BY_FLAT, &arena, NULL), 0);
	assert_int_equal(top.n_items, 1);
	assert_int_equal(top.items[0].cum.samples, 200);
	assert_int_equal(top.items[0].flat.samples, 200);
	arena_release(&arena);
	fake_end(&f);
}

static const struct line *line_of(const struct file_lines *f, uint32_t number)
{
	for (uint32_t i = 0; i < f->n_lines; i++)
		if (f->lines[i].number == number)
			return &f->lines[i];
	return NULL;
}

static void test_lines_by_file(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct lines lines;

	fake_run(&f, t, fake_stack(&f, "main:3;parse@/app/b.py:10"), 6);
	fake_run(&f, t, fake_stack(&f, "main:3;parse@/app/b.py:11"), 1);
	fake_run(&f, t, fake_stack(&f, "main:3;main:3"), 2);
	fake_run(&f, t, fake_stack(&f, "main:0"), 1);
	fake_profile(&f, NULL);
	assert_int_equal(lines_count(&lines, f.profile, &arena, NULL), 0);
	assert_int_equal(lines.n_files, 2);
	assert_string_equal(lines.files[0].file, "/app/b.py");
	assert_int_equal(lines.files[0].flat, 7);
	assert_int_equal(lines.files[1].cum, 10);
	assert_int_equal(lines.files[1].n_lines, 1); /* line 0 is none */
	assert_int_equal(line_of(&lines.files[1], 3)->flat.samples, 2);
	assert_int_equal(line_of(&lines.files[1], 3)->cum.samples, 9);
	assert_int_equal(line_of(&lines.files[0], 10)->flat.samples, 6);
	assert_int_equal(line_of(&lines.files[0], 11)->cum.samples, 1);
	arena_release(&arena);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_sorts_by_what_is_asked),
		cmocka_unit_test(test_sums_over_strata_agree_with_the_profile),
		cmocka_unit_test(test_slices_divide_a_long_run),
		cmocka_unit_test(test_deep_recursion),
		cmocka_unit_test(test_lines_by_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
