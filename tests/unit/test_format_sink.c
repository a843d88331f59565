#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "format/sink.h"

#define LARGE 300000

static void fill(struct sink *s, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		buffer_add_byte(&s->out, (unsigned char)(i * i >> 3));
		assert_int_equal(sink_drain(s), 0);
	}
}

static void check(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(data[i], (unsigned char)(i * i >> 3));
}

static void test_writes_everything_in_order(void **state)
{
	static unsigned char data[LARGE];
	struct sink s = SINK_OVER(memfd_create("sink", 0));

	(void)state;
	fill(&s, LARGE);
	assert_true(s.written > 0 && s.out.capacity < LARGE);
	assert_int_equal(sink_finish(&s), 0);
	assert_int_equal(s.written, LARGE);
	assert_int_equal(pread(s.fd, data, LARGE, 0), LARGE);
	check(data, LARGE);
	close(s.fd);
	sink_release(&s);
}

static void test_compresses_as_gzip(void **state)
{
	static unsigned char data[LARGE + 1];
	struct sink s = SINK_OVER(memfd_create("sink", 0));
	gzFile in;

	(void)state;
	sink_compress(&s);
	fill(&s, LARGE);
	assert_int_equal(sink_finish(&s), 0);
	assert_true(s.written < LARGE);
	lseek(s.fd, 0, SEEK_SET);
	in = gzdopen(s.fd, "r");
	assert_int_equal(gzread(in, data, LARGE + 1), LARGE);
	check(data, LARGE);
	assert_int_equal(gzclose(in), Z_OK);
	sink_release(&s);
}

static void test_keeps_the_first_failure(void **state)
{
	struct sink s = SINK_OVER(open("/dev/full", O_WRONLY));

	(void)state;
	buffer_add(&s.out, "x", 1);
	assert_int_equal(sink_drain(&s), 0); /* too little to be written */
	assert_int_equal(sink_finish(&s), -ERR_IO);
	assert_int_equal(s.error, ENOSPC);
	buffer_add(&s.out, "y", 1);
	assert_int_equal(sink_drain(&s), -ERR_IO);
	assert_int_equal(sink_finish(&s), -ERR_IO);
	assert_int_equal(s.written, 0);
	close(s.fd);
	sink_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_everything_in_order),
		cmocka_unit_test(test_compresses_as_gzip),
		cmocka_unit_test(test_keeps_the_first_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
