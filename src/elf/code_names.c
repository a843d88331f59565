#include "elf/code_names.h"

#include <stdlib.h>

#include "base/alloc.h"

#define TEXT_MAX 4096 /* bytes of a name */
#define BACK_MAX 256  /* pieces passed that begin before an address */

void code_names_release(struct code_names *c)
{
	free(c->items);
	intern_release(&c->texts);
	*c = (struct code_names)CODE_NAMES_INIT;
}

static uint32_t text(struct code_names *c, const char *s, size_t n)
{
	return intern_bytes(&c->texts, s, n < TEXT_MAX ? n : TEXT_MAX);
}

void code_names_add_of(struct code_names *c, uint64_t start, uint64_t size,
		       const char *name, size_t name_size, const char *owner,
		       size_t owner_size)
{
	uint64_t end = start + size;

	if (!size || end < start || !name_size || c->count >= CODE_NAMES_MAX)
		return;
	ALLOC_GROW(c->items, c->count + 1, c->capacity);
	c->items[c->count] = (struct code_piece){ start, end, c->count,
						  text(c, name, name_size),
						  text(c, owner, owner_size) };
	if (size > c->longest)
		c->longest = size;
	if (c->count && c->items[c->count - 1].start > start)
		c->sorted = false;
	c->count++;
}

void code_names_add(struct code_names *c, uint64_t start, uint64_t size,
		    const char *name, size_t name_size)
{
	code_names_add_of(c, start, size, name, name_size, "", 0);
}

static int compare(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static uint32_t count_before(const struct code_names *c, uint64_t address)
{
	uint32_t low = 0, high = c->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct code_piece *code_names_find(struct code_names *c, uint64_t address)
{
	const struct code_piece *found = NULL;
	uint32_t i;

	if (!c->sorted)
		qsort(c->items, c->count, sizeof(*c->items), compare);
	c->sorted = true;
	i = count_before(c, address);
	for (int n = 0; i > 0 && n < BACK_MAX; n++) {
		const struct code_piece *p = &c->items[--i];

		if (address - p->start >= c->longest)
			break;
		if (address < p->end && (!found || p->order > found->order))
			found = p;
	}
	return found;
}

const char *code_names_text(const struct code_names *c, uint32_t text)
{
	return intern_text(&c->texts, text);
}
