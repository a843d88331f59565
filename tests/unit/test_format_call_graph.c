#include "analyze_support.h"

#include "format/call_graph.h"

static const struct call_edge *find(const struct fake *f,
				    const struct call_graph *g,
				    const char *caller, const char *callee)
{
	uint32_t from = fake_function(f, caller), to = fake_function(f, callee);

	for (uint32_t i = 0; i < g->count; i++)
		if (g->edges[i].caller == from && g->edges[i].callee == to)
			return &g->edges[i];
	return NULL;
}

static void test_recursion_counts_once(void **state)
{
	struct call_graph_options options = { 0 };
	struct call_graph g = CALL_GRAPH_INIT;
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");

	(void)state;
	fake_run(&f, t, fake_stack(&f, "main;a;b;a;b;a"), 5);
	fake_run(&f, t, fake_stack(&f, "main;a;a;a"), 2);
	fake_run(&f, t, fake_stack(&f, "main"), 1);
	call_graph_fill(&g, fake_profile(&f, NULL), &options);
	assert_int_equal(g.total[fake_function(&f, "main")], 8);
	assert_int_equal(g.total[fake_function(&f, "a")], 7);
	assert_int_equal(g.self[fake_function(&f, "a")], 7);
	assert_int_equal(g.total[fake_function(&f, "b")], 5);
	assert_int_equal(find(&f, &g, "main", "a")->total, 7);
	assert_int_equal(find(&f, &g, "a", "b")->total, 5);
	assert_int_equal(find(&f, &g, "b", "a")->total, 5);
	assert_int_equal(find(&f, &g, "a", "a")->total, 2);
	assert_int_equal(find(&f, &g, "a", "a")->self, 2);
	assert_null(find(&f, &g, "a", "main"));
	call_graph_release(&g);
	fake_end(&f);
}

static void test_lines_of_callers(void **state)
{
	struct call_graph_options by_line = { .by_line = true };
	struct call_graph_options by_function = { .by_line = false };
	struct call_graph g = CALL_GRAPH_INIT;
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");

	(void)state;
	fake_run(&f, t, fake_stack(&f, "main@/a.py:1;f@/a.py:9"), 3);
	fake_run(&f, t, fake_stack(&f, "main@/a.py:2;f@/a.py:9"), 4);
	call_graph_fill(&g, fake_profile(&f, NULL), &by_line);
	call_graph_sort(&g);
	assert_int_equal(g.count, 2);
	assert_int_equal(g.edges[0].line, 1);
	assert_int_equal(g.edges[0].total, 3);
	assert_int_equal(g.edges[1].total, 4);
	call_graph_release(&g);
	call_graph_fill(&g, f.profile, &by_function);
	assert_int_equal(g.count, 1);
	assert_int_equal(g.edges[0].total, 7);
	call_graph_release(&g);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_lines_of_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
