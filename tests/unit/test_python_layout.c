/* Which table a version gets, and what is believed of a target's own word. */
#include "unit.h"

#include <string.h>

#include "../support/fake_memory.h"
#include "python/layouts/layouts.h"

static void test_version_chooses_the_table(void **state)
{
	(void)state;
	assert_ptr_equal(layout_for_version(0x020712f0, false, false),
			 &layout_2_7);
	assert_ptr_equal(layout_for_version(0x030703f0, false, false),
			 &layout_3_7_0);
	assert_ptr_equal(layout_for_version(0x030704f0, false, false),
			 &layout_3_7);
	assert_ptr_equal(layout_for_version(0x030710f0, false, true),
			 &layout_3_7d);
	assert_ptr_equal(layout_for_version(0x03080000, false, true),
			 &layout_3_8);
	assert_ptr_equal(layout_for_version(0x030cfff0, false, false),
			 &layout_3_12);
}

static void test_unknown_versions_have_none(void **state)
{
	(void)state;
	assert_null(layout_for_version(0, false, false));
	assert_null(layout_for_version(0x02060000, false, false));
	assert_null(layout_for_version(0x03050af0, false, false));
	assert_null(layout_for_version(0x030d00f0, false, false));
	assert_null(layout_for_version(0x04000000, false, false));
	assert_null(layout_for_version(0x030c00f0, true, false));
}

/* A runtime that tells what a constant table says. */
struct told {
	struct fake_memory *memory;
	const struct layout *layout;
	uint64_t address;
};

#define WORD(i) (24 + 8 * (uint64_t)(i))

static uint64_t field_of(const struct layout *l, const struct layout_told *row)
{
	uint16_t v16;
	uint32_t v32;

	memcpy(&v16, (const char *)l + row->field, sizeof(v16));
	if (row->width == 2)
		return v16 == LAYOUT_NONE ? 0 : v16;
	memcpy(&v32, (const char *)l + row->field, sizeof(v32));
	return v32;
}

static uint64_t word_of(const struct layout *l, const struct layout_told *row)
{
	if (!row->width)
		return row->kind == TOLD_SIZE ? 0x3000 : 0;
	if (row->kind == TOLD_IN_GIL)
		return field_of(l, row) + l->interpreter.gil_state;
	if (row->kind == TOLD_IN_GC)
		return field_of(l, row) - l->interpreter.gc;
	return field_of(l, row);
}

static struct told tell(const struct layout *layout,
			const struct layout_told *rows)
{
	struct told t = { fake_memory_new(), layout, 0 };
	uint64_t version = (uint64_t)layout->major << 24 |
			   (uint64_t)layout->minor << 16 | 0xf0;

	t.address = fake_memory_map(t.memory, 2048);
	fake_memory_put(t.memory, t.address, "xdebugpy", 8);
	fake_memory_put_word(t.memory, t.address + 8, version);
	fake_memory_put_word(t.memory, t.address + 16, layout->free_threaded);
	for (size_t i = 0; rows[i].kind != TOLD_END; i++)
		fake_memory_put_word(t.memory, t.address + WORD(i),
				     word_of(layout, &rows[i]));
	return t;
}

/* Which word of 3.13 tells this field of struct layout. */
static size_t row_of(size_t field)
{
	size_t i = 0;

	while (layout_told_3_13[i].field != field ||
	       layout_told_3_13[i].width == 0)
		assert_int_not_equal(layout_told_3_13[i++].kind, TOLD_END);
	return i;
}

#define ROW_OF(f) row_of(offsetof(struct layout, f))

static int read_layout(struct told *t, struct layout *out, struct error *err)
{
	memset(out, 0x55, sizeof(*out));
	return layout_from_debug_offsets(out, fake_memory_reader(t->memory),
					 t->address, err);
}

static void check_round_trip(const struct layout *layout,
			     const struct layout_told *rows)
{
	struct told t = tell(layout, rows);
	struct error err = ERROR_INIT;
	struct layout out;

	assert_int_equal(read_layout(&t, &out, &err), 0);
	assert_memory_equal(&out, layout, sizeof(out));
	fake_memory_free(t.memory);
}

static void test_what_is_told_is_taken(void **state)
{
	(void)state;
	check_round_trip(&layout_3_13, layout_told_3_13);
	check_round_trip(&layout_3_13t, layout_told_3_13);
	check_round_trip(&layout_3_14, layout_told_3_14);
	check_round_trip(&layout_3_14t, layout_told_3_14);
	check_round_trip(&layout_3_15, layout_told_3_15);
	check_round_trip(&layout_3_15t, layout_told_3_15);
}

static void test_a_moved_field_is_followed(void **state)
{
	struct told t = tell(&layout_3_13, layout_told_3_13);
	size_t row = ROW_OF(code.filename);
	struct error err = ERROR_INIT;
	struct layout out;

	(void)state;
	fake_memory_put_word(t.memory, t.address + WORD(row), 144);
	assert_int_equal(read_layout(&t, &out, &err), 0);
	assert_int_equal(out.code.filename, 144);
	fake_memory_free(t.memory);
}

/* Put one lie into what 3.13 tells; the layout must be refused. */
static void check_refused(uint64_t offset, uint64_t word, int code)
{
	struct told t = tell(&layout_3_13, layout_told_3_13);
	struct error err = ERROR_INIT;
	struct layout out;

	fake_memory_put_word(t.memory, t.address + offset, word);
	assert_int_equal(read_layout(&t, &out, &err), -code);
	assert_int_equal(err.code, code);
	assert_true(strlen(err.text) > 20);
	fake_memory_free(t.memory);
}

static void test_lies_are_refused(void **state)
{
	(void)state;
	check_refused(0, 0x1234, ERR_CORRUPT);	       /* cookie */
	check_refused(8, 0x031000f0, ERR_UNSUPPORTED); /* 3.16 */
	check_refused(8, 0x010d00f0, ERR_UNSUPPORTED);
	check_refused(8, UINT64_MAX, ERR_UNSUPPORTED);
	check_refused(16, 2, ERR_CORRUPT);
	check_refused(WORD(0), 0, ERR_CORRUPT); /* sizes */
	check_refused(WORD(0), UINT64_MAX, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(thread.size)), 1 << 20, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(thread.size)), 200, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(thread.next)), 12, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(thread.next)), UINT64_MAX - 7, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(thread.next)), 0x10008, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(gil.locked)), 8, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(frame.localsplus)), 8, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(frame.owner)), 0x2000, ERR_CORRUPT);
	check_refused(WORD(ROW_OF(code.code)), 64, ERR_CORRUPT);
}

static void test_unreadable_runtime(void **state)
{
	struct told t = tell(&layout_3_13, layout_told_3_13);
	struct error err = ERROR_INIT;
	struct layout out;

	(void)state;
	t.address += 2048 - 100; /* the words end the mapping */
	fake_memory_put(t.memory, t.address, "xdebugpy", 8);
	fake_memory_put_word(t.memory, t.address + 8, 0x030d00f0);
	assert_int_equal(read_layout(&t, &out, &err), -ERR_UNREADABLE);
	t.address = 8;
	assert_int_equal(read_layout(&t, &out, &err), -ERR_UNREADABLE);
	fake_memory_free(t.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_chooses_the_table),
		cmocka_unit_test(test_unknown_versions_have_none),
		cmocka_unit_test(test_what_is_told_is_taken),
		cmocka_unit_test(test_a_moved_field_is_followed),
		cmocka_unit_test(test_lies_are_refused),
		cmocka_unit_test(test_unreadable_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
