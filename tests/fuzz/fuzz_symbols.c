/* The input is an object file whose code is to be named. What the other process
 * makes of it is its own affair; ours must live, and hand out sound texts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/disassembly.h"
#include "elf/symbols.h"

#define ADDRESSES_MAX 8
#define PATIENCE      (NS_PER_SECOND / 2)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct addresses {
	uint64_t items[ADDRESSES_MAX];
	size_t count;
};

static void require(bool truth)
{
	if (!truth)
		abort();
}

static bool take(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct addresses *a = context;

	require(size && name[strlen(name)] == '\0' && address + size > address);
	if (a->count < ADDRESSES_MAX)
		a->items[a->count++] = address + size / 2;
	return true;
}

static bool look(void *context, const struct instruction *i)
{
	require(i->size && i->text[0]);
	*(uint64_t *)context += i->size;
	return true;
}

static void ask(struct symbols *s, uint64_t address)
{
	struct symbol found[4];
	unsigned char bytes[64];
	uint64_t seen = 0;
	uint32_t n = symbols_find(s, address, found, 4);

	require(n <= 4);
	require(!symbols_start(s, address, &seen) || seen <= address);
	seen = 0;
	for (uint32_t i = 0; i < n; i++)
		require(strlen(found[i].name) && strlen(found[i].file) < 65536);
	require(symbols_read(s, address, bytes, sizeof(bytes)) <= 64);
	if (!disassembly_visit(s, address, address + 64, look, &seen, NULL))
		require(seen <= 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct addresses addresses = { { 0x260, 0x2a0 }, 2 };
	int fd = memfd_create("object", MFD_CLOEXEC);
	struct symbols *s;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (symbols_open_fd(&s, fd, NULL, "/none/object", NULL, NULL) == 0) {
		symbols_limit(s, PATIENCE, NULL);
		symbols_range(s, "", take, &addresses);
		for (size_t i = 0; i < addresses.count; i++)
			ask(s, addresses.items[i]);
		symbols_free(s);
	}
	close(fd);
	return 0;
}
