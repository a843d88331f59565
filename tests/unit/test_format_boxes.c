#include "analyze_support.h"

#include "format/boxes.h"

/* Widths 6, 3 and 1 below main (10); b again below a. */
static struct profile *record_tree(struct fake *f)
{
	uint32_t t = fake_thread(f, 0, 100, "MainThread");

	fake_run(f, t, fake_stack(f, "main;c"), 1);
	fake_run(f, t, fake_stack(f, "main;a;b"), 4);
	fake_run(f, t, fake_stack(f, "main;b"), 3);
	fake_run(f, t, fake_stack(f, "main;a"), 2);
	return fake_profile(f, NULL);
}

static void arrange(struct boxes *b, struct function_tree *t, struct profile *p,
		    struct boxes_limits limits)
{
	function_tree_init(t, p);
	assert_int_equal(function_tree_fill(t, false, NULL), 0);
	boxes_arrange(b, t, &limits);
}

static const char *name_of(const struct function_tree *t, const struct box *b)
{
	const struct function_info *f = function_tree_function(t, b->node);

	return f ? f->name : "all";
}

static void test_callers_first_and_widest_left(void **state)
{
	static const char *const names[] = {
		"all", "main", "a", "b", "b", "c"
	};
	static const uint64_t starts[] = { 0, 0, 0, 0, 6, 9 };
	static const uint32_t rows[] = { 0, 1, 2, 3, 2, 2 };
	struct boxes_limits all = { .most = 100, .rows = 100 };
	struct boxes b = BOXES_INIT;
	struct fake f = fake_begin();
	struct function_tree t;

	(void)state;
	arrange(&b, &t, record_tree(&f), all);
	assert_int_equal(b.count, 6);
	assert_int_equal(b.rows, 4);
	assert_int_equal(b.left_out, 0);
	for (uint32_t i = 0; i < b.count; i++) {
		assert_string_equal(name_of(&t, &b.items[i]), names[i]);
		assert_int_equal(b.items[i].start, starts[i]);
		assert_int_equal(b.items[i].row, rows[i]);
	}
	boxes_release(&b);
	function_tree_release(&t);
	fake_end(&f);
}

static void check_limits(struct boxes_limits limits, uint32_t count)
{
	struct boxes b = BOXES_INIT;
	struct fake f = fake_begin();
	struct function_tree t;

	arrange(&b, &t, record_tree(&f), limits);
	assert_int_equal(b.count, count);
	assert_int_equal(b.left_out, 6 - count);
	boxes_release(&b);
	function_tree_release(&t);
	fake_end(&f);
}

static void test_limits_leave_boxes_out(void **state)
{
	(void)state;
	check_limits((struct boxes_limits){ 4, 100, 100 }, 4);
	check_limits((struct boxes_limits){ 0, 3, 100 }, 3);
	check_limits((struct boxes_limits){ 0, 100, 3 }, 5);
	check_limits((struct boxes_limits){ 99, 100, 100 }, 1); /* the root */
}

static void test_lines_of_a_function_are_one_box(void **state)
{
	struct boxes_limits all = { .most = 100, .rows = 100 };
	struct boxes b = BOXES_INIT;
	struct fake f = fake_begin();
	uint32_t thread = fake_thread(&f, 0, 100, "MainThread");
	struct function_tree t;

	(void)state;
	fake_run(&f, thread, fake_stack(&f, "main@/a.py:1;f@/a.py:5"), 1);
	fake_run(&f, thread, fake_stack(&f, "main@/a.py:2;f@/a.py:6"), 1);
	fake_run(&f, thread, ID_NONE, 1);
	arrange(&b, &t, fake_profile(&f, NULL), all);
	assert_int_equal(b.count, 4); /* all, main, f, no stack */
	boxes_release(&b);
	function_tree_release(&t);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_first_and_widest_left),
		cmocka_unit_test(test_limits_leave_boxes_out),
		cmocka_unit_test(test_lines_of_a_function_are_one_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
