#include "liar.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096

void require(bool truth)
{
	if (!truth)
		abort();
}

/* How many bytes from this address on can be copied at once; 0: unmapped. */
static size_t run_length(const struct liar *l, uint64_t address)
{
	size_t page = PAGE - address % PAGE;
	size_t lap = l->size - address % l->size;

	if ((address / PAGE) % 8 == 7)
		return 0;
	return page < lap ? page : lap;
}

static ssize_t lie_once(const struct liar *l, const struct memory_piece *p)
{
	size_t done = 0;

	while (done < p->size) {
		uint64_t address = p->address + l->shift + done;
		size_t n = run_length(l, address);

		if (!n)
			break;
		if (n > p->size - done)
			n = p->size - done;
		memcpy((uint8_t *)p->into + done, l->data + address % l->size,
		       n);
		done += n;
	}
	return (ssize_t)done;
}

static ssize_t lie(struct memory *m, const struct memory_piece *pieces,
		   size_t n)
{
	struct liar *l = (struct liar *)m;
	ssize_t total = 0;

	require(n <= MEMORY_PIECES_MAX && l->reads++ < l->limit);
	for (size_t i = 0; i < n; i++) {
		ssize_t done = lie_once(l, &pieces[i]);

		total += done;
		if (done < (ssize_t)pieces[i].size)
			break;
	}
	return total ? total : -ERR_UNREADABLE;
}

static const struct memory_ops ops = { lie, NULL };

void liar_init(struct liar *l, const uint8_t *data, size_t size, uint32_t limit)
{
	*l = (struct liar){ { &ops }, data, size, 0, 0, limit };
}
