#include "analyze/code.h"

#include "analyze_support.h"

#define FAST "/app/fast.so"

/* main calls score, whose code also holds square, inlined at one address. */
static void record(struct fake *f)
{
	struct module_info module = { .path = FAST, .build_id = "ab" };
	struct site_info site = { writer_module(f->writer, &module), 48,
				  FUNCTION_NATIVE };
	struct function_info functions[] = {
		{ .name = "square", .file = "/app/fast.c", .line = 3 },
		{ .name = "score", .file = "/app/fast.c", .line = 1 },
	};
	uint32_t lines[] = { 4, 9 }, t, node;
	uint32_t id = writer_site(f->writer, &site);

	t = fake_thread(f, 0, 100, "MainThread");
	writer_symbol(f->writer, id, functions, lines, 2);
	node = fake_stack(f, "main;score+32@" FAST ":7");
	fake_run(f, t, node, 50);
	/* It calls itself: the outer call counts once. */
	node = writer_node(f->writer, node, writer_site_frame(f->writer, id));
	fake_run(f, t, node, 30);
	fake_run(f, t, fake_stack(f, "main;other+64@" FAST ":2"), 20);
}

static void count(struct codes *codes, struct fake *f, const char *pattern,
		  struct arena *arena)
{
	assert_int_equal(codes_count(codes, fake_profile(f, NULL), pattern,
				     arena, NULL),
			 0);
}

static void test_counts_by_address(void **state)
{
	struct arena arena = ARENA_INIT;
	struct fake f = fake_begin();
	struct codes codes;
	const struct code *c;

	record(&f);
	fake_open(&f);
	count(&codes, &f, "score", &arena);
	assert_int_equal(codes.n_items, 1);
	c = &codes.items[0];
	assert_int_equal(c->function, fake_function(&f, "score"));
	assert_string_equal(reader_module(f.reader, c->module)->path, FAST);
	assert_int_equal(c->flat.samples, 80);
	assert_int_equal(c->cum.samples, 80);
	assert_int_equal(c->n_sites, 2);
	assert_int_equal(c->sites[0].address, 32);
	assert_int_equal(c->sites[0].flat.samples, 50);
	assert_int_equal(c->sites[0].cum.samples, 80);
	assert_int_equal(c->sites[1].address, 48);
	assert_int_equal(c->sites[1].flat.samples, 30);
	arena_release(&arena);
	fake_end(&f);
}

static void test_inlined_code_is_in_its_function(void **state)
{
	struct arena arena = ARENA_INIT;
	struct fake f = fake_begin();
	struct codes codes;

	record(&f);
	fake_open(&f);
	count(&codes, &f, "square", &arena);
	assert_int_equal(codes.n_items, 1);
	assert_int_equal(codes.items[0].function, fake_function(&f, "score"));
	assert_int_equal(codes.items[0].n_sites, 2);
	count(&codes, &f, "main", &arena); /* Python */
	assert_int_equal(codes.n_items, 0);
	count(&codes, &f, "*o*", &arena);
	assert_int_equal(codes.n_items, 2);
	assert_int_equal(codes.items[1].function, fake_function(&f, "other"));
	arena_release(&arena);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_by_address),
		cmocka_unit_test(test_inlined_code_is_in_its_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
