/* Core files that are made up, read back. */
#include "unit.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/build_id.h"
#include "elf/corefile.h"
#include "../support/fake_core.h"

/* A core file on disk, and the object file that it says was mapped. */
struct files {
	char core[32], mapped[32];
	struct buffer bytes;
};

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void make_path(char path[32])
{
	int fd;

	strcpy(path, "/tmp/pyrometer-core-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

/* An object file of 5000 bytes with a build id of one letter. */
static void write_object(const char *path, char letter)
{
	unsigned char bytes[5000];
	Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *p = (Elf64_Phdr *)(bytes + sizeof(*h));
	Elf64_Nhdr *note = (Elf64_Nhdr *)(bytes + 256);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i % 251);
	*h = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F' },
			   .e_phoff = sizeof(*h),
			   .e_phentsize = sizeof(*p),
			   .e_phnum = 1 };
	*p = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 256, .p_filesz = 36 };
	*note = (Elf64_Nhdr){ 4, 20, NT_GNU_BUILD_ID };
	memcpy(note + 1, "GNU", 4);
	memset((char *)(note + 1) + 4, letter, 20);
	write_file(path, bytes, sizeof(bytes));
}

static void begin(struct files *f)
{
	*f = (struct files){ .bytes = BUFFER_INIT };
	make_path(f->core);
	make_path(f->mapped);
	write_object(f->mapped, 'a');
	fake_core_sample(f->mapped, &f->bytes);
	write_file(f->core, f->bytes.data, f->bytes.size);
}

static void end(struct files *f)
{
	unlink(f->core);
	unlink(f->mapped);
	buffer_release(&f->bytes);
}

static struct corefile *open_core(const struct files *f)
{
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;

	assert_int_equal(corefile_open(&core, f->core, "", &err), 0);
	return core;
}

static void test_tells_the_program(void **state)
{
	struct corefile *core;
	struct files f;

	(void)state;
	begin(&f);
	core = open_core(&f);
	assert_int_equal(core->pid, 100);
	assert_string_equal(core->command, "python a.py");
	assert_string_equal(core->exe, f.mapped);
	assert_int_equal(core->signal, SIGSEGV);
	assert_int_equal(core->signal_address, 0x666);
	assert_int_equal(core->lacking, 0);
	assert_int_equal(core->n_threads, 2);
	assert_int_equal(core->threads[0].tid, 100);
	assert_int_equal(core->threads[0].registers.pc, 0x400100);
	assert_int_equal(core->threads[0].thread_pointer, 0x7000);
	assert_int_equal(core->threads[0].call, -1);
	assert_int_equal(core->threads[1].thread_pointer, 0x8000);
#if defined(__x86_64__)
	assert_int_equal(core->threads[1].call, SYS_futex);
	assert_int_equal(core->threads[1].call_argument, 0x600010);
#endif
	corefile_free(core);
	end(&f);
}

/* Files first, the rest of the segments as anonymous memory; by address. */
static void test_maps(void **state)
{
	struct corefile *core;
	struct files f;

	(void)state;
	begin(&f);
	core = open_core(&f);
	assert_int_equal(core->maps.count, 6);
	assert_int_equal(core->maps.items[0].start, 0x400000);
	assert_string_equal(core->maps.items[0].path, f.mapped);
	assert_int_equal(core->maps.items[1].offset, 4096);
	assert_int_equal(core->maps.items[1].inode, core->maps.items[0].inode);
	assert_int_equal(core->maps.items[2].start, 0x501000);
	assert_string_equal(core->maps.items[2].path, "");
	assert_int_equal(core->maps.items[2].end, 0x502000);
	assert_string_equal(core->maps.items[4].path, "/no/such/file");
	assert_int_not_equal(core->maps.items[4].inode,
			     core->maps.items[0].inode);
	corefile_free(core);
	end(&f);
}

static void test_memory(void **state)
{
	unsigned char bytes[0x2000];
	struct corefile *core;
	struct files f;

	(void)state;
	begin(&f);
	core = open_core(&f);
	/* in the core file itself, up to where it ends */
	assert_int_equal(memory_read(core->memory, 0x600004, bytes, 4), 0);
	assert_memory_equal(bytes, "data", 4);
	assert_int_equal(memory_read(core->memory, 0x600ffd, bytes, 4),
			 -ERR_UNREADABLE);
	assert_int_equal(memory_read(core->memory, 0x600004, bytes, 0), 0);
	/* in the mapped file, zero behind its end, unreadable behind that */
	assert_int_equal(memory_read(core->memory, 0x400000 + 4990, bytes, 20),
			 0);
	assert_int_equal(bytes[9], 4999 % 251);
	assert_int_equal(bytes[10], 0);
	assert_int_equal(memory_read(core->memory, 0x400000, bytes, 0x2000), 0);
	assert_int_equal(bytes[300], 300 % 251);
	/* what the program wrote hides what the file has */
	assert_int_equal(memory_read(core->memory, 0x500004, bytes, 4), 0);
	assert_memory_equal(bytes, "data", 4);
	assert_int_equal(memory_read(core->memory, 0x501000, bytes, 1),
			 -ERR_UNREADABLE);
	assert_int_equal(memory_read(core->memory, 0x700000, bytes, 1),
			 -ERR_UNREADABLE);
	assert_int_equal(memory_read(core->memory, 0x300000, bytes, 1),
			 -ERR_UNREADABLE);
	corefile_free(core);
	end(&f);
}

static void test_files_that_are_missing_are_named(void **state)
{
	struct corefile *core;
	bool differs = true;
	struct files f;
	char byte;

	(void)state;
	begin(&f);
	core = open_core(&f);
	assert_null(corefile_missing(core, 0, &differs));
	memory_read(core->memory, 0x700000, &byte, 1);
	assert_string_equal(corefile_missing(core, 0, &differs),
			    "/no/such/file");
	assert_false(differs);
	assert_null(corefile_missing(core, 1, &differs));
	corefile_free(core);
	end(&f);
}

/* A core file that has the beginning of the mapped file. */
static void write_core_of_object(struct files *f)
{
	const struct fake_core_thread thread = { 1, 0, 0, 0, 0, -1, 0 };
	const struct fake_core_mapped mapped = { 0x400000, 0x402000, 0,
						 f->mapped };
	struct fake_core_segment segment = { 0x400000, 0x2000, NULL, 4096 };
	struct fake_core core = { .pid = 1,
				  .command = "",
				  .threads = &thread,
				  .n_threads = 1,
				  .files = &mapped,
				  .n_files = 1,
				  .segments = &segment,
				  .n_segments = 1 };
	FILE *file = fopen(f->mapped, "rb");
	char bytes[4096];

	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	fclose(file);
	segment.bytes = bytes;
	buffer_reset(&f->bytes);
	fake_core_write(&core, &f->bytes);
	write_file(f->core, f->bytes.data, f->bytes.size);
}

static void test_another_build_is_not_used(void **state)
{
	struct corefile *core;
	bool differs = false;
	struct files f;
	char byte;

	(void)state;
	begin(&f);
	write_core_of_object(&f);
	core = open_core(&f);
	assert_int_equal(memory_read(core->memory, 0x401000, &byte, 1), 0);
	corefile_free(core);
	write_object(f.mapped, 'b');
	core = open_core(&f);
	assert_int_equal(memory_read(core->memory, 0x401000, &byte, 1),
			 -ERR_UNREADABLE);
	assert_string_equal(corefile_missing(core, 0, &differs), f.mapped);
	assert_true(differs);
	corefile_free(core);
	end(&f);
}

/* A core file may name any file; only object files are read. */
static void test_other_files_are_not_opened(void **state)
{
	struct corefile *core;
	struct files f;
	char byte;

	(void)state;
	begin(&f);
	write_file(f.mapped, "secret secret secret", 20);
	core = open_core(&f);
	assert_int_equal(memory_read(core->memory, 0x400000, &byte, 1),
			 -ERR_UNREADABLE);
	corefile_free(core);
	end(&f);
}

static void test_root(void **state)
{
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;
	struct files f;
	char byte;

	(void)state;
	begin(&f);
	assert_int_equal(corefile_open(&core, f.core, "/no/root", &err),
			 -ERR_NOT_FOUND);
	assert_int_equal(corefile_open(&core, f.core, "/proc", &err), 0);
	assert_int_equal(memory_read(core->memory, 0x400000, &byte, 1),
			 -ERR_UNREADABLE);
	corefile_free(core);
	assert_int_equal(corefile_open(&core, f.core, "/tmp/..", &err), 0);
	assert_int_equal(memory_read(core->memory, 0x400000, &byte, 1), 0);
	corefile_free(core);
	end(&f);
}

/* However much is there of a core file, it is read or refused in a sentence. */
static void test_cut_off(void **state)
{
	size_t opened = 0;
	struct files f;

	(void)state;
	begin(&f);
	for (size_t size = 0; size < f.bytes.size; size += 61) {
		struct error err = ERROR_INIT;
		struct corefile *core = NULL;
		int status;

		write_file(f.core, f.bytes.data, size);
		status = corefile_open(&core, f.core, "", &err);
		if (status == 0) {
			assert_int_equal(core->lacking, f.bytes.size - size);
			opened++;
		} else {
			assert_int_equal(status, -ERR_CORRUPT);
			assert_string_not_equal(err.text, "");
		}
		corefile_free(core);
	}
	assert_in_range(opened, 1, f.bytes.size / 61 - 10);
	end(&f);
}

static int open_changed(const struct files *f, size_t at, unsigned char value)
{
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;
	unsigned char before = f->bytes.data[at];
	int status;

	f->bytes.data[at] = value;
	write_file(f->core, f->bytes.data, f->bytes.size);
	f->bytes.data[at] = before;
	status = corefile_open(&core, f->core, "", &err);
	assert_true(status == 0 || err.text[0]);
	corefile_free(core);
	return status;
}

static void test_foreign_files_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;
	struct files f;

	(void)state;
	begin(&f);
	assert_int_equal(open_changed(&f, 0, 'x'), -ERR_CORRUPT);
	assert_int_equal(open_changed(&f, EI_CLASS, ELFCLASS32),
			 -ERR_UNSUPPORTED);
	assert_int_equal(open_changed(&f, EI_DATA, ELFDATA2MSB),
			 -ERR_UNSUPPORTED);
	assert_int_equal(open_changed(&f, 18, 3), -ERR_UNSUPPORTED);
	assert_int_equal(open_changed(&f, 16, ET_DYN), -ERR_CORRUPT);
	assert_int_equal(open_changed(&f, 0, 0x7f), 0);
	assert_int_equal(corefile_open(&core, "/tmp", "", &err), -ERR_CORRUPT);
	assert_int_equal(corefile_open(&core, "/no/core", "", &err),
			 -ERR_NOT_FOUND);
	end(&f);
	corefile_free(NULL);
}

/* Many segments of notes that are all the same hole of a sparse file: together
 * they are too much. */
static void test_notes_have_an_end(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr notes[60];
	} bytes = { 0 };
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;
	struct files f;

	(void)state;
	begin(&f);
	memcpy(&bytes.header, f.bytes.data, sizeof(bytes.header));
	bytes.header.e_phoff = sizeof(bytes.header);
	bytes.header.e_phnum = 60;
	for (size_t i = 0; i < 60; i++)
		bytes.notes[i] = (Elf64_Phdr){ .p_type = PT_NOTE,
					       .p_offset = 8192,
					       .p_filesz = 5 << 20 };
	write_file(f.core, &bytes, sizeof(bytes));
	assert_int_equal(truncate(f.core, 6 << 20), 0);
	assert_int_equal(corefile_open(&core, f.core, "", &err), -ERR_CORRUPT);
	assert_non_null(strstr(err.text, "broken"));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_the_program),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_files_that_are_missing_are_named),
		cmocka_unit_test(test_another_build_is_not_used),
		cmocka_unit_test(test_other_files_are_not_opened),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_notes_have_an_end),
		cmocka_unit_test(test_foreign_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
