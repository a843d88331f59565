/* The input is an object file that a process has mapped. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void ask(const struct module *m, struct mapping *mapping)
{
	static const char *const sections[] = { ".text", ".data", "", "x" };
	static const char *const names[] = { "main", "_PyRuntime", "" };
	uint64_t values[3], address, size;
	size_t found, n = 0;

	for (int i = 0; i < 4; i++)
		module_section(m, sections[i], &address, &size);
	found = module_symbols(m, names, values, 3);
	for (int i = 0; i < 3; i++)
		n += values[i] != 0;
	require(found == n);
	for (mapping->offset = 0; mapping->offset < 1 << 16;
	     mapping->offset += 4096)
		module_bias(m, mapping);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("module", MFD_CLOEXEC);
	struct mapping mapping = { .start = 0x400000, .end = 0x401000 };
	struct module *m;
	struct stat st;
	char path[64];

	require(fd >= 0 && !fstat(fd, &st));
	require(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	mapping.path = path;
	mapping.inode = st.st_ino;
	if (module_open_mapped(&m, getpid(), &mapping) == 0) {
		ask(m, &mapping);
		module_free(m);
	}
	close(fd);
	return 0;
}
