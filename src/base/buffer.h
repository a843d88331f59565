/* A growing string of bytes to write into, and a bounded cursor to read from.
 *
 * Integers are little-endian base 128 (varint); signed ones are zigzag coded.
 * A cursor never reads past its end: the first attempt sets `failed`, every
 * later read gives 0, so that a parser may check once per record. */
#ifndef PYROMETER_BASE_BUFFER_H
#define PYROMETER_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	unsigned char *data; /* NUL follows the bytes once anything was added */
	size_t size, capacity;
};

#define BUFFER_INIT \
	{           \
		0   \
	}

void buffer_release(struct buffer *b);
static inline void buffer_reset(struct buffer *b)
{
	b->size = 0;
}
/* Room for n more bytes; returns where they go. Size is unchanged. */
unsigned char *buffer_reserve(struct buffer *b, size_t n);
void buffer_add(struct buffer *b, const void *data, size_t n);
void buffer_add_byte(struct buffer *b, unsigned char byte);
void buffer_add_string(struct buffer *b, const char *s); /* without the NUL */
void buffer_add_u32(struct buffer *b, uint32_t v);	 /* little endian */
void buffer_add_u64(struct buffer *b, uint64_t v);
void buffer_add_varint(struct buffer *b, uint64_t v);
void buffer_add_svarint(struct buffer *b, int64_t v);
/* A varint length, then the bytes. */
void buffer_add_blob(struct buffer *b, const void *data, size_t n);
void buffer_printf(struct buffer *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *b, const char *format, va_list args);
/* The bytes as a C string; "" when empty. Owned by the buffer. */
const char *buffer_text(struct buffer *b);

struct cursor {
	const unsigned char *at, *end;
	bool failed;
};

static inline struct cursor cursor_over(const void *data, size_t size)
{
	struct cursor c = { data, (const unsigned char *)data + size, false };

	return c;
}
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}
uint8_t cursor_byte(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
int64_t cursor_svarint(struct cursor *c);
/* n bytes in place, or NULL (and failed) when fewer are left. */
const void *cursor_bytes(struct cursor *c, size_t n);
/* A blob in place; *n gets its length. NULL (and failed) when broken. */
const void *cursor_blob(struct cursor *c, size_t *n);

#endif
