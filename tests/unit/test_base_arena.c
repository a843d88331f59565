#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "unit.h"

static void test_allocations_are_aligned_and_apart(void **state)
{
	struct arena arena = ARENA_INIT;
	char *p[100];

	for (int i = 0; i < 100; i++) {
		p[i] = arena_alloc(&arena, (size_t)i);
		assert_int_equal((uintptr_t)p[i] % alignof(max_align_t), 0);
		memset(p[i], i, (size_t)i);
	}
	for (int i = 0; i < 100; i++)
		for (int k = 0; k < i; k++)
			assert_int_equal(p[i][k], i);
	arena_release(&arena);
}

static void test_large_allocation_keeps_the_others(void **state)
{
	struct arena arena = ARENA_INIT;
	char *small = arena_strdup(&arena, "small");
	char *large = arena_alloc(&arena, 1 << 20);

	memset(large, 'x', 1 << 20);
	assert_string_equal(small, "small");
	assert_true(arena.total >= (1 << 20) + 6);
	arena_release(&arena);
	assert_null(arena.chunks);
	assert_int_equal(arena.total, 0);
}

static void test_calloc_is_zero(void **state)
{
	struct arena arena = ARENA_INIT;
	unsigned char *p = arena_alloc(&arena, 64);

	memset(p, 0xff, 64);
	p = arena_calloc(&arena, 1000, 8);
	for (int i = 0; i < 8000; i++)
		assert_int_equal(p[i], 0);
	arena_release(&arena);
}

static void test_strndup_ends_with_nul(void **state)
{
	struct arena arena = ARENA_INIT;

	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&arena, "", 0), "");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocations_are_aligned_and_apart),
		cmocka_unit_test(test_large_allocation_keeps_the_others),
		cmocka_unit_test(test_calloc_is_zero),
		cmocka_unit_test(test_strndup_ends_with_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
