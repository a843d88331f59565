/* Code objects: decoding, lines of instructions, addresses used again. */
#include "unit.h"

#include <string.h>

#include "../support/fake_code.h"
#include "python/code.h"
#include "python/layouts/layouts.h"

/* Lines 10, 10, 11, 0 in each version's own table. */
static struct fake_code sample(const struct layout *layout)
{
	static const char *const tables[] = {
		[LINES_LNOTAB_UNSIGNED] = "\x02\x01",
		[LINES_LNOTAB] = "\x04\x01",
		[LINES_PAIRS] = "\x04\x00\x02\x01\x02\x80",
		[LINES_LOCATIONS] = "\x81\x10\xd8\x01\x05\xf8",
	};
	struct fake_code code = {
		.name = "work",
		.file = "/tmp/file.py",
		.first_line = 10,
		.lines = tables[layout->lines],
		.units = 4,
	};

	code.lines_size = strlen(code.lines);
	if (layout->lines == LINES_PAIRS)
		code.lines_size = 6; /* has a zero byte */
	return code;
}

struct opened {
	struct fake_python python;
	uint64_t object;
	struct arena arena;
	struct code code;
};

static int read_code(struct opened *o, uint64_t code_type)
{
	return code_read(&o->code, fake_memory_reader(o->python.memory),
			 o->python.layout, o->object, code_type, &o->arena);
}

static struct opened make(const struct layout *layout)
{
	struct opened o = { .python = { fake_memory_new(), layout } };
	struct fake_code code = sample(layout);

	o.object = fake_code(&o.python, &code);
	return o;
}

static void finish(struct opened *o)
{
	arena_release(&o->arena);
	fake_memory_free(o->python.memory);
}

static void check_lines(struct opened *o)
{
	bool old = o->python.layout->frames == FRAME_OBJECTS;
	uint64_t base = old ? 0 : o->code.first_instruction;
	uint64_t step = !old || o->python.layout->lines == LINES_LNOTAB ? 2 : 1;
	const struct layout *l = o->python.layout;
	uint32_t last = l->lines < LINES_PAIRS ? 11 : 0;

	assert_int_equal(code_line(&o->code, l, base, 0), 10);
	assert_int_equal(code_line(&o->code, l, base + step, 0), 10);
	assert_int_equal(code_line(&o->code, l, base + 2 * step, 0), 11);
	assert_int_equal(code_line(&o->code, l, base + 3 * step, 0), last);
	assert_int_equal(code_line(&o->code, l, base + 4 * step, 0), 0);
	assert_int_equal(code_line(&o->code, l, base - step, 0), 10);
	assert_int_equal(code_line(&o->code, l, base - 9 * step, 0), 0);
}

static void test_every_layout(void **state)
{
	static const struct layout *const layouts[] = {
		&layout_2_7,   &layout_2_7d, &layout_3_6,   &layout_3_7,
		&layout_3_8,   &layout_3_9,  &layout_3_10,  &layout_3_11,
		&layout_3_12,  &layout_3_13, &layout_3_13t, &layout_3_14,
		&layout_3_14t, &layout_3_15, &layout_3_15t,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct opened o = make(layouts[i]);

		assert_int_equal(read_code(&o, 0), 0);
		assert_string_equal(o.code.name, "work");
		assert_string_equal(o.code.file, "/tmp/file.py");
		assert_int_equal(o.code.first_line, 10);
		assert_int_equal(o.code.n_units, 4);
		check_lines(&o);
		finish(&o);
	}
}

static void test_thread_local_bytecode(void **state)
{
	struct opened o = make(&layout_3_14t);

	(void)state;
	assert_int_equal(read_code(&o, 0), 0);
	assert_int_equal(code_line(&o.code, o.python.layout, 0x5004, 0x5000),
			 11);
	assert_int_equal(code_line(&o.code, o.python.layout, 0x5004, 0), 0);
	finish(&o);
}

static void test_the_type_is_checked(void **state)
{
	struct opened o = make(&layout_3_12);
	uint64_t type;

	(void)state;
	memory_read_u64(fake_memory_reader(o.python.memory),
			o.object + layout_3_12.object.type, &type);
	assert_int_equal(read_code(&o, type), 0);
	assert_int_equal(read_code(&o, type + 8), -ERR_CORRUPT);
	fake_memory_put_word(o.python.memory,
			     o.object + layout_3_12.object.type,
			     fake_type(&o.python, "list", 0, 0));
	assert_int_equal(read_code(&o, 0), -ERR_CORRUPT);
	finish(&o);
}

static void test_absurd_code(void **state)
{
	struct opened o = make(&layout_3_12);
	uint64_t table;

	(void)state;
	memory_read_u64(fake_memory_reader(o.python.memory),
			o.object + layout_3_12.code.linetable, &table);
	fake_memory_put_word(o.python.memory, table + layout_3_12.bytes.size,
			     CODE_LINETABLE_MAX + 1);
	assert_int_equal(read_code(&o, 0), -ERR_CORRUPT);
	fake_memory_put_word(o.python.memory, table + layout_3_12.bytes.size,
			     100);
	assert_int_equal(read_code(&o, 0), -ERR_UNREADABLE);
	fake_memory_put_word(o.python.memory,
			     o.object + layout_3_12.object.var_size,
			     CODE_UNITS_MAX + 1);
	assert_int_equal(read_code(&o, 0), -ERR_CORRUPT);
	o.object = 16;
	assert_int_equal(read_code(&o, 0), -ERR_UNREADABLE);
	finish(&o);
}

static void take_fingerprint(struct opened *o, uint64_t fingerprint[6])
{
	unsigned char bytes[256];
	size_t offset, size;

	code_fingerprint_range(o->python.layout, &offset, &size);
	assert_true(size <= 128);
	assert_int_equal(memory_read(fake_memory_reader(o->python.memory),
				     o->object + offset, bytes, size),
			 0);
	code_fingerprint(o->python.layout, bytes, fingerprint);
}

static void check_fingerprint(const struct layout *layout)
{
	struct opened o = make(layout);
	uint16_t fields[] = { layout->code.filename, layout->code.name,
			      layout->code.linetable,
			      layout->code.firstlineno };
	uint64_t now[6];

	assert_int_equal(read_code(&o, 0), 0);
	take_fingerprint(&o, now);
	assert_memory_equal(now, o.code.fingerprint, sizeof(now));
	for (size_t i = 0; i < 4; i++) {
		unsigned char before, after;
		struct memory *m = fake_memory_reader(o.python.memory);

		memory_read(m, o.object + fields[i], &before, 1);
		after = before ^ 8;
		fake_memory_put(o.python.memory, o.object + fields[i], &after,
				1);
		take_fingerprint(&o, now);
		assert_memory_not_equal(now, o.code.fingerprint, sizeof(now));
		fake_memory_put(o.python.memory, o.object + fields[i], &before,
				1);
	}
	finish(&o);
}

static void test_fingerprints(void **state)
{
	(void)state;
	check_fingerprint(&layout_2_7);
	check_fingerprint(&layout_3_8);
	check_fingerprint(&layout_3_11);
	check_fingerprint(&layout_3_12);
	check_fingerprint(&layout_3_15t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_layout),
		cmocka_unit_test(test_thread_local_bytecode),
		cmocka_unit_test(test_the_type_is_checked),
		cmocka_unit_test(test_absurd_code),
		cmocka_unit_test(test_fingerprints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
