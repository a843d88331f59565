#include "sample/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

size_t pieces_add(struct pieces *p, uint64_t address, void *into, size_t size)
{
	if (p->count == p->capacity) {
		p->capacity = p->capacity ? p->capacity * 2 : 64;
		p->items =
			xreallocarray(p->items, p->capacity, sizeof(*p->items));
		p->good = xreallocarray(p->good, p->capacity, sizeof(*p->good));
	}
	p->items[p->count] = (struct memory_piece){ address, into, size };
	p->good[p->count] = false;
	return p->count++;
}

/* Mark the pieces from `at` on that `got` bytes cover; the first that is not.
 */
static size_t mark_good(struct pieces *p, size_t at, size_t end, size_t got)
{
	while (at < end && got >= p->items[at].size) {
		got -= p->items[at].size;
		p->good[at++] = true;
	}
	return at;
}

int pieces_read(struct pieces *p, struct memory *memory)
{
	size_t at = 0, n_good = 0;
	int status = 0;

	while (at < p->count) {
		size_t end = at + MEMORY_PIECES_MAX, next;
		ssize_t got;

		if (end > p->count)
			end = p->count;
		got = memory_readv(memory, p->items + at, end - at);
		if (got == -ERR_GONE || got == -ERR_PERMISSION)
			return (int)got;
		if (got < 0)
			status = (int)got;
		next = mark_good(p, at, end, got < 0 ? 0 : (size_t)got);
		n_good += next - at;
		at = next < end ? next + 1 : end; /* behind the bad one */
	}
	return n_good || !p->count ? 0 : status ? status : -ERR_UNREADABLE;
}

void pieces_release(struct pieces *p)
{
	free(p->items);
	free(p->good);
	memset(p, 0, sizeof(*p));
}
