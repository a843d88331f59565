/* Lines of /proc/PID/maps, and our own. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/maps.h"

static bool parse(const char *text, struct mapping *out)
{
	static char line[512];

	snprintf(line, sizeof(line), "%s", text);
	return maps_parse_line(line, out);
}

static void test_line_of_a_file(void **state)
{
	struct mapping m;

	(void)state;
	assert_true(parse("55d0a000-55d0b000 r-xp 00002000 fe:01 1835 "
			  "                      /usr/bin/python3.11\n",
			  &m));
	assert_int_equal(m.start, 0x55d0a000);
	assert_int_equal(m.end, 0x55d0b000);
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.device, (uint64_t)0xfe << 32 | 1);
	assert_int_equal(m.inode, 1835);
	assert_true(m.readable);
	assert_string_equal(m.path, "/usr/bin/python3.11");
}

static void test_paths_as_they_are(void **state)
{
	struct mapping m;

	(void)state;
	assert_true(parse("1000-2000 ---p 0 0:0 7 /a b (deleted)", &m));
	assert_false(m.readable);
	assert_string_equal(m.path, "/a b (deleted)");
	assert_true(parse("1000-2000 rw-p 0 0:0 0", &m));
	assert_string_equal(m.path, "");
	assert_true(parse("1000-2000 rw-p 0 0:0 0 \n", &m));
	assert_string_equal(m.path, "");
	assert_true(parse("1000-2000 rw-p 0 0:0 0 [stack]", &m));
	assert_string_equal(m.path, "[stack]");
}

static void test_no_such_line(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1000",
		"1000-2000",
		"1000-2000 r",
		"1000-2000 r--p 0 0:0",
		"2000-1000 r--p 0 0:0 0 /a",
		"1000-1000 r--p 0 0:0 0 /a",
		"x-y r--p 0 0:0 0 /a",
	};
	struct mapping m;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_false(parse(lines[i], &m));
}

static const struct mapping *find(const struct maps *m, const void *address)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].start <= (uintptr_t)address &&
		    m->items[i].end > (uintptr_t)address)
			return &m->items[i];
	return NULL;
}

static void test_our_own(void **state)
{
	struct maps m = MAPS_INIT;
	const struct mapping *stack, *program;
	int local = 0;

	(void)state;
	assert_int_equal(maps_read(&m, getpid(), NULL), 0);
	stack = find(&m, &local);
	program = find(&m, "a text in our own file");
	assert_non_null(stack);
	assert_non_null(program);
	assert_string_equal(stack->path, "[stack]");
	assert_non_null(strstr(program->path, "test_os_maps"));
	for (size_t i = 1; i < m.count; i++)
		assert_true(m.items[i - 1].end <= m.items[i].start);
	maps_release(&m);
}

static void test_nobody(void **state)
{
	struct maps m = MAPS_INIT;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(maps_read(&m, 1 << 30, &err), -ERR_NO_PROCESS);
	assert_non_null(strstr(err.text, "1073741824"));
	assert_int_equal(maps_fingerprint(1 << 30), 0);
	maps_release(&m);
}

static void test_fingerprint_knows_files(void **state)
{
	char path[] = "/tmp/pyrometer-maps-XXXXXX";
	int fd = mkstemp(path);
	uint64_t before, during;
	void *mapped;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, 4096), 0);
	before = maps_fingerprint(getpid());
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	during = maps_fingerprint(getpid());
	munmap(mapped, 4096);
	close(fd);
	assert_true(before && during != before);
	assert_int_equal(maps_fingerprint(getpid()), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_of_a_file),
		cmocka_unit_test(test_paths_as_they_are),
		cmocka_unit_test(test_no_such_line),
		cmocka_unit_test(test_our_own),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_fingerprint_knows_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
