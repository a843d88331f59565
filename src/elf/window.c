#include "elf/window.h"

#define PAGE 4096

/* Pages are pieces of their own: behind the last one nothing can be read, and
 * what lies before it still counts. */
static void fill(struct window *w, uint64_t address)
{
	struct memory_piece pieces[WINDOW_SIZE / PAGE + 1];
	size_t n = 0, size = 0;
	ssize_t got;

	while (size < WINDOW_SIZE) {
		size_t part = PAGE - ((address + size) & (PAGE - 1));

		if (part > WINDOW_SIZE - size)
			part = WINDOW_SIZE - size;
		if (address + size + part < address)
			break; /* the end of all addresses */
		pieces[n++] = (struct memory_piece){ address + size,
						     w->bytes + size, part };
		size += part;
	}
	got = n && w->memory ? memory_readv(w->memory, pieces, n) : 0;
	w->address = address;
	w->size = got > 0 ? (size_t)got : 0;
}

static bool holds(const struct window *w, uint64_t address, size_t want)
{
	return w->size >= want && address - w->address <= w->size - want;
}

const unsigned char *window_at(struct window *w, uint64_t address, size_t want,
			       size_t *got)
{
	if (!holds(w, address, want))
		fill(w, address);
	if (!holds(w, address, want))
		return NULL;
	*got = w->size - (size_t)(address - w->address);
	return w->bytes + (address - w->address);
}
