/* Programs with known lines and inlined calls, in every shape in which they are
 * delivered. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/workshop.h"
#include "base/alloc.h"
#include "elf/symbols.h"

/* A label is where the code of the line below it begins; each is in one copy of
 * a function only. */
#define LABEL(name) "	__asm__ volatile(\".globl " name "\\n" name ":\");\n"

static const char program[] =
	"volatile int sink;\n" /* 1 */
	"static inline __attribute__((always_inline)) void innermost(void)\n"
	"{\n"			/* 3 */
	LABEL("mark_innermost") /* 4 */
	"	sink++;\n"	/* 5 */
	"}\n"			/* 6 */
	"static inline __attribute__((always_inline)) void middle(void)\n"
	"{\n"							  /* 8 */
	"	sink += 2;\n"					  /* 9 */
	"	innermost();\n"					  /* 10 */
	"}\n"							  /* 11 */
	"__attribute__((noinline)) static int outermost(int n)\n" /* 12 */
	"{\n"							  /* 13 */
	"	for (int i = 0; i < n; i++)\n"			  /* 14 */
	"		middle();\n"				  /* 15 */
	LABEL("mark_outermost")					  /* 16 */
	"	return sink;\n"					  /* 17 */
	"}\n"							  /* 18 */
	"int main(int argc, char **argv)\n"			  /* 19 */
	"{\n"							  /* 20 */
	"	return outermost(argc);\n"			  /* 21 */
	"}\n";							  /* 22 */

struct expected {
	const char *name, *file;
	uint32_t line, first_line;
	bool inlined;
};

static const struct expected chain[] = {
	{ "innermost", "program.c", 5, 2, true },
	{ "middle", "program.c", 10, 7, true },
	{ "outermost", "program.c", 15, 12, false },
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void check(struct symbols *s, uint64_t address,
		  const struct expected *expected, uint32_t n)
{
	struct symbol found[8];

	assert_int_equal(symbols_find(s, address, found, 8), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(found[i].name, expected[i].name);
		assert_true(ends_with(found[i].file, expected[i].file));
		assert_int_equal(found[i].line, expected[i].line);
		assert_int_equal(found[i].first_line, expected[i].first_line);
		assert_int_equal(found[i].inlined, expected[i].inlined);
	}
}

static struct symbols *open_in(const struct workshop *w, const char *name)
{
	char *path = workshop_path(w, name);
	struct symbols *s = NULL;

	assert_int_equal(symbols_open(&s, NULL, path, NULL, NULL), 0);
	free(path);
	return s;
}

/* A folder with the program in it, and where its innermost line is. */
static struct workshop build(const char *options, uint64_t *address)
{
	struct workshop w = workshop_begin();

	workshop_write(&w, "program.c", program);
	workshop_run(&w, "cc -O2 %s -Wl,--build-id -o program program.c",
		     options);
	*address = workshop_address(&w, "program", "mark_innermost");
	return w;
}

static void check_built(const char *options)
{
	uint64_t address;
	struct workshop w = build(options, &address);
	struct symbols *s = open_in(&w, "program");

	assert_true(symbols_has_lines(s));
	check(s, address, chain, 3);
	check(s, address, chain, 3);
	symbols_free(s);
	workshop_end(&w);
}

static void test_lines_and_inlined_calls(void **state)
{
	(void)state;
	check_built("-g");
}

static void test_older_dwarf(void **state)
{
	(void)state;
	check_built("-gdwarf-4");
	check_built("-gdwarf-3");
}

static void test_compressed_sections(void **state)
{
	(void)state;
	check_built("-g -gz");
}

/* Without .debug_aranges. */
static void test_of_clang(void **state)
{
	uint64_t address;
	struct workshop w;
	struct symbols *s;

	(void)state;
	if (!workshop_has("clang"))
		skip();
	w = workshop_begin();
	workshop_write(&w, "program.c", program);
	workshop_run(&w, "clang -g -O2 -o program program.c");
	address = workshop_address(&w, "program", "mark_innermost");
	s = open_in(&w, "program");
	check(s, address, chain, 3);
	symbols_free(s);
	workshop_end(&w);
}

static void test_stripped_of_lines(void **state)
{
	static const struct expected name = { "outermost", "", 0, 0, false };
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s;

	(void)state;
	workshop_run(&w, "strip -g program");
	s = open_in(&w, "program");
	assert_false(symbols_has_lines(s));
	check(s, address, &name, 1);
	symbols_free(s);
	workshop_end(&w);
}

static void test_stripped_of_all(void **state)
{
	struct symbol found[2];
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s;

	(void)state;
	workshop_run(&w, "strip program");
	s = open_in(&w, "program");
	assert_int_equal(symbols_find(s, address, found, 2), 0);
	symbols_free(s);
	workshop_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_and_inlined_calls),
		cmocka_unit_test(test_older_dwarf),
		cmocka_unit_test(test_compressed_sections),
		cmocka_unit_test(test_of_clang),
		cmocka_unit_test(test_stripped_of_lines),
		cmocka_unit_test(test_stripped_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
