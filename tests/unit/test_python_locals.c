/* The variables of frames. */
#include "unit.h"

#include "../support/fake_code.h"
#include "python/code.h"
#include "python/layouts/layouts.h"

#define CO_OPTIMIZED 1
#define CO_VARARGS   4
#define MAX	     8

/* Kinds of variables since 3.11. */
#define LOCAL  "\x20"
#define CELL   "\x40"
#define FREE   "\x80"
#define HIDDEN "\x30"

struct expected {
	const char *name;
	bool argument;
	uint64_t value;
};

static void check(struct fake_python *p, uint64_t frame, uint64_t code,
		  const struct expected *expected, int n)
{
	struct local found[MAX];

	assert_int_equal(frame_locals(found, MAX, fake_memory_reader(p->memory),
				      p->layout, frame, code),
			 n);
	for (int i = 0; i < n; i++) {
		assert_string_equal(found[i].name, expected[i].name);
		assert_int_equal(found[i].argument, expected[i].argument);
		assert_int_equal(found[i].value, expected[i].value);
	}
}

static uint64_t make_cell(struct fake_python *p, uint64_t value)
{
	uint64_t cell = fake_object(p, fake_type(p, "cell", 0, 0), 64);

	fake_memory_put_word(p->memory, cell + p->layout->object.size, value);
	return cell;
}

static uint64_t make_frame(struct fake_python *p, const uint64_t *values,
			   size_t n)
{
	uint16_t at = p->layout->frame.localsplus;
	uint64_t frame = fake_memory_map(p->memory, at + n * 8);

	fake_memory_put(p->memory, frame + at, values, n * 8);
	return frame;
}

/* def f(a, c, *rest): with a local x, where c is used by an inner function and
 * `free` comes from the enclosing one. */
static void test_old(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_8 };
	uint64_t c = fake_ascii(&p, "c");
	uint64_t locals[] = { fake_ascii(&p, "a"), c, fake_ascii(&p, "rest"),
			      fake_ascii(&p, "x") };
	uint64_t freevar = fake_ascii(&p, "free");
	struct fake_code code = {
		.name = "f",
		.file = "f.py",
		.lines = "",
		.flags = CO_OPTIMIZED | CO_VARARGS,
		.arguments = 2,
		.names = { locals, &c, &freevar },
		.n_names = { 4, 1, 1 },
	};
	uint64_t values[] = {
		0x100, 0, 0x300, 0, make_cell(&p, 0x200), make_cell(&p, 0x400)
	};
	const struct expected expected[] = {
		{ "a", true, 0x100 },	  { "c", true, 0x200 },
		{ "rest", true, 0x300 },  { "x", false, 0 },
		{ "free", false, 0x400 },
	};

	(void)state;
	check(&p, make_frame(&p, values, 6), fake_code(&p, &code), expected, 5);
	fake_memory_free(p.memory);
}

static void test_new(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_14 };
	uint64_t names[] = { fake_ascii(&p, "a"), fake_ascii(&p, "c"),
			     fake_ascii(&p, "x"), fake_ascii(&p, "hidden"),
			     fake_ascii(&p, "free") };
	struct fake_code code = {
		.name = "f",
		.file = "f.py",
		.lines = "",
		.flags = CO_OPTIMIZED,
		.arguments = 2,
		.names = { names },
		.n_names = { 5 },
		.kinds = LOCAL CELL LOCAL HIDDEN FREE,
	};
	/* tags: a borrowed reference, NULL with its tag, an int in place */
	uint64_t values[] = { 0x101, make_cell(&p, 0x200), 7 << 2 | 3, 1,
			      make_cell(&p, 0) | 1 };
	const struct expected expected[] = {
		{ "a", true, 0x100 },
		{ "c", true, 0x200 },
		{ "x", false, 7 << 2 | 3 },
		{ "free", false, 0 },
	};

	(void)state;
	check(&p, make_frame(&p, values, 5), fake_code(&p, &code), expected, 4);
	fake_memory_free(p.memory);
}

static void test_more_than_fit(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t names[20], values[20];
	struct fake_code code = {
		.name = "f",
		.file = "f.py",
		.lines = "",
		.flags = CO_OPTIMIZED,
		.names = { names },
		.n_names = { 20 },
		.kinds = "                    ",
	};
	struct local found[MAX];

	(void)state;
	for (int i = 0; i < 20; i++) {
		char name[] = { (char)('a' + i), 0 };

		names[i] = fake_ascii(&p, name);
		values[i] = (uint64_t)i;
	}
	assert_int_equal(frame_locals(found, MAX, fake_memory_reader(p.memory),
				      p.layout, make_frame(&p, values, 20),
				      fake_code(&p, &code)),
			 MAX);
	assert_string_equal(found[MAX - 1].name, "h");
	fake_memory_free(p.memory);
}

static void test_unreadable(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t name = fake_ascii(&p, "a");
	struct fake_code code = {
		.name = "f",
		.file = "f.py",
		.lines = "",
		.flags = CO_OPTIMIZED,
		.names = { &name },
		.n_names = { 1 },
		.kinds = LOCAL,
	};
	struct local found[MAX];

	(void)state;
	assert_int_equal(frame_locals(found, MAX, fake_memory_reader(p.memory),
				      p.layout, 64, fake_code(&p, &code)),
			 -ERR_UNREADABLE);
	fake_memory_free(p.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_more_than_fit),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
