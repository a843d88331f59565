/* A vectored read in pieces, of which some cannot be read. */
#include "unit.h"

#include <stdlib.h>

#include "../support/fake_memory.h"
#include "sample/pieces.h"

#define MANY 3000 /* more than one system call takes */

static void test_bad_piece_costs_no_other(void **state)
{
	struct fake_memory *f = fake_memory_new();
	struct pieces p = PIECES_INIT;
	uint64_t at = fake_memory_map(f, 64), words[3] = { 0 };

	(void)state;
	fake_memory_put_word(f, at, 11);
	fake_memory_put_word(f, at + 8, 22);
	pieces_add(&p, at, &words[0], 8);
	pieces_add(&p, 1, &words[1], 8);
	pieces_add(&p, at + 8, &words[2], 8);
	assert_int_equal(pieces_read(&p, fake_memory_reader(f)), 0);
	assert_true(p.good[0] && !p.good[1] && p.good[2]);
	assert_int_equal(words[0], 11);
	assert_int_equal(words[2], 22);
	pieces_release(&p);
	fake_memory_free(f);
}

static void test_piece_read_in_part_is_not_good(void **state)
{
	struct fake_memory *f = fake_memory_new();
	struct pieces p = PIECES_INIT;
	uint64_t at = fake_memory_map(f, 64);
	char bytes[128];

	(void)state;
	pieces_add(&p, at, bytes, 64);
	pieces_add(&p, at + 32, bytes, 64);
	assert_int_equal(pieces_read(&p, fake_memory_reader(f)), 0);
	assert_true(p.good[0] && !p.good[1]);
	pieces_release(&p);
	fake_memory_free(f);
}

static void test_near_fields_are_one_piece(void **state)
{
	struct fake_memory *f = fake_memory_new();
	uint64_t at = fake_memory_map(f, 8192), words[5] = { 0 };
	struct pieces p = PIECES_INIT;

	(void)state;
	for (uint64_t i = 0; i < 1024; i++)
		fake_memory_put_word(f, at + 8 * i, i);
	words[4] = 99;
	for (int round = 0; round < 2; round++) {
		pieces_clear(&p);
		pieces_add_field(&p, at + 800, &words[0], 8);
		pieces_add_field(&p, at + 1600, &words[1], 8);
		pieces_add_field(&p, at + 640, &words[2], 8);
		pieces_add_field(&p, at + 8 * 1000, &words[3], 8);
		pieces_add_field(&p, 8, &words[4], 8);
		assert_int_equal(p.count, 3);
		assert_int_equal(pieces_read(&p, fake_memory_reader(f)), 0);
		assert_true(p.good[0] && p.good[1] && !p.good[2]);
	}
	assert_int_equal(words[0], 100);
	assert_int_equal(words[1], 200);
	assert_int_equal(words[2], 80);
	assert_int_equal(words[3], 1000);
	assert_int_equal(words[4], 99);
	pieces_release(&p);
	fake_memory_free(f);
}

static bool is_bad(int i)
{
	return i % 1000 == 999 || i == 0 || i == MANY - 1;
}

static void test_more_pieces_than_one_call_takes(void **state)
{
	struct fake_memory *f = fake_memory_new();
	uint64_t at = fake_memory_map(f, MANY * 8);
	uint64_t *words = calloc(MANY, sizeof(*words));
	struct pieces p = PIECES_INIT;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		fake_memory_put_word(f, at + 8 * (uint64_t)i, (uint64_t)i + 7);
		pieces_add(&p, is_bad(i) ? 1 : at + 8 * (uint64_t)i, &words[i],
			   8);
	}
	assert_int_equal(pieces_read(&p, fake_memory_reader(f)), 0);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(p.good[i], !is_bad(i));
		assert_int_equal(words[i], is_bad(i) ? 0 : i + 7);
	}
	pieces_release(&p);
	free(words);
	fake_memory_free(f);
}

static void test_nothing_readable_is_an_error(void **state)
{
	struct fake_memory *f = fake_memory_new();
	struct pieces p = PIECES_INIT;
	uint64_t word;

	(void)state;
	assert_int_equal(pieces_read(&p, fake_memory_reader(f)), 0);
	pieces_add(&p, 1, &word, 8);
	pieces_add(&p, 2, &word, 8);
	assert_int_equal(pieces_read(&p, fake_memory_reader(f)),
			 -ERR_UNREADABLE);
	pieces_release(&p);
	fake_memory_free(f);
}

static ssize_t read_of_the_gone(struct memory *m,
				const struct memory_piece *pieces, size_t n)
{
	(void)m, (void)pieces, (void)n;
	return -ERR_GONE;
}

static void test_end_of_the_process_ends_the_read(void **state)
{
	const struct memory_ops ops = { read_of_the_gone, NULL };
	struct memory gone = { .ops = &ops };
	struct pieces p = PIECES_INIT;
	uint64_t word;

	(void)state;
	for (int i = 0; i < 10; i++)
		pieces_add(&p, 1, &word, 8);
	assert_int_equal(pieces_read(&p, &gone), -ERR_GONE);
	assert_int_equal(gone.reads, 1);
	pieces_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_piece_costs_no_other),
		cmocka_unit_test(test_piece_read_in_part_is_not_good),
		cmocka_unit_test(test_near_fields_are_one_piece),
		cmocka_unit_test(test_more_pieces_than_one_call_takes),
		cmocka_unit_test(test_nothing_readable_is_an_error),
		cmocka_unit_test(test_end_of_the_process_ends_the_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
