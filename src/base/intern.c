#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_SLOTS 256

static uint32_t hash_bytes(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ (h >> 32));
}

static void rehash(struct intern *t)
{
	uint32_t n = t->mask ? (t->mask + 1) * 2 : FIRST_SLOTS;

	free(t->slots);
	t->slots = xcalloc(n, sizeof(*t->slots));
	t->mask = n - 1;
	for (uint32_t id = 0; id < t->count; id++) {
		uint32_t i = t->strings[id].hash & t->mask;

		while (t->slots[i])
			i = (i + 1) & t->mask;
		t->slots[i] = id + 1;
	}
}

uint32_t intern_bytes(struct intern *t, const char *s, size_t n)
{
	uint32_t hash = hash_bytes(s, n), i;
	struct interned *new;

	if (!t->mask || (t->count + 1) * 2 > t->mask)
		rehash(t);
	for (i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		const struct interned *x = &t->strings[t->slots[i] - 1];

		if (x->hash == hash && x->size == n && !memcmp(x->text, s, n))
			return t->slots[i] - 1;
	}
	ALLOC_GROW(t->strings, t->count + 1, t->capacity);
	new = &t->strings[t->count];
	new->text = arena_strndup(&t->arena, s, n);
	new->size = (uint32_t)n;
	new->hash = hash;
	t->slots[i] = ++t->count;
	return t->count - 1;
}

uint32_t intern_string(struct intern *t, const char *s)
{
	return intern_bytes(t, s, strlen(s));
}

const char *intern_text(const struct intern *t, uint32_t id)
{
	return id < t->count ? t->strings[id].text : "";
}

void intern_release(struct intern *t)
{
	arena_release(&t->arena);
	free(t->strings);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}
