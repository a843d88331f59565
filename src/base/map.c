#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_SLOTS 64

static void put(struct map *m, uint64_t a, uint64_t b, uint32_t value)
{
	size_t i = map_hash(a, b) & m->mask;
	struct map_slot *s;

	for (;; i = (i + 1) & m->mask) {
		s = &m->slots[i];
		if (s->value == MAP_NONE)
			break;
		if (s->a == a && s->b == b) {
			s->value = value;
			return;
		}
	}
	s->a = a;
	s->b = b;
	s->value = value;
	m->count++;
}

static void grow(struct map *m)
{
	struct map_slot *old = m->slots;
	size_t n = m->mask ? m->mask + 1 : 0;
	size_t bigger = n ? n * 2 : FIRST_SLOTS;

	m->slots = xreallocarray(NULL, bigger, sizeof(*m->slots));
	m->mask = bigger - 1;
	map_clear(m);
	for (size_t i = 0; i < n; i++)
		if (old[i].value != MAP_NONE)
			put(m, old[i].a, old[i].b, old[i].value);
	free(old);
}

void map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value)
{
	if (!m->mask || (m->count + 1) * 3 > (m->mask + 1) * 2)
		grow(m);
	put(m, a, b, value);
}

void map_clear(struct map *m)
{
	for (size_t i = 0; m->mask && i <= m->mask; i++)
		m->slots[i].value = MAP_NONE;
	m->count = 0;
}

void map_release(struct map *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
