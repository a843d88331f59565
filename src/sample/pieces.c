#include "sample/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SPAN_MAX 1024 /* bytes; reading more costs more than another piece */

struct pieces_field {
	uint64_t address;
	void *into;
	size_t size;
	size_t piece, span; /* that hold it */
};

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

/* Make the piece of the last field one with this one too, if it is near. */
static bool widen_span(struct pieces *p, uint64_t address, size_t size)
{
	struct memory_piece *span;
	uint64_t start, end;

	if (!p->n_fields || p->fields[p->n_fields - 1].piece + 1 != p->count)
		return false;
	span = &p->items[p->count - 1];
	start = address < span->address ? address : span->address;
	end = span->address + span->size;
	if (address + size > end)
		end = address + size;
	if (end - start > SPAN_MAX)
		return false;
	span->address = start;
	span->size = end - start;
	return true;
}

void pieces_add_field(struct pieces *p, uint64_t address, void *into,
		      size_t size)
{
	if (!widen_span(p, address, size)) {
		pieces_add(p, address, NULL, size);
		p->n_spans++;
	}
	ALLOC_GROW(p->fields, p->n_fields + 1, p->fields_capacity);
	p->fields[p->n_fields++] =
		(struct pieces_field){ address, into, size, p->count - 1,
				       p->n_spans - 1 };
}

/* Only now is it known how many spans there are. */
static void give_room(struct pieces *p)
{
	if (p->n_spans > p->spans_capacity) {
		p->spans_capacity = p->n_spans + 16;
		p->spans = xreallocarray(p->spans, p->spans_capacity, SPAN_MAX);
	}
	for (size_t i = 0; i < p->n_fields; i++)
		p->items[p->fields[i].piece].into =
			p->spans + p->fields[i].span * SPAN_MAX;
}

static void hand_out(struct pieces *p)
{
	for (size_t i = 0; i < p->n_fields; i++) {
		const struct pieces_field *f = &p->fields[i];
		const struct memory_piece *span = &p->items[f->piece];

		if (p->good[f->piece])
			memcpy(f->into,
			       (const unsigned char *)span->into +
				       (f->address - span->address),
			       f->size);
	}
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

	give_room(p);
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
	hand_out(p);
	return n_good || !p->count ? 0 : status ? status : -ERR_UNREADABLE;
}

void pieces_release(struct pieces *p)
{
	free(p->items);
	free(p->good);
	free(p->fields);
	free(p->spans);
	memset(p, 0, sizeof(*p));
}
