/* A program with known lines and inlined calls, for the tests of symbols. */
#ifndef PYROMETER_TESTS_ELF_SUPPORT_H
#define PYROMETER_TESTS_ELF_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "../support/workshop.h"
#include "elf/symbols.h"
#include "unit.h"

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

static inline bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static inline void check(struct symbols *s, uint64_t address,
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

static inline struct symbols *open_in(const struct workshop *w,
				      const char *name)
{
	char *path = workshop_path(w, name);
	struct symbols *s = NULL;

	assert_int_equal(symbols_open(&s, NULL, path, NULL, NULL), 0);
	free(path);
	return s;
}

/* A folder with the program in it, and where its innermost line is. */
static inline struct workshop build(const char *options, uint64_t *address)
{
	struct workshop w = workshop_begin();

	workshop_write(&w, "program.c", program);
	workshop_run(&w, "cc -O2 %s -Wl,--build-id -o program program.c",
		     options);
	*address = workshop_address(&w, "program", "mark_innermost");
	return w;
}

#endif
