/* Strings to small numbers, each string once. Ids count from 0. */
#ifndef PYROMETER_BASE_INTERN_H
#define PYROMETER_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct interned {
	const char *text; /* NUL-terminated, owned by the table's arena */
	uint32_t size;	  /* without the NUL; text may hold NULs of its own */
	uint32_t hash;
};

struct intern {
	struct arena arena;
	struct interned *strings;
	uint32_t count, capacity;
	uint32_t *slots; /* id + 1, 0 is free */
	uint32_t mask;
};

#define INTERN_INIT           \
	{                     \
		ARENA_INIT, 0 \
	}

/* The id of the n bytes at s, new or known. */
uint32_t intern_bytes(struct intern *t, const char *s, size_t n);
uint32_t intern_string(struct intern *t, const char *s);
/* The text of an id; "" for an id that was never given. */
const char *intern_text(const struct intern *t, uint32_t id);
void intern_release(struct intern *t);

#endif
