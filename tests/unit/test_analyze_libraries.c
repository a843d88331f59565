#include "analyze/libraries.h"

#include "analyze/lines.h"
#include "analyze_support.h"

#define LIBC  "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define FAST  "/app/fast.so"
#define NUMPY "/v/lib/python3.8/site-packages/numpy/core/_umath.so"

static void record(struct fake *f)
{
	uint32_t t = fake_thread(f, 0, 100, "MainThread");

	fake_run(f, t, fake_stack(f, "main;score+16@" FAST ":7"), 40);
	fake_run(f, t, fake_stack(f, "main;score+32@" FAST ":7"), 10);
	fake_run(f, t,
		 fake_stack(f, "main;sum@/v/lib/python3.8/site-packages/"
			       "numpy/a.py;add+64@" NUMPY ";memcpy+8@" LIBC),
		 30);
	fake_run(f, t, fake_stack(f, "main;+4660@" LIBC), 20);
}

static const struct key_share *share_of(const struct libraries *l,
					const char *name)
{
	for (uint32_t i = 0; i < l->shares.n_items; i++)
		if (!strcmp(l->items[l->shares.items[i].key].name, name))
			return &l->shares.items[i];
	print_error("no library %s\n", name);
	assert_true(false);
	return NULL;
}

static void check_share(const struct libraries *l, const char *name,
			uint64_t flat, uint64_t cum)
{
	const struct key_share *s = share_of(l, name);

	assert_int_equal(s->flat.samples, flat);
	assert_int_equal(s->cum.samples, cum);
}

static void test_groups_by_library(void **state)
{
	struct arena arena = ARENA_INIT;
	struct fake f = fake_begin();
	struct libraries l;

	record(&f);
	assert_int_equal(libraries_count(&l, fake_profile(&f, NULL), BY_FLAT,
					 &arena, NULL),
			 0);
	assert_int_equal(l.shares.n_items, 5);
	check_share(&l, "fast.so", 50, 50);
	check_share(&l, "libc.so.6", 50, 50);
	check_share(&l, "numpy/core/_umath.so", 0, 30);
	check_share(&l, "numpy", 0, 30); /* its Python code */
	check_share(&l, "a.py", 0, 100);
	assert_true(l.items[share_of(&l, "fast.so")->key].own);
	assert_false(l.items[share_of(&l, "libc.so.6")->key].own);
	assert_string_equal(l.items[share_of(&l, "libc.so.6")->key].path, LIBC);
	arena_release(&arena);
	fake_end(&f);
}

static void test_lines_of_native_code(void **state)
{
	struct arena arena = ARENA_INIT;
	struct fake f = fake_begin();
	struct lines lines;

	record(&f);
	assert_int_equal(lines_count(&lines, fake_profile(&f, NULL), &arena,
				     NULL),
			 0);
	/* All symbols name fast.c; the one without a symbol has no line. */
	assert_string_equal(lines.files[0].file, "/app/fast.c");
	assert_int_equal(lines.files[0].flat, 80);
	assert_int_equal(lines.files[0].n_lines, 2);
	assert_int_equal(lines.files[0].lines[1].number, 7);
	assert_int_equal(lines.files[0].lines[1].flat.samples, 50);
	for (uint32_t i = 0; i < lines.n_files; i++)
		assert_int_equal(lines.files[i].library,
				 strstr(lines.files[i].file, "numpy") != NULL);
	assert_int_equal(lines.n_files, 3);
	arena_release(&arena);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_by_library),
		cmocka_unit_test(test_lines_of_native_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
