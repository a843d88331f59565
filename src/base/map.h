/* A hash map from one or two 64-bit words to a 32-bit number (an index into
 * whatever array the caller keeps). Open addressing, linear probing; entries
 * are never removed one by one. */
#ifndef PYROMETER_BASE_MAP_H
#define PYROMETER_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX /* not in the map; never a value */

struct map_slot {
	uint64_t a, b;
	uint32_t value; /* MAP_NONE: free */
};

struct map {
	struct map_slot *slots;
	size_t mask; /* slots - 1, a power of two minus one; 0: no slots yet */
	size_t count;
};

#define MAP_INIT  \
	{         \
		0 \
	}

static inline uint64_t map_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;

	h ^= h >> 32;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ (h >> 29);
}

/* The value of (a, b), or MAP_NONE. */
static inline uint32_t map_get(const struct map *m, uint64_t a, uint64_t b)
{
	if (!m->mask)
		return MAP_NONE;
	for (size_t i = map_hash(a, b) & m->mask;; i = (i + 1) & m->mask) {
		const struct map_slot *s = &m->slots[i];

		if (s->value == MAP_NONE || (s->a == a && s->b == b))
			return s->value;
	}
}

/* Set or replace the value of (a, b). */
void map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value);
void map_clear(struct map *m); /* forget all, keep the memory */
void map_release(struct map *m);

#endif
