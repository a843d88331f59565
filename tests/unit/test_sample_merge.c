/* Made-up stacks, root first as they are told here: P a Python frame that
 * begins a run, p one that another Python frame called, E a native frame of the
 * eval function, and others' code: i the interpreter, c its calls, l the C
 * library, x an extension. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/model.h"
#include "sample/merge.h"

#define MAX 64

/* Where each kind of code lies; the modules are 0, 1 and 2. */
enum {
	INTERPRETER = 0x1000,
	EVAL = 0x2000,
	COLD = 0x8000,
	CALLS = 0x3000,
	LIBC = 0x10000,
	EXTENSION = 0x20000,
};

static struct address_range entries[] = { { EVAL, EVAL + 0x1000 },
					  { COLD, COLD + 0x100 } };
static struct address_range calls[] = { { CALLS, CALLS + 0x1000 } };
static const uint8_t classes[] = { MODULE_INTERPRETER, MODULE_START,
				   MODULE_OTHER };

struct stacks {
	struct python_eval eval;
	struct raw_frame python[MAX];
	struct native_frame native[MAX];
	struct merge_input in;
};

static struct native_frame native_frame(char kind, uint32_t i)
{
	static const struct {
		char kind;
		uint64_t address;
		uint32_t module;
	} kinds[] = {
		{ 'E', EVAL, 0 },  { 'K', COLD, 0 }, { 'i', INTERPRETER, 0 },
		{ 'c', CALLS, 0 }, { 'l', LIBC, 1 }, { 'x', EXTENSION, 2 },
	};
	struct native_frame f = { .is_return = true };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		if (kinds[k].kind == kind) {
			f.pc = kinds[k].address + i + 1;
			f.module = kinds[k].module;
			return f;
		}
	abort();
}

static void make(struct stacks *s, const char *python, const char *native)
{
	uint32_t n = (uint32_t)strlen(python), k = (uint32_t)strlen(native);

	memset(s, 0, sizeof(*s));
	s->eval.entries = (struct address_ranges){ entries, 2, 2 };
	s->eval.calls = (struct address_ranges){ calls, 1, 1 };
	for (uint32_t i = 0; i < n; i++)
		s->python[n - 1 - i] =
			(struct raw_frame){ .code = i,
					    .entry = python[i] == 'P' };
	for (uint32_t i = 0; i < k; i++)
		s->native[k - 1 - i] = native_frame(native[i], i);
	s->in = (struct merge_input){
		.eval = &s->eval,
		.python = s->python,
		.n_python = n,
		.native = s->native,
		.n_native = k,
		.complete = true,
		.classes = classes,
		.n_classes = 3,
	};
}

/* The merged stack in the same letters, Python frames as digits. */
static const char *told(const struct merged *m)
{
	static char text[2 * MAX];

	for (uint32_t i = 0; i < m->count; i++) {
		const struct merged_frame *f = &m->frames[i];
		uint64_t a = f->address;

		if (f->kind == MERGED_PYTHON)
			text[i] = (char)('0' + f->python.code);
		else
			text[i] = a >= EXTENSION ? 'x'
				  : a >= LIBC	 ? 'l'
				  : a >= COLD	 ? 'K'
				  : a >= CALLS	 ? 'c'
				  : a >= EVAL	 ? 'E'
						 : 'i';
	}
	text[m->count] = 0;
	return text;
}

static void expect(struct stacks *s, const char *merged, uint32_t state)
{
	struct merged m = MERGED_INIT;

	assert_int_equal(merge_stacks(&m, &s->in), STATE_NATIVE | state);
	assert_string_equal(told(&m), merged);
	merged_release(&m);
}

static void check(const char *python, const char *native, const char *merged)
{
	struct stacks s;

	make(&s, python, native);
	expect(&s, merged, 0);
}

/* Up to 3.10 there is a run for each Python frame. */
static void one_to_one(void **state)
{
	(void)state;
	check("PPP", "illiiEcEcE", "012");
	check("PPP", "illiiEcExEii", "01x2ii");
	check("P", "lliEix", "0x");
	check("PP", "llEiKx", "01x"); /* in the cold part */
}

/* Since 3.11 a run may have several. */
static void several_to_one(void **state)
{
	(void)state;
	check("PppPp", "lliEicxiEx", "012x34x");
	check("Pppp", "lliE", "0123");
}

static void leaf_is_kept_and_calls_are_not(void **state)
{
	(void)state;
	check("P", "lliEccici", "0ii");
	check("P", "lliElx", "0lx");
	check("P", "lliEil", "0il");
	check("P", "lliEiixiil", "0xiil"); /* how it calls an extension */
}

/* What is no machinery stays where it belongs, if it can be told. */
static void interpreter_that_is_not_stripped(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PP", "lliEciicEi");
	expect(&s, "01i", 0);
	s.eval.named = true;
	expect(&s, "0ii1i", 0);
	make(&s, "P", "lliEcixiil");
	s.eval.named = true;
	expect(&s, "0ixiil", 0);
	make(&s, "PP", "lliEiixEii");
	s.eval.named = s.eval.handlers = true;
	expect(&s, "0ix1i", 0);
}

/* Extensions keep their frames wherever they are. */
static void others_are_kept(void **state)
{
	(void)state;
	check("PP", "lxEixxiE", "x0xx1");
	check("PP", "xllxEcE", "x01"); /* _start, the C library, main */
}

static void no_python_at_all(void **state)
{
	(void)state;
	check("", "llx", "llx");
	check("", "llxl", "llxl");
}

/* The eval function has begun or ended: no Python frame is its own. */
static void empty_run_at_the_leaf(void **state)
{
	(void)state;
	check("PP", "lliEcExE", "01x");
	check("", "lliE", "lli");
}

static void broken_at_the_root(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PpPP", "cExEx");
	s.in.complete = false;
	expect(&s, "012x3x", STATE_BROKEN);
	make(&s, "PpP", "xx");
	s.in.complete = false;
	expect(&s, "012xx", STATE_BROKEN);
	make(&s, "PP", "cExE");
	s.in.complete = false;
	s.in.entered = true;
	expect(&s, "01x", STATE_BROKEN);
}

/* What does not fit is not guessed. */
static void unmerged(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PPP", "llEcEx");
	expect(&s, "012x", STATE_UNMERGED);
	make(&s, "P", "llEcEcEx");
	expect(&s, "0x", STATE_UNMERGED);
	make(&s, "P", "EcEcEx");
	s.in.complete = false;
	expect(&s, "0x", STATE_BROKEN | STATE_UNMERGED);
}

/* A stripped interpreter whose eval function nobody knows. */
static void without_eval(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PP", "lliicicxx");
	s.in.eval = NULL;
	expect(&s, "01xx", STATE_UNMERGED);
}

static void internals(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PpP", "lliEcxEci");
	s.in.internals = true;
	expect(&s, "lliE01cxE2ci", 0);
}

/* A function per instruction stands on each run of the eval function. */
static void handlers(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, "PP", "lliEiixEii");
	s.eval.handlers = true;
	expect(&s, "0x1i", 0);
}

/* Whatever the counts, nothing is lost and nothing is read beyond. */
static void any_counts(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 4000; seed++) {
		struct merged m = MERGED_INIT;
		struct stacks s;
		char python[MAX] = "", native[MAX] = "";
		uint32_t kept = 0;

		for (uint32_t i = 0; i < seed % 7; i++)
			python[i] = (seed >> i & 1) ? 'P' : 'p';
		for (uint32_t i = 0; i < seed % 11; i++)
			native[i] = "EilxcK"[(seed * 31 + i * 7) % 6];
		make(&s, python, native);
		s.in.complete = seed & 8;
		s.in.entered = seed & 16;
		s.in.internals = seed & 32;
		merge_stacks(&m, &s.in);
		for (uint32_t i = 0; i < m.count; i++)
			kept += m.frames[i].kind == MERGED_PYTHON;
		assert_int_equal(kept, strlen(python));
		merged_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_to_one),
		cmocka_unit_test(several_to_one),
		cmocka_unit_test(leaf_is_kept_and_calls_are_not),
		cmocka_unit_test(interpreter_that_is_not_stripped),
		cmocka_unit_test(others_are_kept),
		cmocka_unit_test(no_python_at_all),
		cmocka_unit_test(empty_run_at_the_leaf),
		cmocka_unit_test(broken_at_the_root),
		cmocka_unit_test(unmerged),
		cmocka_unit_test(without_eval),
		cmocka_unit_test(internals),
		cmocka_unit_test(handlers),
		cmocka_unit_test(any_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
