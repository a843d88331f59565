/* What a reader makes of files that are cut, broken, foreign or lying. */
#include "record/block.h"
#include "record/hash.h"
#include "test_record_support.h"

/* Whatever samples are there must be the right ones; returns how many. */
static uint64_t check_prefix(struct reader *r)
{
	uint32_t seen = 0;

	check_sound(r);
	for (size_t i = 0; i < reader_blocks(r); i++) {
		struct sample_block b;

		assert_int_equal(reader_block(r, i, &b, NULL), 0);
		for (uint32_t k = 0; k < b.n_runs; k++)
			for (uint32_t j = 0; j < b.runs[k].ticks; j++) {
				uint32_t t = b.runs[k].first_tick + j;
				uint64_t tick = (b.ticks[t] + 65535) / PERIOD;

				assert_int_equal(b.runs[k].node,
						 small_node((uint32_t)tick));
				seen++;
			}
	}
	return seen;
}

static void test_cut_at_every_byte(void **state)
{
	struct buffer bytes = small_recording();
	uint64_t before = 0;

	for (size_t n = 0; n < bytes.size; n++) {
		/* Exactly as long, so that a byte too far is noticed. */
		unsigned char *copy = xmalloc(n ? n : 1);
		struct error err = ERROR_INIT;
		struct reader *r = NULL;
		int rc;

		memcpy(copy, bytes.data, n);
		rc = reader_open_memory(&r, copy, n, &err);
		if (n < FILE_HEADER_SIZE) {
			assert_int_equal(rc, -ERR_CORRUPT);
			assert_true(strlen(err.text) > 10);
		} else {
			uint64_t seen;

			assert_int_equal(rc, 0);
			seen = check_prefix(r);
			assert_true(seen >= before && seen % 20 == 0);
			before = seen;
			assert_non_null(reader_notice(r));
			assert_false(reader_info(r)->complete);
			reader_free(r);
		}
		free(copy);
	}
	assert_int_equal(before, SMALL_TICKS);
	buffer_release(&bytes);
}

/* Damage is either noticed, or it did no harm. */
static void check_damaged(const unsigned char *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct reader *r = NULL;

	if (reader_open_memory(&r, data, size, &err)) {
		assert_true(strlen(err.text) > 10);
		return;
	}
	if (check_prefix(r) < SMALL_TICKS)
		assert_non_null(reader_notice(r));
	reader_source(r, "/a.py", NULL);
	reader_free(r);
}

static void test_one_broken_byte_anywhere(void **state)
{
	static const unsigned char flips[] = { 0x01, 0x80, 0xff };
	struct buffer bytes = small_recording();

	for (size_t i = 0; i < bytes.size; i++)
		for (size_t k = 0; k < sizeof(flips); k++) {
			bytes.data[i] ^= flips[k];
			check_damaged(bytes.data, bytes.size);
			bytes.data[i] ^= flips[k];
		}
	buffer_release(&bytes);
}

/* The offset of the n-th block of a kind; *h gets its header. */
static size_t find_block(const struct buffer *bytes, uint8_t kind, int n,
			 struct block_header *h)
{
	size_t at = FILE_HEADER_SIZE;

	while (at < bytes->size) {
		assert_true(block_header_get(h, bytes->data + at));
		if (h->kind == kind && n-- == 0)
			return at;
		at += BLOCK_HEADER_SIZE + h->stored;
	}
	assert_true(false);
	return 0;
}

/* Hashes are no secret: whoever lies can make them fit. */
static void make_fit(unsigned char *at)
{
	struct block_header h;

	assert_true(block_header_get(&h, at));
	h.hash = hash32(at + BLOCK_HEADER_SIZE, h.stored);
	block_header_put(at, &h);
}

/* Flip each bit of a byte of a payload, and all of them. */
static void try_byte(struct buffer *bytes, size_t block, size_t offset)
{
	unsigned char *byte = bytes->data + block + BLOCK_HEADER_SIZE + offset;
	unsigned char old = *byte;

	for (int bit = 0; bit <= 8; bit++) {
		struct reader *r = NULL;

		*byte = old ^ (unsigned char)(bit < 8 ? 1 << bit : 0xff);
		make_fit(bytes->data + block);
		assert_int_equal(reader_open_memory(&r, bytes->data,
						    bytes->size, NULL),
				 0);
		check_sound(r);
		reader_source(r, "/a.py", NULL);
		reader_free(r);
	}
	*byte = old;
	make_fit(bytes->data + block);
}

static void test_broken_bytes_with_hashes_that_fit(void **state)
{
	struct buffer bytes = small_recording();
	struct block_header h;

	for (size_t at = FILE_HEADER_SIZE; at < bytes.size;
	     at += BLOCK_HEADER_SIZE + h.stored) {
		assert_true(block_header_get(&h, bytes.data + at));
		for (size_t i = 0; i < h.stored; i++)
			try_byte(&bytes, at, i);
	}
	check_damaged(bytes.data, bytes.size);
	buffer_release(&bytes);
}

static void test_an_index_that_lies_is_not_believed(void **state)
{
	struct buffer bytes = small_recording();
	struct block_header h;
	size_t at = find_block(&bytes, BLOCK_INDEX, 0, &h);

	for (uint32_t i = 0; i < h.stored; i++) {
		unsigned char *p = bytes.data + at + BLOCK_HEADER_SIZE + i;
		struct reader *r = NULL;

		*p ^= 0x05;
		make_fit(bytes.data + at);
		assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size,
						    NULL),
				 0);
		check_sound(r);
		assert_int_equal(reader_nodes(r), 3);
		reader_free(r);
		*p ^= 0x05;
	}
	buffer_release(&bytes);
}

/* Put a block of `kind` with `size` bytes of payload in front of `at`. */
static void insert_block(struct buffer *bytes, size_t at, uint8_t kind,
			 uint8_t flags, const void *payload, size_t size)
{
	struct block_header h = { .kind = kind,
				  .flags = flags,
				  .stored = (uint32_t)size,
				  .raw = (uint32_t)size,
				  .hash = hash32(payload, size) };
	size_t n = BLOCK_HEADER_SIZE + size;

	buffer_reserve(bytes, n);
	memmove(bytes->data + at + n, bytes->data + at, bytes->size - at);
	block_header_put(bytes->data + at, &h);
	memcpy(bytes->data + at + BLOCK_HEADER_SIZE, payload, size);
	bytes->size += n;
}

static void test_unknown_kinds_are_skipped(void **state)
{
	static const uint8_t kinds[] = { 0, 8, 16, 19, 77, 255 };

	for (size_t i = 0; i < sizeof(kinds); i++) {
		struct buffer bytes = small_recording();
		struct reader *r = NULL;
		struct block_header h;
		size_t at = find_block(&bytes, BLOCK_SAMPLES, 1, &h);

		insert_block(&bytes, at, kinds[i], 0x7e, "later", 5);
		assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size,
						    NULL),
				 0);
		assert_null(reader_notice(r));
		assert_int_equal(check_prefix(r), SMALL_TICKS);
		reader_free(r);
		buffer_release(&bytes);
	}
}

static void test_unknown_fields_and_tables_are_skipped(void **state)
{
	struct buffer bytes = small_recording();
	struct reader *r = NULL;
	struct block_header h;
	size_t at = find_block(&bytes, BLOCK_SAMPLES, 1, &h);

	insert_block(&bytes, at, BLOCK_DEFINITIONS, 0, "\x63\x03xyz", 5);
	insert_block(&bytes, at, BLOCK_INFO, 0, "\x63\x03xyz", 5);
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_null(reader_notice(r));
	assert_int_equal(check_prefix(r), SMALL_TICKS);
	reader_free(r);
	buffer_release(&bytes);
}

/* Rubbish between blocks costs nothing but the rubbish. */
static void test_reading_goes_on_behind_rubbish(void **state)
{
	struct buffer bytes = small_recording();
	struct reader *r = NULL;
	struct block_header h;
	size_t at = find_block(&bytes, BLOCK_SAMPLES, 1, &h);

	insert_block(&bytes, at, 99, 0, "rubbish", 7);
	memset(bytes.data + at, 0xb1, BLOCK_HEADER_SIZE + 7);
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_non_null(strstr(reader_notice(r), "damaged"));
	assert_int_equal(check_prefix(r), SMALL_TICKS);
	reader_free(r);
	buffer_release(&bytes);
}

static void test_lost_definitions_end_the_reading(void **state)
{
	struct buffer bytes = small_recording();
	struct reader *r = NULL;
	struct block_header h;
	size_t at = find_block(&bytes, BLOCK_DEFINITIONS, 0, &h);

	bytes.data[at + BLOCK_HEADER_SIZE] ^= 0xff;
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_non_null(strstr(reader_notice(r), "cannot be read"));
	assert_int_equal(check_sound(r), 0);
	reader_free(r);
	buffer_release(&bytes);
}

static void test_a_broken_sample_block_costs_only_itself(void **state)
{
	struct buffer bytes = small_recording();
	struct reader *r = NULL;
	struct block_header h;
	size_t at = find_block(&bytes, BLOCK_SAMPLES, 1, &h);
	struct sample_block b;

	bytes.data[at + BLOCK_HEADER_SIZE] ^= 0xff;
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_null(reader_notice(r));
	assert_int_equal(reader_blocks(r), 3);
	assert_int_equal(reader_block(r, 1, &b, NULL), 0);
	assert_int_equal(b.n_ticks, 0);
	assert_int_equal(b.n_runs, 0);
	assert_non_null(strstr(reader_notice(r), "lost"));
	assert_int_equal(check_prefix(r), SMALL_TICKS - 20);
	reader_free(r);
	buffer_release(&bytes);
}

static void check_refused(const void *data, size_t size, int code,
			  const char *word)
{
	struct error err = ERROR_INIT;
	struct reader *r = NULL;

	assert_int_equal(reader_open_memory(&r, data, size, &err), -code);
	assert_non_null(strstr(err.text, word));
	assert_null(strchr(err.text, '\n'));
}

static void test_foreign_files_are_named(void **state)
{
	check_refused("", 0, ERR_CORRUPT, "empty");
	check_refused("\x89PNG\r\n\x1a\n0000", 12, ERR_CORRUPT, "PNG");
	check_refused("\x1f\x8b\x08\0\0\0\0\0", 8, ERR_CORRUPT, "pprof");
	check_refused("\x7f"
		      "ELF\2\1\1",
		      7, ERR_CORRUPT, "ELF");
	check_refused("{\"a\": 1}", 8, ERR_CORRUPT, "JSON");
	check_refused("main;f 12\n", 10, ERR_CORRUPT, "not a Pyrometer");
	check_refused("\x89PYRO\n\x1a\1\1\1\1\1\1\1\1\1\1", 17, ERR_CORRUPT,
		      "line ends");
	check_refused("\x89PY", 3, ERR_CORRUPT, "nothing was recorded");
}

static void test_versions(void **state)
{
	unsigned char header[FILE_HEADER_SIZE];
	struct reader *r = NULL;
	uint32_t hash;

	file_header_put(header);
	header[10]++; /* a newer minor is no obstacle */
	hash = hash32(header, 12);
	memcpy(header + 12, &hash, 4);
	assert_int_equal(reader_open_memory(&r, header, sizeof(header), NULL),
			 0);
	reader_free(r);
	header[8]++;
	check_refused(header, sizeof(header), ERR_CORRUPT, "damaged");
	hash = hash32(header, 12);
	memcpy(header + 12, &hash, 4);
	check_refused(header, sizeof(header), ERR_UNSUPPORTED, "newer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_one_broken_byte_anywhere),
		cmocka_unit_test(test_broken_bytes_with_hashes_that_fit),
		cmocka_unit_test(test_an_index_that_lies_is_not_believed),
		cmocka_unit_test(test_unknown_kinds_are_skipped),
		cmocka_unit_test(test_unknown_fields_and_tables_are_skipped),
		cmocka_unit_test(test_reading_goes_on_behind_rubbish),
		cmocka_unit_test(test_lost_definitions_end_the_reading),
		cmocka_unit_test(test_a_broken_sample_block_costs_only_itself),
		cmocka_unit_test(test_foreign_files_are_named),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
