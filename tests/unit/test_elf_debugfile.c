/* Debug information outside of the file: stripped programs with debug files by
 * build id, by link, packed, shared and split, found below a root of the
 * test's own. */
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf_support.h"

static const struct expected name_only = { "outermost", "", 0, 0, false };

/* Open "/bin/program" with the workshop as its root. */
static struct symbols *open_rooted(const struct workshop *w)
{
	struct symbols *s = NULL;

	assert_int_equal(symbols_open(&s, w->folder, "/bin/program", NULL,
				      NULL),
			 0);
	return s;
}

/* bin/program is stripped, program.debug has what was taken from it. */
static struct workshop build_stripped(uint64_t *address)
{
	struct workshop w = build("-g", address);

	workshop_run(&w, "mkdir bin && cp program bin/program && "
			 "objcopy --only-keep-debug program program.debug && "
			 "strip bin/program");
	return w;
}

static char *build_id_of(const struct workshop *w, const char *name)
{
	struct symbols *s = open_in(w, name);
	char *id = xstrdup(symbols_build_id(s));

	symbols_free(s);
	assert_int_equal(strlen(id), 40);
	return id;
}

/* Move program.debug to where its build id leads. */
static void install_debug(const struct workshop *w, const char *id)
{
	workshop_run(w,
		     "mkdir -p usr/lib/debug/.build-id/%.2s && "
		     "mv program.debug usr/lib/debug/.build-id/%.2s/%s.debug",
		     id, id, id + 2);
}

static void check_rooted(const struct workshop *w, uint64_t address,
			 const struct expected *expected, uint32_t n)
{
	struct symbols *s = open_rooted(w);

	assert_int_equal(symbols_has_lines(s), n == 3);
	check(s, address, expected, n);
	symbols_free(s);
}

static void test_by_build_id(void **state)
{
	uint64_t address;
	struct workshop w = build_stripped(&address);
	char *id = build_id_of(&w, "program");

	(void)state;
	check_rooted(&w, address, NULL, 0);
	install_debug(&w, id);
	check_rooted(&w, address, chain, 3);
	free(id);
	workshop_end(&w);
}

/* One that says another build id itself is not believed. */
static void test_wrong_debug_file(void **state)
{
	uint64_t address;
	struct workshop w = build_stripped(&address);
	char *id = build_id_of(&w, "program");

	(void)state;
	workshop_run(&w, "echo 'int main(void) { return 1; }' >other.c && "
			 "cc -g -Wl,--build-id -o other other.c && "
			 "objcopy --only-keep-debug other program.debug");
	install_debug(&w, id);
	check_rooted(&w, address, NULL, 0);
	free(id);
	workshop_end(&w);
}

/* The file was replaced under the running program; its debug file is there. */
static void test_replaced_file(void **state)
{
	uint64_t address;
	struct workshop w = build_stripped(&address);
	char *id = build_id_of(&w, "program");
	struct symbols *s = NULL;

	(void)state;
	workshop_run(&w, "echo 'int main(void) { return 1; }' >other.c && "
			 "cc -g -Wl,--build-id -o bin/program other.c");
	assert_int_equal(symbols_open(&s, w.folder, "/bin/program", id, NULL),
			 -ERR_NOT_FOUND);
	install_debug(&w, id);
	assert_int_equal(symbols_open(&s, w.folder, "/bin/program", id, NULL),
			 0);
	check(s, address, chain, 3);
	symbols_free(s);
	free(id);
	workshop_end(&w);
}

/* Each place that a link may mean. */
static void test_by_link(void **state)
{
	static const char *const places[] = { "bin", "bin/.debug",
					      "usr/lib/debug/bin" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint64_t address;
		struct workshop w = build_stripped(&address);

		workshop_run(&w, "objcopy --add-gnu-debuglink=program.debug "
				 "bin/program");
		check_rooted(&w, address, NULL, 0);
		workshop_run(&w, "mkdir -p %s && cp program.debug %s/",
			     places[i], places[i]);
		check_rooted(&w, address, chain, 3);
		workshop_run(&w, "printf x >>%s/program.debug", places[i]);
		check_rooted(&w, address, NULL, 0); /* the checksum is wrong */
		workshop_end(&w);
	}
}

/* A link that leads out of the root, or to a FIFO, neither leads nor hangs. */
static void test_hostile_links(void **state)
{
	uint64_t address;
	struct workshop w = build_stripped(&address);
	char *id = build_id_of(&w, "program");

	(void)state;
	workshop_run(&w,
		     "objcopy --add-gnu-debuglink=program.debug bin/program && "
		     "mkdir -p usr/lib/debug/.build-id/%.2s outside && "
		     "mkfifo usr/lib/debug/.build-id/%.2s/%s.debug && "
		     "mv program.debug /tmp/%s.debug && "
		     "ln -s ../../../../../../../../tmp/%s.debug "
		     "bin/program.debug",
		     id, id, id + 2, id, id);
	check_rooted(&w, address, NULL, 0);
	workshop_run(&w, "rm /tmp/%s.debug", id);
	free(id);
	workshop_end(&w);
}

/* As Fedora does it: only what the dynamic table lacks, packed. */
static void test_packed(void **state)
{
	uint64_t address;
	struct workshop w = build_stripped(&address);

	(void)state;
	if (!workshop_has("xz"))
		skip();
	workshop_run(&w, "strip -g -o program.debug program && xz -k "
			 "program.debug && objcopy --add-section "
			 ".gnu_debugdata=program.debug.xz bin/program && "
			 "rm program.debug");
	check_rooted(&w, address, &name_only, 1);
	workshop_run(&w, "head -c 64 program.debug.xz >cut && objcopy "
			 "--remove-section .gnu_debugdata --add-section "
			 ".gnu_debugdata=cut bin/program");
	check_rooted(&w, address, NULL, 0);
	workshop_end(&w);
}

/* Two debug files share a third, as Debian's packages do. */
static void test_shared(void **state)
{
	uint64_t address;
	struct workshop w = build("-g -include stdio.h", &address);
	struct symbols *s;
	struct symbol found[8];
	uint32_t n;

	(void)state;
	if (!workshop_has("dwz"))
		skip();
	workshop_run(&w, "mkdir bin && cp program second && "
			 "dwz -m shared -M /usr/lib/debug/.dwz/shared "
			 "program second && "
			 "readelf -S program | grep -q gnu_debugaltlink && "
			 "mkdir -p usr/lib/debug/.dwz && "
			 "cp shared usr/lib/debug/.dwz/ && "
			 "cp program bin/program");
	check_rooted(&w, address, chain, 3);
	workshop_run(&w, "rm usr/lib/debug/.dwz/shared");
	s = open_rooted(&w); /* lines are there, though names may not be */
	n = symbols_find(s, address, found, 8);
	assert_true(n >= 1);
	assert_string_equal(found[n - 1].name, "outermost");
	symbols_free(s);
	workshop_end(&w);
}

/* The compiler leaves most of it in a file beside the object. */
static void check_split(const char *options)
{
	uint64_t address;
	struct workshop w = build(options, &address);
	struct symbols *s = open_in(&w, "program");
	struct symbol found[8];
	uint32_t n;

	check(s, address, chain, 3);
	symbols_free(s);
	workshop_run(&w, "rm *.dwo");
	s = open_in(&w, "program");
	n = symbols_find(s, address, found, 8);
	assert_int_equal(n, 1); /* the line is in the program itself */
	assert_string_equal(found[0].name, "outermost");
	assert_int_equal(found[0].line, 5);
	symbols_free(s);
	workshop_end(&w);
}

static void test_split(void **state)
{
	(void)state;
	check_split("-g -gsplit-dwarf");
	check_split("-gdwarf-4 -gsplit-dwarf");
}

/* Under another root, libdw would open files by names that mean others here. */
static void test_split_under_another_root(void **state)
{
	uint64_t address;
	struct workshop w = build("-g -gsplit-dwarf", &address);
	struct symbol found[8];
	struct symbols *s;

	(void)state;
	workshop_run(&w, "mkdir bin && cp program bin/");
	s = open_rooted(&w);
	assert_int_equal(symbols_find(s, address, found, 8), 1);
	symbols_free(s);
	workshop_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),
		cmocka_unit_test(test_wrong_debug_file),
		cmocka_unit_test(test_replaced_file),
		cmocka_unit_test(test_by_link),
		cmocka_unit_test(test_hostile_links),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_under_another_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
