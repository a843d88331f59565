/* Steps over stacks made by hand, for both machines, and code read without
 * tables. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "elf/epilogue.h"
#include "elf/walk.h"
#include "elf/x86_instruction.h"

#define STACK_AT UINT64_C(0x7000)
#define CODE_AT	 UINT64_C(0x400000)

static struct walk_stack *stack_of(const uint64_t *words, size_t n)
{
	struct walk_stack *s = calloc(1, sizeof(*s));

	s->copy = (struct unwind_stack){ STACK_AT, (const void *)words, n * 8 };
	return s;
}

static void test_frame_pointer_step(void **state)
{
	static const uint64_t words[] = { 1, 2, 0x7100, 0x1234, 5 };
	static const struct unwind_machine *const machines[] = {
		&unwind_x86_64, &unwind_aarch64
	};
	struct walk_stack *s = stack_of(words, 5);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct walk_frame f = { .pc = 1,
					.sp = STACK_AT,
					.fp = STACK_AT + 16 };
		uint64_t cfa = walk_cfa(s, &f, &machines[i]->pointer);

		assert_int_equal(cfa, STACK_AT + 32);
		assert_true(walk_step(s, &f, &machines[i]->pointer, cfa,
				      machines[i]));
		assert_int_equal(f.pc, 0x1234);
		assert_int_equal(f.fp, 0x7100);
		assert_int_equal(f.sp, STACK_AT + 32);
	}
	free(s);
}

/* aarch64: a leaf has its return address in lr, signed. */
static void test_return_address_in_register(void **state)
{
	static const struct unwind_rule rule = { .cfa = CFA_IS,
						 .anchor = ANCHOR_SP,
						 .ra = SAVED_SAME };
	struct walk_frame f = { .pc = 1,
				.sp = STACK_AT,
				.fp = 8,
				.base = UINT64_C(0x2a00000000401234) };
	struct walk_stack *s = stack_of(NULL, 0);

	(void)state;
	assert_int_equal(walk_cfa(s, &f, &rule), STACK_AT);
	assert_true(walk_step(s, &f, &rule, STACK_AT, &unwind_aarch64));
	assert_int_equal(f.pc, 0x401234);
	assert_int_equal(f.fp, 8);
	assert_int_equal(f.base, 0); /* lr is used up */
	free(s);
}

/* The kernel's frames: everything is where the interrupted code had it. */
static void test_signal_step(void **state)
{
	static const struct {
		const struct unwind_machine *machine;
		size_t pc, sp, fp, base;
	} rows[] = {
		{ &unwind_x86_64, 168, 160, 120, 128 },
		{ &unwind_aarch64, 568, 560, 544, 552 },
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct unwind_rule *rule = &rows[i].machine->signal;
		uint64_t words[80] = { 0 }, cfa;
		struct walk_stack *s = stack_of(words, 80);
		struct walk_frame f = { .pc = 1, .sp = STACK_AT };

		words[rows[i].pc / 8] = 0x1111;
		words[rows[i].sp / 8] = 0x2222;
		words[rows[i].fp / 8] = 0x3333;
		words[rows[i].base / 8] = 0x4444;
		cfa = walk_cfa(s, &f, rule);
		assert_int_equal(cfa, 0x2222);
		assert_true(walk_step(s, &f, rule, cfa, rows[i].machine));
		assert_int_equal(f.pc, 0x1111);
		assert_int_equal(f.sp, 0x2222);
		assert_int_equal(f.fp, 0x3333);
		assert_int_equal(f.base, 0x4444);
		free(s);
	}
}

/* OpenSSL's: room of any size, and the stack pointer from before in a word. */
static void test_stack_pointer_that_was_put_away(void **state)
{
	static const uint64_t words[] = { 1, STACK_AT + 24, 3, 0x1234 };
	static const struct unwind_rule rule = { .cfa = CFA_AFTER,
						 .anchor = ANCHOR_SP,
						 .cfa_offset = 8,
						 .ra = SAVED_AT_CFA,
						 .ra_offset = -8 };
	struct walk_stack *s = stack_of(words, 4);
	struct walk_frame f = { .pc = 1, .sp = STACK_AT };
	uint64_t cfa = walk_cfa(s, &f, &rule);

	(void)state;
	assert_int_equal(cfa, STACK_AT + 32);
	assert_true(walk_step(s, &f, &rule, cfa, &unwind_x86_64));
	assert_int_equal(f.pc, 0x1234);
	free(s);
}

static void test_plt_stub(void **state)
{
	static const struct unwind_rule rule = { .cfa = CFA_PLT,
						 .anchor = ANCHOR_SP,
						 .cfa_offset = 11,
						 .ra = SAVED_AT_CFA,
						 .ra_offset = -8 };
	struct walk_frame f = { .pc = 0x100a, .sp = STACK_AT };
	struct walk_stack *s = stack_of(NULL, 0);

	(void)state;
	assert_int_equal(walk_cfa(s, &f, &rule), STACK_AT + 8);
	f.pc = 0x100b;
	assert_int_equal(walk_cfa(s, &f, &rule), STACK_AT + 16);
	/* No memory, and nothing at hand. */
	assert_false(walk_step(s, &f, &rule, STACK_AT + 16, &unwind_x86_64));
	free(s);
}

/* Memory that holds some code. */
struct code_memory {
	struct memory memory;
	unsigned char bytes[4096];
};

static ssize_t read_code(struct memory *m, const struct memory_piece *pieces,
			 size_t n)
{
	struct code_memory *c = (struct code_memory *)m;
	ssize_t total = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t into = pieces[i].address - CODE_AT;

		if (pieces[i].size > 4096 || into > 4096 - pieces[i].size)
			return total ? total : -ERR_UNREADABLE;
		memcpy(pieces[i].into, c->bytes + into, pieces[i].size);
		total += (ssize_t)pieces[i].size;
	}
	return total;
}

static const struct memory_ops code_ops = { read_code, NULL };

/* The rule at an offset of some code; `start`: read from the start. */
static bool rule_at(const struct unwind_machine *machine, const void *code,
		    size_t size, size_t at, bool start, struct unwind_rule *out)
{
	static struct code_memory memory;
	static struct window window;
	struct epilogue_bounds bounds = { CODE_AT, CODE_AT + size };

	memory.memory.ops = &code_ops;
	memset(memory.bytes, 0, sizeof(memory.bytes));
	memcpy(memory.bytes, code, size);
	window = (struct window){ .memory = &memory.memory };
	return start ? prologue_rule(&window, machine, CODE_AT + at, &bounds,
				     out)
		     : epilogue_rule(&window, machine, CODE_AT + at, &bounds,
				     out);
}

/* push %rbp; sub $0x20, %rsp; test %edi, %edi; je +5; call; add $0x20, %rsp;
 * pop %rbp; ret */
static const unsigned char plain[] = { 0x55, 0x48, 0x83, 0xec, 0x20, 0x85, 0xff,
				       0x74, 0x05, 0xe8, 1,    2,    3,	   4,
				       0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3 };

static void check_plain(size_t at, bool start, int cfa, bool is_saved)
{
	struct unwind_rule r;

	assert_true(
		rule_at(&unwind_x86_64, plain, sizeof(plain), at, start, &r));
	assert_int_equal(r.flags, RULE_GUESS);
	assert_int_equal(r.cfa, CFA_IS);
	assert_int_equal(r.anchor, ANCHOR_SP);
	assert_int_equal(r.cfa_offset, cfa);
	assert_int_equal(r.ra_offset, -8);
	assert_int_equal(r.fp, is_saved ? SAVED_AT_CFA : SAVED_SAME);
	assert_int_equal(r.fp_offset, is_saved ? -16 : 0);
}

/* From the start it is seen that rbp is never changed. */
static void test_code_of_x86_64(void **state)
{
	static const struct {
		size_t at;
		int cfa;
		bool is_saved;
	} rows[] = {
		{ 0, 8, false },  { 1, 16, true },  { 5, 48, true },
		{ 14, 48, true }, { 18, 16, true }, { 19, 8, false },
	};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		check_plain(rows[i].at, false, rows[i].cfa, rows[i].is_saved);
		check_plain(rows[i].at, true, rows[i].cfa, false);
	}
}

/* As kernels of linear algebra do it: sub $0x60, %rsp; mov %rbx, (%rsp);
 * mov %rsp, %rbx; sub $0x7080, %rsp; and $-4096, %rsp; nop; mov %rbx, %rsp;
 * mov (%rsp), %rbx; add $0x60, %rsp; ret */
static const unsigned char kernel[] = {
	0x48, 0x83, 0xec, 0x60, 0x48, 0x89, 0x1c, 0x24, 0x48, 0x89,
	0xe3, 0x48, 0x81, 0xec, 0x80, 0x70, 0,	  0,	0x48, 0x81,
	0xe4, 0,    0xf0, 0xff, 0xff, 0x90, 0x48, 0x89, 0xdc, 0x48,
	0x8b, 0x1c, 0x24, 0x48, 0x83, 0xc4, 0x60, 0xc3
};

static void test_stack_kept_in_rbx(void **state)
{
	struct unwind_rule r;

	(void)state;
	for (int start = 0; start < 2; start++) {
		assert_true(rule_at(&unwind_x86_64, kernel, sizeof(kernel), 25,
				    start, &r));
		assert_int_equal(r.anchor, ANCHOR_BASE);
		assert_int_equal(r.cfa_offset, 0x68);
		assert_int_equal(r.base, SAVED_AT_CFA);
		assert_int_equal(r.base_offset_words, -0x68 / 8);
	}
	assert_true(
		rule_at(&unwind_x86_64, kernel, sizeof(kernel), 0, false, &r));
	assert_int_equal(r.anchor, ANCHOR_SP);
	assert_int_equal(r.cfa_offset, 8);
	assert_int_equal(r.base, SAVED_SAME);
}

/* A function that does not return: only its start tells. */
static void test_no_return(void **state)
{
	struct unwind_rule r;

	(void)state;
	assert_false(rule_at(&unwind_x86_64, plain, 14, 9, false, &r));
	assert_true(rule_at(&unwind_x86_64, plain, 14, 14, true, &r));
	assert_int_equal(r.cfa_offset, 48);
}

/* stp x29, x30, [sp, #-32]!; mov x29, sp; cbz w0, +8; bl; ldp x29, x30, [sp],
 * #32; ret */
static const uint32_t plain_aarch64[] = { 0xa9be7bfd, 0x910003fd, 0x34000040,
					  0x94000010, 0xa8c27bfd, 0xd65f03c0 };

static void test_code_of_aarch64(void **state)
{
	struct unwind_rule r;

	(void)state;
	for (int start = 0; start < 2; start++) {
		assert_true(rule_at(&unwind_aarch64, plain_aarch64,
				    sizeof(plain_aarch64), 0, start, &r));
		assert_int_equal(r.cfa_offset, 0);
		assert_int_equal(r.ra, SAVED_SAME);
		assert_int_equal(r.fp, SAVED_SAME);
		assert_true(rule_at(&unwind_aarch64, plain_aarch64,
				    sizeof(plain_aarch64), 16, start, &r));
		assert_int_equal(r.cfa_offset, 32);
		assert_int_equal(r.ra, SAVED_AT_CFA);
		assert_int_equal(r.ra_offset, -24);
		assert_int_equal(r.fp, SAVED_AT_CFA);
		assert_int_equal(r.fp_offset, -32);
	}
}

static void test_calls_are_known(void **state)
{
	static const unsigned char direct[] = { 0, 0, 0, 0xe8, 1, 2, 3, 4 };
	static const unsigned char by_register[] = { 0, 0,    0,    0,
						     0, 0x41, 0xff, 0xd4 };
	static const unsigned char by_memory[] = { 0,	 0, 0xff, 0x15,
						   0x10, 0, 0,	  0 };
	static const unsigned char none[] = { 0x90, 0x90, 0x90, 0x90,
					      0x90, 0x90, 0x90, 0xc3 };

	(void)state;
	assert_true(x86_ends_in_call(direct, 8));
	assert_true(x86_ends_in_call(by_register, 8));
	assert_true(x86_ends_in_call(by_memory, 8));
	assert_false(x86_ends_in_call(none, 8));
}

static void test_calls_of_aarch64_are_known(void **state)
{
	/* nop; bl, blr x3, blraa x3 sp; b, ret, and x86-64's call */
	static const uint32_t calls[] = { 0x94000010, 0xd63f0060, 0xd73f087f };
	static const uint32_t others[] = { 0x14000010, 0xd65f03c0, 0x000010e8 };
	uint32_t words[2] = { 0xd503201f };
	const unsigned char *bytes = (const void *)words;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		words[1] = calls[i];
		assert_true(epilogue_ends_in_call(&unwind_aarch64, bytes));
		words[1] = others[i];
		assert_false(epilogue_ends_in_call(&unwind_aarch64, bytes));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_pointer_step),
		cmocka_unit_test(test_return_address_in_register),
		cmocka_unit_test(test_signal_step),
		cmocka_unit_test(test_stack_pointer_that_was_put_away),
		cmocka_unit_test(test_plt_stub),
		cmocka_unit_test(test_code_of_x86_64),
		cmocka_unit_test(test_stack_kept_in_rbx),
		cmocka_unit_test(test_no_return),
		cmocka_unit_test(test_code_of_aarch64),
		cmocka_unit_test(test_calls_are_known),
		cmocka_unit_test(test_calls_of_aarch64_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
