/* A stretch of a memory that is read once and looked at often. */
#ifndef PYROMETER_ELF_WINDOW_H
#define PYROMETER_ELF_WINDOW_H

#include "os/memory.h"

#define WINDOW_SIZE (16 << 10)

struct window {
	struct memory *memory;
	uint64_t address;
	size_t size; /* 0: nothing was read yet */
	unsigned char bytes[WINDOW_SIZE];
};

/* The bytes from an address on, at least `want` of them; *got says how many.
 * They are valid until the next call. NULL when they cannot be read. */
const unsigned char *window_at(struct window *w, uint64_t address, size_t want,
			       size_t *got);

#endif
