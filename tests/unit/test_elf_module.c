/* This very program as an object file. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/module.h"
#include "os/process.h"

/* What is looked up; not static, so that it has a name in the file. */
extern uint64_t landmark;
uint64_t landmark __attribute__((section("landmarks"))) = 7;

/* The file of this program, and where it begins in memory. */
struct self {
	struct maps maps;
	const struct mapping *first;
	struct module *module;
};

static void begin(struct self *s)
{
	char exe[PATH_MAX];

	*s = (struct self){ .maps = MAPS_INIT };
	process_exe(getpid(), exe);
	assert_int_equal(maps_read(&s->maps, getpid(), NULL), 0);
	for (size_t i = 0; i < s->maps.count && !s->first; i++)
		if (!strcmp(s->maps.items[i].path, exe))
			s->first = &s->maps.items[i];
	assert_non_null(s->first);
	assert_int_equal(module_open_mapped(&s->module, getpid(), s->first), 0);
}

static void end(struct self *s)
{
	module_free(s->module);
	maps_release(&s->maps);
}

static void test_symbol_is_where_it_is(void **state)
{
	static const char *const names[] = { "no_such_symbol", "landmark",
					     "main" };
	uint64_t values[3], bias;
	struct self s;

	(void)state;
	begin(&s);
	assert_int_equal(module_symbols(s.module, names, values, 3), 2);
	bias = module_bias(s.module, s.first);
	assert_int_equal(values[0], 0);
	assert_int_equal(values[1] + bias, (uintptr_t)&landmark);
	end(&s);
}

static void test_section_is_where_it_is(void **state)
{
	uint64_t address = 0, size = 0;
	struct self s;

	(void)state;
	begin(&s);
	assert_true(module_section(s.module, "landmarks", &address, &size));
	assert_in_range((uintptr_t)&landmark,
			address + module_bias(s.module, s.first),
			address + module_bias(s.module, s.first) + size - 1);
	assert_false(module_section(s.module, "nowhere", &address, &size));
	end(&s);
}

/* Open a file of these bytes as if it were mapped. */
static int open_bytes(const void *bytes, size_t size, uint64_t inode_off)
{
	char path[] = "/tmp/pyrometer-elf-XXXXXX";
	struct mapping mapping = { .path = path, .start = 1, .end = 2 };
	struct module *m = NULL;
	struct stat st;
	int fd = mkstemp(path), status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fstat(fd, &st), 0);
	mapping.inode = st.st_ino + inode_off;
	status = module_open_mapped(&m, getpid(), &mapping);
	module_free(m);
	close(fd);
	unlink(path);
	return status;
}

/* The first bytes of this program's file. */
static void read_self(unsigned char *bytes, size_t size)
{
	FILE *file = fopen("/proc/self/exe", "rb");

	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, size, file), size);
	fclose(file);
}

static void test_foreign_files_are_refused(void **state)
{
	unsigned char bytes[4096];

	(void)state;
	read_self(bytes, sizeof(bytes));
	assert_int_equal(open_bytes(bytes, sizeof(bytes), 0), 0);
	assert_int_equal(open_bytes("", 0, 0), -ERR_NOT_FOUND);
	assert_int_equal(open_bytes("#!/bin/sh\n", 10, 0), -ERR_NOT_FOUND);
	assert_int_equal(open_bytes(bytes, 32, 0), -ERR_NOT_FOUND);
	bytes[18] ^= 0x40; /* another machine */
	assert_int_equal(open_bytes(bytes, sizeof(bytes), 0), -ERR_NOT_FOUND);
	bytes[18] ^= 0x40;
	bytes[4] = 1; /* 32 bits */
	assert_int_equal(open_bytes(bytes, sizeof(bytes), 0), -ERR_NOT_FOUND);
}

/* The path names another file by now. */
static void test_replaced_file_is_refused(void **state)
{
	unsigned char bytes[4096];

	(void)state;
	read_self(bytes, sizeof(bytes));
	assert_int_equal(open_bytes(bytes, sizeof(bytes), 1), -ERR_NOT_FOUND);
}

static void test_no_file(void **state)
{
	static const char *const paths[] = { "", "[heap]", "/no/such/file",
					     "/dev/null", "/tmp" };
	struct module *m = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct mapping mapping = { .path = paths[i], .end = 1 };

		for (mapping.inode = 0; mapping.inode < 2; mapping.inode++)
			assert_int_equal(module_open_mapped(&m, getpid(),
							    &mapping),
					 -ERR_NOT_FOUND);
	}
	assert_null(m);
	module_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_is_where_it_is),
		cmocka_unit_test(test_section_is_where_it_is),
		cmocka_unit_test(test_foreign_files_are_refused),
		cmocka_unit_test(test_replaced_file_is_refused),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
