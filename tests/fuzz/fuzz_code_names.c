/* The input is a list of names: its first byte says of which kind. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/jitdump.h"
#include "elf/kallsyms.h"
#include "elf/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* What is found must hold the address. */
static void ask(struct code_names *names)
{
	for (uint32_t i = 0; i < names->count && i < 64; i++) {
		uint64_t address = names->items[i].start;
		const struct code_piece *p = code_names_find(names, address);

		require(!p || (p->start <= address && address < p->end));
		require(!p || strlen(code_names_text(names, p->name)) <= 4096);
	}
	code_names_find(names, 0);
	code_names_find(names, UINT64_MAX);
}

/* Half of the file is there at first, the rest comes later. */
static int half_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("names", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size / 2) == (ssize_t)(size / 2));
	return fd;
}

static void add_rest(int fd, const uint8_t *data, size_t size)
{
	size_t half = size / 2;

	require(pwrite(fd, data + half, size - half, (off_t)half) ==
		(ssize_t)(size - half));
}

static void read_perfmap(const uint8_t *data, size_t size)
{
	int fd = half_file(data, size);
	struct perfmap map;

	perfmap_open_fd(&map, fd);
	ask(&map.names);
	add_rest(fd, data, size);
	perfmap_update(&map);
	ask(&map.names);
	require(map.read <= size);
	perfmap_release(&map);
}

static void read_jitdump(const uint8_t *data, size_t size)
{
	int fd = half_file(data, size);
	struct jitdump dump;

	if (!jitdump_open_fd(&dump, fd))
		return;
	add_rest(fd, data, size);
	jitdump_update(&dump);
	ask(&dump.names);
	require(dump.read <= size || !dump.names.count);
	jitdump_release(&dump);
}

static void read_kallsyms(const uint8_t *data, size_t size)
{
	struct code_names names = CODE_NAMES_INIT;
	uint32_t hidden, n;

	n = kallsyms_parse(&names, (const char *)data, size, &hidden);
	require(n == names.count);
	ask(&names);
	code_names_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const uint8_t *, size_t) = {
		['p'] = read_perfmap,
		['j'] = read_jitdump,
		['k'] = read_kallsyms,
	};

	if (size && data[0] < sizeof(readers) / sizeof(*readers) &&
	    readers[data[0]])
		readers[data[0]](data + 1, size - 1);
	return 0;
}
