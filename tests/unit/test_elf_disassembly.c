#include <string.h>

#include "elf/disassembly.h"
#include "elf_support.h"

struct listing {
	char text[512];
	uint64_t next, target;
	int left;
};

static bool note(void *context, const struct instruction *i)
{
	struct listing *l = context;

	assert_int_equal(i->address, l->next);
	l->next += i->size;
	if (i->target)
		l->target = i->target;
	strcat(strcat(l->text, i->text), "|");
	return --l->left > 0;
}

static void needs_capstone(void)
{
	if (!disassembly_available())
		skip();
}

static void check_listing(const void *bytes, size_t size, int limit,
			  const char *text, uint64_t target)
{
	struct listing l = { .next = 0x1000, .left = limit };

	assert_int_equal(disassembly_visit_bytes(bytes, size, 0x1000, note, &l,
						 NULL),
			 0);
	assert_string_equal(l.text, text);
	assert_int_equal(l.target, target);
}

static void test_instructions(void **state)
{
	(void)state;
	needs_capstone();
#if defined(__x86_64__)
	check_listing("\x48\x8b\x47\x08\xe8\x07\x00\x00\x00\xc3", 10, 9,
		      "mov rax, qword ptr [rdi + 8]|call 0x1010|ret|", 0x1010);
	check_listing("\x90\x90\x90", 3, 2, "nop|nop|", 0);
	check_listing("\x06\x90", 2, 9, ".byte 0x06|nop|", 0);
	check_listing("\x48", 1, 9, ".byte 0x48|", 0);
#elif defined(__aarch64__)
	check_listing("\x1f\x20\x03\xd5\x03\x00\x00\x94\xc0\x03\x5f\xd6", 12, 9,
		      "nop|bl #0x1010|ret|", 0x1010);
#endif
	check_listing("", 0, 9, "", 0);
}

/* A function of a file ends where its symbol says. */
static void test_function_of_a_file(void **state)
{
	uint64_t address;
	struct workshop w = build("", &address);
	struct symbols *s = open_in(&w, "program");
	uint64_t start = workshop_address(&w, "program", "outermost");
	struct listing l = { .next = start, .left = 3 };

	(void)state;
	needs_capstone();
	assert_int_equal(disassembly_visit(s, start, start + 8, note, &l, NULL),
			 0);
	assert_true(l.text[0] && l.next > start);
	assert_int_equal(disassembly_visit(s, start, start, note, &l, NULL),
			 -ERR_LIMIT);
	assert_int_equal(disassembly_visit(s, 1ull << 60, (1ull << 60) + 8,
					   note, &l, NULL),
			 -ERR_NOT_FOUND);
	symbols_free(s);
	workshop_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_function_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
