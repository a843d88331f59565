#include "record/hash.h"
#include "unit.h"

/* The published values of XXH32 with seed 0. */
static void test_known_values(void **state)
{
	assert_int_equal(hash32("", 0), 0x02cc5d05);
	assert_int_equal(hash32("a", 1), 0x550d7456);
	assert_int_equal(hash32("abc", 3), 0x32d153ff);
	assert_int_equal(hash32("Nobody inspects the spammish repetition", 39),
			 0xe2293b2f);
}

static void test_every_byte_counts(void **state)
{
	unsigned char bytes[64] = { 0 };
	uint32_t plain = hash32(bytes, sizeof(bytes));

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(hash32(bytes, sizeof(bytes)), plain);
		assert_int_not_equal(hash32(bytes, i), hash32(bytes, i + 1));
		bytes[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_every_byte_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
