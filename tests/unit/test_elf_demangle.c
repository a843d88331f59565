#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"

struct pair {
	const char *symbol, *name;
};

static void check(char *(*function)(const char *), const struct pair *pairs,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *name = function(pairs[i].symbol);

		assert_string_equal(name, pairs[i].name);
		free(name);
	}
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Parts and copies of a function are that function. */
static void test_parts(void **state)
{
	static const struct pair pairs[] = {
		{ "plain", "plain" },
		{ "work.cold", "work" },
		{ "work.cold.12", "work" },
		{ "work.isra.0", "work" },
		{ "work.constprop.0.isra.0.cold", "work" },
		{ "_PyEval_EvalFrameDefault.lto_priv.0",
		  "_PyEval_EvalFrameDefault" },
		{ "work.part.0.lto_priv.1", "work" },
		{ "work.llvm.1234567890123", "work" },
		{ "loop._omp_fn.0", "loop" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@plt", "memcpy@plt" },
		{ "memcpy@GLIBC_2.2.5@plt", "memcpy@plt" },
		{ "@plt", "@plt" },
		{ "main.main", "main.main" },
		{ "runtime.cold.start", "runtime.cold.start" },
		{ "work.colder", "work.colder" },
		{ ".cold", ".cold" },
		{ "", "" },
		{ "@", "@" },
		{ ".", "." },
	};

	(void)state;
	check(demangle_cut, pairs, COUNT(pairs));
	check(demangle, pairs, COUNT(pairs));
}

static void test_cxx(void **state)
{
	static const struct pair pairs[] = {
		{ "_Z4workv", "work" },
		{ "_ZN4shop6basketIiE5totalEi", "shop::basket<int>::total" },
		{ "_ZN4shop6basketIiE5totalEi.cold",
		  "shop::basket<int>::total" },
		{ "_ZN12_GLOBAL__N_16hiddenEd",
		  "(anonymous namespace)::hidden" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_Znwm", "operator new" },
		{ "_Znwm@plt", "operator new@plt" },
		{ "_Zbroken", "_Zbroken" },
		{ "_Z", "_Z" },
	};

	(void)state;
	check(demangle, pairs, COUNT(pairs));
}

/* Both of Rust's schemes; the hash at the end is of no use to anybody. */
static void test_rust(void **state)
{
	static const struct pair pairs[] = {
		{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
		  "core::ptr::drop_in_place" },
		{ "_ZN5polar4plan3run17h3c0ffee19a2b4d57E.llvm.123",
		  "polar::plan::run" },
		{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$"
		  "foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		  "<Test + 'static as foo::Bar<Test>>::bar" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RINvNtC3std3mem8align_ofjdE",
		  "std::mem::align_of::<usize, f64>" },
		{ "_Rbroken", "_Rbroken" },
	};

	(void)state;
	check(demangle, pairs, COUNT(pairs));
}

/* Modules of gfortran; what only looks like one stays as it is. */
static void test_fortran(void **state)
{
	static const struct pair pairs[] = {
		{ "__known_MOD_heavy", "known::heavy" },
		{ "__known_MOD_heavy.constprop.0", "known::heavy" },
		{ "__known_MOD_heavy@plt", "known::heavy@plt" },
		{ "__a_b_MOD_c_d", "a_b::c_d" },
		{ "__m_MOD___copy_m_T", "m::__copy_m_T" },
		{ "dgemm_", "dgemm_" },
		{ "___MOD_heavy", "___MOD_heavy" },
		{ "___MOD_", "___MOD_" },
		{ "__MOD_heavy", "__MOD_heavy" },
		{ "__known_MOD_", "__known_MOD_" },
		{ "known_MOD_heavy", "known_MOD_heavy" },
	};

	(void)state;
	check(demangle_cut, pairs, COUNT(pairs));
	check(demangle, pairs, COUNT(pairs));
}

static void test_mangled(void **state)
{
	(void)state;
	assert_true(demangle_is_mangled("_Z4workv"));
	assert_true(demangle_is_mangled("_RNvCs1234_7mycrate3foo"));
	assert_true(demangle_is_mangled("__known_MOD_heavy"));
	assert_false(demangle_is_mangled("__libc_start_main"));
	assert_false(demangle_is_mangled("known_MOD_heavy"));
	assert_false(demangle_is_mangled(""));
}

static void test_long_names_are_left_alone(void **state)
{
	char *name = malloc(20001), *shown;

	(void)state;
	memset(name, 'a', 20000);
	memcpy(name, "_Z4work", 7);
	name[20000] = '\0';
	shown = demangle(name);
	assert_string_equal(shown, name);
	free(shown);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_mangled),
		cmocka_unit_test(test_long_names_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
