#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CHUNK_SIZE 65536

struct arena_chunk {
	struct arena_chunk *next;
	alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	void *p;

	if (size > (size_t)-1 / 2)
		size = (size_t)-1 / 2; /* xmalloc gives up below */
	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!arena->chunks || size > arena->size - arena->used) {
		size_t want = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		struct arena_chunk *chunk = xmalloc(sizeof(*chunk) + want);

		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->size = want;
		arena->used = 0;
	}
	p = arena->chunks->data + arena->used;
	arena->used += size;
	arena->total += size;
	return p;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		total = (size_t)-1;
	return memset(arena_alloc(arena, total), 0, total);
}

char *arena_strndup(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, n + 1);

	memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return arena_strndup(arena, s, strlen(s));
}

void arena_release(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	memset(arena, 0, sizeof(*arena));
}
