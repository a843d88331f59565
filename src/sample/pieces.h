/* One vectored read, planned piece by piece.
 *
 * Pieces are read in the order in which they were added. A piece that cannot be
 * read is skipped, and the read goes on behind it: one freed chunk of one
 * thread must not cost the others their sample. */
#ifndef PYROMETER_SAMPLE_PIECES_H
#define PYROMETER_SAMPLE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"

struct pieces {
	struct memory_piece *items;
	bool *good; /* after pieces_read: whether the piece was read whole */
	size_t count, capacity;
};

#define PIECES_INIT \
	{           \
		0   \
	}

/* Returns the index of the piece. */
size_t pieces_add(struct pieces *p, uint64_t address, void *into, size_t size);
static inline void pieces_clear(struct pieces *p)
{
	p->count = 0;
}
/* Read all. 0 when at least one piece was read (or there is none), else why
 * not: -ERR_GONE, -ERR_PERMISSION, -ERR_UNREADABLE. */
int pieces_read(struct pieces *p, struct memory *memory);
void pieces_release(struct pieces *p);

#endif
