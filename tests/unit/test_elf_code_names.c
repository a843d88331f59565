/* Lists of names: perf maps, jitdumps, the kernel's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/jitdump.h"
#include "elf/kallsyms.h"
#include "elf/perfmap.h"

static void check(struct code_names *names, uint64_t address, const char *name)
{
	const struct code_piece *p = code_names_find(names, address);

	if (!name)
		assert_null(p);
	else {
		assert_non_null(p);
		assert_string_equal(code_names_text(names, p->name), name);
	}
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("names", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* ---- perf maps ---- */

static void test_perfmap(void **state)
{
	static const char text[] = "1000 40 py::work:/app/a b.py\n"
				   "0x2000 0x10 second\r\n"
				   "not a line\n"
				   "3000 0 empty\n"
				   "ffffffffffffffff 10 wraps\n"
				   "11111111111111111 10 too long\n"
				   "4000 8\n"
				   "500 20 before\n";
	struct code_names names = CODE_NAMES_INIT;

	(void)state;
	assert_int_equal(perfmap_parse(&names, text, sizeof(text) - 1),
			 sizeof(text) - 1);
	assert_int_equal(names.count, 3);
	check(&names, 0x1000, "py::work:/app/a b.py");
	check(&names, 0x103f, "py::work:/app/a b.py");
	check(&names, 0x1040, NULL);
	check(&names, 0x200f, "second");
	check(&names, 0x500, "before");
	check(&names, 0x4ff, NULL);
	code_names_release(&names);
}

/* Memory of dead code is used again. */
static void test_later_names_win(void **state)
{
	static const char text[] = "1000 100 old\n1020 10 new\n1000 8 newest\n";
	struct code_names names = CODE_NAMES_INIT;

	(void)state;
	perfmap_parse(&names, text, sizeof(text) - 1);
	check(&names, 0x1004, "newest");
	check(&names, 0x1008, "old");
	check(&names, 0x1020, "new");
	check(&names, 0x1030, "old");
	code_names_release(&names);
}

/* The program writes while we read: half a line is left for later. */
static void test_perfmap_grows(void **state)
{
	static const char first[] = "1000 10 one\n2000 10 t";
	static const char second[] = "wo\n3000 10 three\n";
	int fd = file_of(first, sizeof(first) - 1);
	struct perfmap map;

	(void)state;
	perfmap_open_fd(&map, fd);
	check(&map.names, 0x1000, "one");
	check(&map.names, 0x2000, NULL);
	perfmap_update(&map);
	check(&map.names, 0x2000, NULL);
	assert_int_equal(write(fd, second, sizeof(second) - 1),
			 sizeof(second) - 1);
	perfmap_update(&map);
	check(&map.names, 0x2000, "two");
	check(&map.names, 0x3000, "three");
	assert_int_equal(map.names.count, 3);
	perfmap_release(&map);
}

/* Below a root, by the pid that the program has there, if it is its own. */
static void test_perfmap_of_process(void **state)
{
	char root[] = "/tmp/pyrometer-map-XXXXXX", path[128], command[128];
	struct perfmap map;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_false(perfmap_open(&map, root, 7, getuid()));
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/tmp/perf-7.map", root);
	file = fopen(path, "w");
	fputs("1000 10 inside\n", file);
	fclose(file);
	assert_true(perfmap_open(&map, root, 7, getuid()));
	check(&map.names, 0x1008, "inside");
	perfmap_release(&map);
	assert_false(perfmap_open(&map, root, 8, getuid()));
	if (getuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_false(perfmap_open(&map, root, 7, 1000));
		assert_true(perfmap_open(&map, root, 7, 65534));
		perfmap_release(&map);
	}
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

/* ---- jitdumps ---- */

struct dump {
	unsigned char bytes[1024];
	size_t size;
};

static void add(struct dump *d, const void *bytes, size_t size)
{
	assert_true(d->size + size <= sizeof(d->bytes));
	memcpy(d->bytes + d->size, bytes, size);
	d->size += size;
}

static struct dump new_dump(void)
{
	uint32_t header[10] = { 0x4a695444, 1, 40, 62, 0, 7 };
	struct dump d = { .size = 0 };

	add(&d, header, sizeof(header));
	return d;
}

static void add_record(struct dump *d, uint32_t kind, uint32_t content)
{
	uint32_t header[4] = { kind, 16 + content };

	add(d, header, sizeof(header));
}

static void add_load(struct dump *d, uint64_t address, const char *name)
{
	uint32_t ids[2] = { 7, 7 };
	uint64_t fields[4] = { address, address, 16, 0 };
	size_t n = strlen(name) + 1;

	add_record(d, 0, (uint32_t)(8 + 32 + n + 16));
	add(d, ids, sizeof(ids));
	add(d, fields, sizeof(fields));
	add(d, name, n);
	add(d, "0123456789abcdef", 16);
}

static void add_move(struct dump *d, uint64_t from, uint64_t to)
{
	uint32_t ids[2] = { 7, 7 };
	uint64_t fields[5] = { to, from, to, 16, 0 };

	add_record(d, 1, 8 + 40);
	add(d, ids, sizeof(ids));
	add(d, fields, sizeof(fields));
}

static void test_jitdump(void **state)
{
	struct dump d = new_dump();
	struct jitdump j;

	(void)state;
	add_load(&d, 0x1000, "first");
	add_record(&d, 2, 8); /* lines: passed over */
	add(&d, "lines...", 8);
	add_load(&d, 0x2000, "second");
	add_move(&d, 0x1000, 0x3000);
	assert_true(jitdump_open_fd(&j, file_of(d.bytes, d.size)));
	check(&j.names, 0x1000, "first");
	check(&j.names, 0x200f, "second");
	check(&j.names, 0x2010, NULL);
	check(&j.names, 0x3008, "first");
	jitdump_release(&j);
}

static void test_jitdump_grows(void **state)
{
	struct dump d = new_dump();
	struct jitdump j;
	size_t half;
	int fd;

	(void)state;
	add_load(&d, 0x1000, "first");
	half = d.size + 20;
	add_load(&d, 0x2000, "second");
	fd = file_of(d.bytes, half);
	assert_true(jitdump_open_fd(&j, fd));
	check(&j.names, 0x1000, "first");
	check(&j.names, 0x2000, NULL);
	assert_int_equal(write(fd, d.bytes + half, d.size - half),
			 d.size - half);
	jitdump_update(&j);
	check(&j.names, 0x2000, "second");
	jitdump_release(&j);
}

static void test_no_jitdump(void **state)
{
	struct dump d = new_dump();
	struct jitdump j;

	(void)state;
	assert_false(jitdump_open_fd(&j, -1));
	assert_false(jitdump_open_fd(&j, file_of("JiTD", 4)));
	d.bytes[0] ^= 1;
	assert_false(jitdump_open_fd(&j, file_of(d.bytes, d.size)));
	d = new_dump();
	d.bytes[8] = 1; /* a header that is smaller than itself */
	assert_false(jitdump_open_fd(&j, file_of(d.bytes, d.size)));
}

/* ---- the kernel ---- */

static void test_kallsyms(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81000040 t do_one_initcall\n"
		"ffffffff81000080 D some_data\n"
		"ffffffff81000100 W weak_function\n"
		"ffffffffc0001000 t nft_do_chain\t[nf_tables]\n"
		"broken line\n";
	struct code_names names = CODE_NAMES_INIT;
	const struct code_piece *p;
	uint32_t hidden;

	(void)state;
	assert_int_equal(kallsyms_parse(&names, text, sizeof(text) - 1,
					&hidden),
			 4);
	assert_int_equal(hidden, 0);
	check(&names, 0xffffffff8100003f, "_stext");
	check(&names, 0xffffffff81000040, "do_one_initcall");
	check(&names, 0xffffffff81000110, "weak_function");
	check(&names, 0xffffffff80ffffff, NULL);
	check(&names, 0xffffffffb0000000, NULL); /* far from anything */
	p = code_names_find(&names, 0xffffffffc0001010);
	assert_non_null(p);
	assert_string_equal(code_names_text(&names, p->name), "nft_do_chain");
	assert_string_equal(code_names_text(&names, p->owner), "[nf_tables]");
	code_names_release(&names);
}

/* To whom the kernel does not trust its addresses it shows zeros. */
static void test_hidden_kernel(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n"
				   "0000000000000000 t do_one_initcall\n";
	struct code_names names = CODE_NAMES_INIT;
	uint32_t hidden;

	(void)state;
	assert_int_equal(kallsyms_parse(&names, text, sizeof(text) - 1,
					&hidden),
			 0);
	assert_int_equal(hidden, 2);
	check(&names, 0, NULL);
	code_names_release(&names);
}

/* This machine's own list, or a reason why not. */
static void test_this_kernel(void **state)
{
	struct code_names names = CODE_NAMES_INIT;
	struct error err = ERROR_INIT;
	int status = kallsyms_read(&names, &err);

	(void)state;
	if (status < 0) {
		assert_true(err.text[0]);
		assert_int_equal(names.count, 0);
	} else {
		assert_true(names.count > 100);
	}
	code_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfmap),
		cmocka_unit_test(test_later_names_win),
		cmocka_unit_test(test_perfmap_grows),
		cmocka_unit_test(test_perfmap_of_process),
		cmocka_unit_test(test_jitdump),
		cmocka_unit_test(test_jitdump_grows),
		cmocka_unit_test(test_no_jitdump),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_hidden_kernel),
		cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
