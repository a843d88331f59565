#include <string.h>

#include "base/buffer.h"
#include "unit.h"

static const uint64_t numbers[] = { 0,		1,	    127,
				    128,	16383,	    16384,
				    UINT32_MAX, 1ull << 63, UINT64_MAX };

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void test_integers_come_back(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct cursor c;

	for (size_t i = 0; i < N_NUMBERS; i++) {
		buffer_add_varint(&b, numbers[i]);
		buffer_add_svarint(&b, (int64_t)numbers[i]);
		buffer_add_svarint(&b, -(int64_t)(numbers[i] / 2));
		buffer_add_u32(&b, (uint32_t)numbers[i]);
		buffer_add_u64(&b, numbers[i]);
	}
	c = cursor_over(b.data, b.size);
	for (size_t i = 0; i < N_NUMBERS; i++) {
		assert_true(cursor_varint(&c) == numbers[i]);
		assert_true(cursor_svarint(&c) == (int64_t)numbers[i]);
		assert_true(cursor_svarint(&c) == -(int64_t)(numbers[i] / 2));
		assert_int_equal(cursor_u32(&c), (uint32_t)numbers[i]);
		assert_true(cursor_u64(&c) == numbers[i]);
	}
	assert_false(c.failed);
	assert_int_equal(cursor_left(&c), 0);
	buffer_release(&b);
}

static void test_layout_is_little_endian_base_128(void **state)
{
	struct buffer b = BUFFER_INIT;

	buffer_add_u32(&b, 0x04030201);
	buffer_add_varint(&b, 300);
	buffer_add_svarint(&b, -1);
	assert_int_equal(b.size, 7);
	assert_memory_equal(b.data, "\x01\x02\x03\x04\xac\x02\x01", 7);
	buffer_release(&b);
}

static void test_printf_grows(void **state)
{
	struct buffer b = BUFFER_INIT;

	assert_string_equal(buffer_text(&b), "");
	for (int i = 0; i < 1000; i++)
		buffer_printf(&b, "%d;", i);
	assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4);
	assert_string_equal(buffer_text(&b) + b.size - 8, "998;999;");
	buffer_reset(&b);
	assert_string_equal(buffer_text(&b), "");
	buffer_release(&b);
}

static void test_blob_may_hold_anything(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct cursor c;
	size_t n;

	buffer_add_blob(&b, "a\0b", 3);
	buffer_add_blob(&b, NULL, 0);
	c = cursor_over(b.data, b.size);
	assert_memory_equal(cursor_blob(&c, &n), "a\0b", 3);
	assert_int_equal(n, 3);
	cursor_blob(&c, &n);
	assert_int_equal(n, 0);
	assert_false(c.failed);
	buffer_release(&b);
}

static void test_cursor_stays_failed(void **state)
{
	struct cursor c = cursor_over("\x01\x02\x03", 3);

	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.failed);
	assert_int_equal(cursor_byte(&c), 0);
	assert_null(cursor_bytes(&c, 0));
	assert_int_equal(cursor_varint(&c), 0);
	assert_int_equal(cursor_left(&c), 0);
}

static void test_broken_varints_fail(void **state)
{
	static const char endless[16] = "\xff\xff\xff\xff\xff\xff\xff\xff"
					"\xff\xff\xff\xff\xff\xff\xff\xff";
	struct cursor c = cursor_over(endless, sizeof(endless));

	assert_int_equal(cursor_varint(&c), 0);
	assert_true(c.failed);
	c = cursor_over("\x80", 1);
	assert_int_equal(cursor_varint(&c), 0);
	assert_true(c.failed);
}

static void test_blob_longer_than_the_rest_fails(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct cursor c;
	size_t n = 99;

	buffer_add_varint(&b, UINT64_MAX);
	buffer_add_string(&b, "abc");
	c = cursor_over(b.data, b.size);
	assert_null(cursor_blob(&c, &n));
	assert_int_equal(n, 0);
	assert_true(c.failed);
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_come_back),
		cmocka_unit_test(test_layout_is_little_endian_base_128),
		cmocka_unit_test(test_printf_grows),
		cmocka_unit_test(test_blob_may_hold_anything),
		cmocka_unit_test(test_cursor_stays_failed),
		cmocka_unit_test(test_broken_varints_fail),
		cmocka_unit_test(test_blob_longer_than_the_rest_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
