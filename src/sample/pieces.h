/* One vectored read, planned piece by piece.
 *
 * Pieces are read in the order in which they were added. A piece that cannot be
 * read is skipped, and the read goes on behind it: one freed chunk of one
 * thread must not cost the others their sample.
 *
 * A piece costs the kernel a third of a microsecond, whether it has 8 bytes or
 * 500. So fields that lie near each other are read as one span, and handed out
 * from there. */
#ifndef PYROMETER_SAMPLE_PIECES_H
#define PYROMETER_SAMPLE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"

struct pieces_field;

struct pieces {
	struct memory_piece *items;
	bool *good; /* after pieces_read: whether the piece was read whole */
	size_t count, capacity;
	/* Private: fields, and the spans that hold them. */
	struct pieces_field *fields;
	size_t n_fields, fields_capacity;
	unsigned char *spans;
	size_t n_spans, spans_capacity;
};

#define PIECES_INIT \
	{           \
		0   \
	}

/* Returns the index of the piece. */
size_t pieces_add(struct pieces *p, uint64_t address, void *into, size_t size);
/* A field of a few bytes: one piece with the field that was added just before
 * it, if that is near. Left as it was when it cannot be read. */
void pieces_add_field(struct pieces *p, uint64_t address, void *into,
		      size_t size);
static inline void pieces_clear(struct pieces *p)
{
	p->count = p->n_fields = p->n_spans = 0;
}
/* Read all. 0 when at least one piece was read (or there is none), else why
 * not: -ERR_GONE, -ERR_PERMISSION, -ERR_UNREADABLE. */
int pieces_read(struct pieces *p, struct memory *memory);
void pieces_release(struct pieces *p);

#endif
