/* A function that the compiler has put into two places, found again after its
 * names are gone. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/cold.h"
#include "../support/workshop.h"

/* `split` has much that never happens, and jumps there from several places. */
static const char program[] =
	"__attribute__((cold)) void never(int n);\n"
	"__attribute__((noinline)) int whole(int n) { return n * 3 + 1; }\n"
	"#define RARE(k) if (v[i] == k) { never(k); never(sum); }\n"
	"int split(const int *v, int n) {\n"
	"  int sum = 0;\n"
	"  for (int i = 0; i < n; i++) {\n"
	"    RARE(1) sum += whole(n); RARE(2) sum += whole(sum);\n"
	"    RARE(3) sum += whole(sum); RARE(4)\n"
	"  }\n"
	"  return sum;\n"
	"}\n";

/* The opener of one file. */
struct one_file {
	struct opener opener;
	const char *path;
};

static int open_one(const struct opener *o, const struct mapping *mapping)
{
	(void)mapping;
	return open(((const struct one_file *)o)->path, O_RDONLY | O_CLOEXEC);
}

static struct module *open_module(const struct workshop *w, const char *name)
{
	struct one_file file = { { open_one }, workshop_path(w, name) };
	struct mapping mapping = { .path = "" };
	struct module *m = NULL;

	assert_int_equal(module_open_by(&m, &file.opener, &mapping), 0);
	free((char *)file.path);
	return m;
}

struct search {
	const char *name;
	uint64_t start, size;
};

static void visit(void *context, const char *name, uint64_t address,
		  uint64_t size)
{
	struct search *s = context;

	if (!strcmp(name, s->name)) {
		s->start = address;
		s->size = size;
	}
}

static struct search find(const struct module *m, const char *name)
{
	struct search s = { .name = name };

	module_each_symbol(m, visit, &s);
	return s;
}

static struct workshop build(void)
{
	struct workshop w;

	if (!workshop_has("gcc") || !workshop_has("strip"))
		skip();
	w = workshop_begin();
	workshop_write(&w, "program.c", program);
	workshop_run(&w, "gcc -O2 -freorder-blocks-and-partition -shared "
			 "-fPIC -o named program.c");
	workshop_run(&w, "strip -o stripped named");
	return w;
}

static void finds_the_other_part(void **state)
{
	struct workshop w = build();
	struct module *named = open_module(&w, "named");
	struct module *stripped = open_module(&w, "stripped");
	struct search function = find(named, "split");
	struct search cold = find(named, "split.cold");
	uint64_t start = 0, end = 0;

	(void)state;
	assert_true(function.size);
	if (!cold.size) {
		module_free(named);
		module_free(stripped);
		workshop_end(&w);
		skip(); /* this compiler keeps it together */
	}
	assert_false(find(stripped, "split.cold").size);
	assert_true(cold_part(stripped, function.start, function.size, &start,
			      &end));
	assert_true(start <= cold.start && cold.start + cold.size <= end);
	module_free(named);
	module_free(stripped);
	workshop_end(&w);
}

static void whole_functions_have_none(void **state)
{
	struct workshop w = build();
	struct module *m = open_module(&w, "named");
	struct search function = find(m, "whole");
	uint64_t start, end;

	(void)state;
	assert_false(cold_part(m, function.start, function.size, &start, &end));
	/* No such code, and more than there is. */
	assert_false(cold_part(m, 0, 64, &start, &end));
	assert_false(cold_part(m, function.start, UINT64_MAX, &start, &end));
	assert_false(cold_part(m, UINT64_MAX - 8, 64, &start, &end));
	module_free(m);
	workshop_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_other_part),
		cmocka_unit_test(whole_functions_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
