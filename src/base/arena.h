/* An arena: many small allocations that live and die together. */
#ifndef PYROMETER_BASE_ARENA_H
#define PYROMETER_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t used, size; /* of the newest chunk */
	size_t total;	   /* bytes handed out */
};

#define ARENA_INIT \
	{          \
		0  \
	}

/* Memory aligned for any type, not zeroed; lives until arena_release. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_calloc(struct arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of the n bytes at s. */
char *arena_strndup(struct arena *arena, const char *s, size_t n);
char *arena_strdup(struct arena *arena, const char *s);
void arena_release(struct arena *arena);

#endif
