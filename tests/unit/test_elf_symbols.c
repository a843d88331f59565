/* Programs with known lines and inlined calls, in every shape in which they are
 * delivered. */
#include "elf_support.h"

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

static void test_with_link_time_optimisation(void **state)
{
	(void)state;
	check_built("-g -flto");
}

static const char cxx_program[] =
	"namespace shop {\n"					/* 1 */
	"volatile int sink;\n"					/* 2 */
	"template <class T> struct basket {\n"			/* 3 */
	"	__attribute__((always_inline)) void add(T x)\n" /* 4 */
	"	{\n"						/* 5 */
	LABEL("mark_add")					/* 6 */
	"		sink += x;\n"				/* 7 */
	"	}\n"						/* 8 */
	"	__attribute__((noinline)) T total(T n);\n"	/* 9 */
	"};\n"							/* 10 */
	"template <class T> T basket<T>::total(T n)\n"		/* 11 */
	"{\n"							/* 12 */
	"	for (T i = 0; i < n; i++)\n"			/* 13 */
	"		add(i);\n"				/* 14 */
	"	return sink;\n"					/* 15 */
	"}\n"							/* 16 */
	"}\n"							/* 17 */
	"int main(int argc, char **)\n"				/* 18 */
	"{\n"							/* 19 */
	"	return shop::basket<int>().total(argc);\n"	/* 20 */
	"}\n";							/* 21 */

static void test_cxx(void **state)
{
	static const struct expected lines[] = {
		{ "shop::basket<int>::add", "program.cc", 7, 4, true },
		{ "shop::basket<int>::total", "program.cc", 14, 11, false },
	};
	static const struct expected name = { "shop::basket<int>::total", "", 0,
					      0, false };
	struct workshop w = workshop_begin();
	struct symbols *s;
	uint64_t address;

	(void)state;
	if (!workshop_has("c++"))
		skip();
	workshop_write(&w, "program.cc", cxx_program);
	workshop_run(&w, "c++ -g -O2 -o program program.cc");
	address = workshop_address(&w, "program", "mark_add");
	s = open_in(&w, "program");
	check(s, address, lines, 2);
	symbols_free(s);
	workshop_run(&w, "strip -g program");
	s = open_in(&w, "program");
	check(s, address, &name, 1);
	symbols_free(s);
	workshop_end(&w);
}

static const char rust_program[] =
	"mod shop {\n"			      /* 1 */
	"    #[inline(always)]\n"	      /* 2 */
	"    pub fn add(sum: &mut usize) {\n" /* 3 */
	"        unsafe { std::arch::asm!(\".globl mark_add\", "
	"\"mark_add:\", \"nop\") }\n"		  /* 4 */
	"        *sum += 1;\n"			  /* 5 */
	"    }\n"				  /* 6 */
	"    #[inline(never)]\n"		  /* 7 */
	"    pub fn total(n: usize) -> usize {\n" /* 8 */
	"        let mut sum = n;\n"		  /* 9 */
	"        add(&mut sum);\n"		  /* 10 */
	"        sum\n"				  /* 11 */
	"    }\n"				  /* 12 */
	"}\n"					  /* 13 */
	"fn main() {\n"				  /* 14 */
	"    println!(\"{}\", shop::total(std::env::args().count()));\n"
	"}\n"; /* 16 */

static void check_rust(const char *options)
{
	static const struct expected lines[] = {
		{ "program::shop::add", "program.rs", 4, 3, true },
		{ "program::shop::total", "program.rs", 10, 8, false },
	};
	struct workshop w = workshop_begin();
	struct symbols *s;

	workshop_write(&w, "program.rs", rust_program);
	workshop_run(&w, "rustc -g -O -A named_asm_labels %s program.rs",
		     options);
	s = open_in(&w, "program");
	check(s, workshop_address(&w, "program", "mark_add"), lines, 2);
	symbols_free(s);
	workshop_end(&w);
}

static void test_rust(void **state)
{
	(void)state;
	if (!workshop_has("rustc"))
		skip();
	check_rust("");
	check_rust("-C symbol-mangling-version=v0");
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

struct names {
	char text[256];
	uint64_t last;
	int limit;
};

static bool note(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct names *n = context;

	assert_true(size > 0);
	assert_true(address >= n->last);
	n->last = address;
	strcat(strcat(n->text, name), " ");
	return --n->limit > 0;
}

/* The parts and copies of a function, as the table names them. */
static void test_functions_by_prefix(void **state)
{
	static const char parts[] =
		"__asm__(\".text\\n.globl part_a\\n\"\n"
		"\".type part_a,@function\\npart_a: nop\\nnop\\n\"\n"
		"\".size part_a,.-part_a\\n.type part_a.cold,@function\\n\"\n"
		"\"part_a.cold: nop\\n.size part_a.cold,.-part_a.cold\\n\"\n"
		"\".type part_a.lto_priv.0,@function\\n\"\n"
		"\"part_a.lto_priv.0: nop\\n\"\n"
		"\".size part_a.lto_priv.0,.-part_a.lto_priv.0\\n\");\n"
		"int part_data = 7;\n"
		"int main(void) { return 0; }\n";
	struct names all = { .limit = 9 }, some = { .limit = 2 },
		     none = { .limit = 9 };
	struct workshop w = workshop_begin();
	struct symbols *s;

	(void)state;
	workshop_write(&w, "program.c", parts);
	workshop_run(&w, "cc -o program program.c");
	s = open_in(&w, "program");
	assert_true(symbols_range(s, "part_", note, &all));
	assert_string_equal(all.text, "part_a part_a.cold part_a.lto_priv.0 ");
	assert_false(symbols_range(s, "part_", note, &some));
	assert_string_equal(some.text, "part_a part_a.cold ");
	assert_true(symbols_range(s, "nothing", note, &none));
	assert_string_equal(none.text, "");
	symbols_free(s);
	workshop_end(&w);
}

/* What the function itself is called, in spite of labels and aliases in it. */
static void test_one_of_many_names(void **state)
{
	static const char aliases[] =
		"volatile int sink;\n"
		"int work(void)\n"
		"{\n" LABEL(
			"label_inside") "	return sink;\n"
					"}\n"
					"int __work(void) __attribute__((alias(\"work\")));\n"
					"int _work(void) __attribute__((weak, alias(\"work\")));\n"
					"int main(void) { return work(); }\n";
	struct workshop w = workshop_begin();
	struct symbol found[2];
	struct symbols *s;
	uint64_t address;

	(void)state;
	workshop_write(&w, "program.c", aliases);
	workshop_run(&w, "cc -O1 -o program program.c");
	address = workshop_address(&w, "program", "label_inside");
	s = open_in(&w, "program");
	assert_int_equal(symbols_find(s, address, found, 2), 1);
	assert_string_equal(found[0].name, "work");
	symbols_free(s);
	workshop_end(&w);
}

static bool is_stub(struct symbols *s, uint64_t address)
{
	struct symbol found[2];

	return symbols_find(s, address, found, 2) == 1 &&
	       !strcmp(found[0].name, "getpid@plt");
}

/* The stub that calls into another library, however the linker makes it. */
static void check_stub(const char *options)
{
	static const char caller[] = "#include <unistd.h>\n"
				     "int main(void) { return getpid(); }\n";
	struct names none = { .limit = 9 };
	struct workshop w = workshop_begin();
	struct symbols *s;
	int n = 0;

	workshop_write(&w, "program.c", caller);
	workshop_run(&w, "cc %s -o program program.c && strip program",
		     options);
	s = open_in(&w, "program");
	for (uint64_t at = 0x1000; at < 0x1400; at++)
		n += is_stub(s, at) + is_stub(s, 0x400000 + at);
	assert_in_range(n, 8, 32); /* bytes of one or two stubs */
	assert_true(symbols_range(s, "getpid", note, &none));
	assert_string_equal(none.text, "");
	symbols_free(s);
	workshop_end(&w);
}

static void test_stubs(void **state)
{
	(void)state;
	check_stub("-Wl,-z,lazy");
	check_stub("-Wl,-z,now");
#if defined(__x86_64__)
	check_stub("-fcf-protection=full -Wl,-z,ibtplt");
#endif
	check_stub("-no-pie");
}

static void test_bytes_of_code(void **state)
{
	uint64_t address;
	struct workshop w = build("", &address);
	struct symbols *s = open_in(&w, "program");
	unsigned char bytes[16];

	(void)state;
	assert_int_equal(symbols_read(s, address, bytes, 16), 16);
	assert_int_equal(symbols_read(s, UINT64_MAX - 4, bytes, 16), 0);
	symbols_free(s);
	workshop_end(&w);
}

static void test_vdso(void **state)
{
	struct names names = { .limit = 1 };
	struct symbols *s = NULL;

	(void)state;
	if (symbols_open(&s, NULL, "[vdso]", NULL, NULL) < 0)
		skip();
	assert_false(symbols_range(s, "__", note, &names));
	symbols_free(s);
	assert_int_equal(symbols_open(&s, NULL, "[vdso]", "abcdef", NULL),
			 -ERR_NOT_FOUND);
}

static void test_no_object_files(void **state)
{
	static const char *const paths[] = {
		"/no/such/file", "/dev/zero", "/tmp",
		"[heap]",	 "",	      "/proc/self/maps"
	};
	struct error err = ERROR_INIT;
	struct symbols *s = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_int_equal(symbols_open(&s, NULL, paths[i], NULL, &err),
				 -ERR_NOT_FOUND);
	assert_null(s);
	assert_non_null(strstr(err.text, "/proc/self/maps"));
	symbols_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_and_inlined_calls),
		cmocka_unit_test(test_older_dwarf),
		cmocka_unit_test(test_compressed_sections),
		cmocka_unit_test(test_of_clang),
		cmocka_unit_test(test_with_link_time_optimisation),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_stripped_of_lines),
		cmocka_unit_test(test_stripped_of_all),
		cmocka_unit_test(test_functions_by_prefix),
		cmocka_unit_test(test_one_of_many_names),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_bytes_of_code),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_no_object_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
