#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define VARINT_MAX 10 /* bytes of the longest 64-bit varint */

void buffer_release(struct buffer *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

unsigned char *buffer_reserve(struct buffer *b, size_t n)
{
	if (n > (size_t)-1 / 4 - b->size)
		n = (size_t)-1 / 4; /* xrealloc gives up */
	if (b->size + n + 1 > b->capacity) {
		b->capacity = (b->size + n + 1) * 3 / 2 + 64;
		b->data = xrealloc(b->data, b->capacity);
	}
	return b->data + b->size;
}

void buffer_add(struct buffer *b, const void *data, size_t n)
{
	if (n) {
		memcpy(buffer_reserve(b, n), data, n);
		b->size += n;
	}
}

void buffer_add_byte(struct buffer *b, unsigned char byte)
{
	*buffer_reserve(b, 1) = byte;
	b->size++;
}

void buffer_add_string(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s));
}

static void add_little(struct buffer *b, uint64_t v, int bytes)
{
	unsigned char *p = buffer_reserve(b, (size_t)bytes);

	for (int i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> (8 * i));
	b->size += (size_t)bytes;
}

void buffer_add_u32(struct buffer *b, uint32_t v)
{
	add_little(b, v, 4);
}

void buffer_add_u64(struct buffer *b, uint64_t v)
{
	add_little(b, v, 8);
}

void buffer_add_varint(struct buffer *b, uint64_t v)
{
	unsigned char *p = buffer_reserve(b, VARINT_MAX);
	size_t n = 0;

	while (v >= 0x80) {
		p[n++] = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	p[n++] = (unsigned char)v;
	b->size += n;
}

void buffer_add_svarint(struct buffer *b, int64_t v)
{
	buffer_add_varint(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

void buffer_add_blob(struct buffer *b, const void *data, size_t n)
{
	buffer_add_varint(b, n);
	buffer_add(b, data, n);
}

void buffer_vprintf(struct buffer *b, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	if (n > 0) {
		vsnprintf((char *)buffer_reserve(b, (size_t)n + 1),
			  (size_t)n + 1, format, again);
		b->size += (size_t)n;
	}
	va_end(again);
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buffer_vprintf(b, format, args);
	va_end(args);
}

const char *buffer_text(struct buffer *b)
{
	*buffer_reserve(b, 0) = 0;
	return (const char *)b->data;
}

const void *cursor_bytes(struct cursor *c, size_t n)
{
	const unsigned char *p = c->at;

	if (c->failed || n > cursor_left(c)) {
		c->failed = true;
		c->at = c->end;
		return NULL;
	}
	c->at += n;
	return p;
}

uint8_t cursor_byte(struct cursor *c)
{
	const unsigned char *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static uint64_t get_little(struct cursor *c, int bytes)
{
	const unsigned char *p = cursor_bytes(c, (size_t)bytes);
	uint64_t v = 0;

	for (int i = 0; p && i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)get_little(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
	return get_little(c, 8);
}

uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (int i = 0; i < VARINT_MAX && c->at < c->end; i++) {
		unsigned char byte = *c->at++;

		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return v;
	}
	c->failed = true;
	c->at = c->end;
	return 0;
}

int64_t cursor_svarint(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

const void *cursor_blob(struct cursor *c, size_t *n)
{
	uint64_t size = cursor_varint(c);

	*n = 0;
	if (c->failed || size > cursor_left(c)) {
		c->failed = true;
		c->at = c->end;
		return NULL;
	}
	*n = (size_t)size;
	return cursor_bytes(c, (size_t)size);
}
