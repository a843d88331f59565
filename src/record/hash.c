#include "record/hash.h"

#define PRIME1 0x9e3779b1u
#define PRIME2 0x85ebca77u
#define PRIME3 0xc2b2ae3du
#define PRIME4 0x27d4eb2fu
#define PRIME5 0x165667b1u

static inline uint32_t rotate(uint32_t v, int bits)
{
	return v << bits | v >> (32 - bits);
}

static inline uint32_t word(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint32_t lane(uint32_t sum, const unsigned char *p)
{
	return rotate(sum + word(p) * PRIME2, 13) * PRIME1;
}

/* Four independent lanes of four bytes each; *p is left at what remains. */
static uint32_t stripes(const unsigned char **p, const unsigned char *end)
{
	uint32_t a = PRIME1 + PRIME2, b = PRIME2, c = 0, d = 0 - PRIME1;
	const unsigned char *at = *p;

	for (; end - at >= 16; at += 16) {
		a = lane(a, at);
		b = lane(b, at + 4);
		c = lane(c, at + 8);
		d = lane(d, at + 12);
	}
	*p = at;
	return rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
}

uint32_t hash32(const void *data, size_t size)
{
	const unsigned char *p = data, *end = p + size;
	uint32_t h = size >= 16 ? stripes(&p, end) : PRIME5;

	h += (uint32_t)size;
	for (; end - p >= 4; p += 4)
		h = rotate(h + word(p) * PRIME3, 17) * PRIME4;
	for (; p < end; p++)
		h = rotate(h + *p * PRIME5, 11) * PRIME1;
	h = (h ^ h >> 15) * PRIME2;
	h = (h ^ h >> 13) * PRIME3;
	return h ^ h >> 16;
}
