/* Strings of a target.
 *
 * Since 3.3 a str holds 1, 2 or 4 bytes per character, in place behind a header
 * (compact) or, for instances of subclasses, behind a pointer. 2.7 has byte
 * strings and unicode objects of 2 or 4 bytes per character, which of them
 * being a matter of how it was built: every four bytes of UCS-4 are a number up
 * to 0x10ffff, and pairs of UCS-2 characters hardly ever are, so the text
 * itself tells. */
#include "python/code.h"

#include "base/unicode.h"
#include "python/object.h"

#define TEXT_LENGTH_MAX (UINT64_C(1) << 40)
#define POINT_MAX	0x10ffffu
#define CHUNK		256 /* code points decoded at a time */

/* Where the characters are. */
struct span {
	uint64_t data, length;
	unsigned width; /* bytes per character: 1, 2 or 4 */
};

static int locate_unicode(const struct target *t, uint64_t object,
			  struct span *span)
{
	const struct layout *l = t->layout;
	uint32_t state;
	int rc;

	rc = object_word(t, object, l->unicode.length, &span->length);
	if (!rc)
		rc = memory_read_u32(t->memory, object + l->unicode.state,
				     &state);
	if (rc)
		return rc;
	state >>= l->unicode.kind_bit;
	span->width = state & 7;
	if (span->width != 1 && span->width != 2 && span->width != 4)
		return -ERR_CORRUPT; /* also one of before 3.12 not yet ready */
	if (!(state & 8))
		return object_word(t, object, l->unicode.data, &span->data);
	span->data = object + (state & 16 ? l->unicode.ascii_data
					  : l->unicode.compact_data);
	return 0;
}

/* Whether these characters of a 2.7 unicode object can be UCS-4. */
static bool looks_wide(const struct target *t, const struct span *span)
{
	uint32_t units[16];
	size_t n = span->length < 16 ? (size_t)span->length : 16;

	if (memory_read(t->memory, span->data, units, n * sizeof(units[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		if (units[i] > POINT_MAX)
			return false;
	return true;
}

static int locate_unicode27(const struct target *t, uint64_t object,
			    struct span *span)
{
	const struct layout *l = t->layout;
	int rc = object_word(t, object, l->unicode.length, &span->length);

	if (!rc)
		rc = object_word(t, object, l->unicode.data, &span->data);
	if (rc)
		return rc;
	span->width = looks_wide(t, span) ? 4 : 2;
	return 0;
}

static int locate(const struct target *t, uint64_t object, struct span *span)
{
	struct type type;
	int rc;

	if (t->layout->text == TEXT_UNICODE)
		rc = locate_unicode(t, object, span);
	else if (!(rc = object_type(t, object, &type))) {
		span->width = 1;
		if (type.flags & TYPE_UNICODE)
			rc = locate_unicode27(t, object, span);
		else if (type.flags & TYPE_BYTES)
			rc = bytes_locate(t, object, &span->data,
					  &span->length);
		else
			rc = -ERR_CORRUPT;
	}
	if (!rc && span->length > TEXT_LENGTH_MAX)
		rc = -ERR_CORRUPT;
	return rc;
}

/* Read characters [from, from + n) of the span, n <= CHUNK. */
static int read_points(const struct target *t, const struct span *span,
		       uint64_t from, uint32_t *points, size_t n)
{
	unsigned char raw[CHUNK * 4];
	int rc = memory_read(t->memory, span->data + from * span->width, raw,
			     n * span->width);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const unsigned char *p = raw + i * span->width;

		points[i] = p[0];
		if (span->width > 1)
			points[i] |= (uint32_t)p[1] << 8;
		if (span->width > 2)
			points[i] |= (uint32_t)p[2] << 16 | (uint32_t)p[3]
								    << 24;
	}
	return 0;
}

/* The first characters of the span, `max` at most; how many, or a code. */
static int read_span(const struct target *t, const struct span *span,
		     uint32_t *points, size_t max)
{
	size_t n = span->length < max ? (size_t)span->length : max, step;

	for (size_t at = 0; at < n; at += step) {
		int rc;

		step = n - at < CHUNK ? n - at : CHUNK;
		rc = read_points(t, span, at, points + at, step);
		if (rc)
			return rc;
	}
	return (int)n;
}

int text_points(const struct target *t, uint64_t object, uint32_t *points,
		size_t max, uint64_t *length)
{
	struct span span;
	int rc = locate(t, object, &span);

	if (rc)
		return rc;
	*length = span.length;
	return read_span(t, &span, points, max);
}

size_t text_encode(uint32_t point, char out[4])
{
	if (point > POINT_MAX || (point >= 0xd800 && point <= 0xdfff))
		point = UNICODE_BAD;
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xc0 | point >> 6);
		out[1] = (char)(0x80 | (point & 63));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 63));
		out[2] = (char)(0x80 | (point & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | point >> 18);
	out[1] = (char)(0x80 | (point >> 12 & 63));
	out[2] = (char)(0x80 | (point >> 6 & 63));
	out[3] = (char)(0x80 | (point & 63));
	return 4;
}

/* A 2.7 str is bytes that are usually UTF-8: decode them in place. */
static int join_utf8(uint32_t *points, int n)
{
	char bytes[CODE_NAME_MAX];
	int to = 0;

	for (int i = 0; i < n; i++)
		bytes[i] = (char)points[i];
	for (int i = 0; i < n; to++)
		i += (int)unicode_decode(bytes + i, (size_t)(n - i),
					 &points[to]);
	return to;
}

static void add_utf8(struct buffer *out, const uint32_t *points, int n,
		     size_t max)
{
	size_t used = 0;
	char bytes[4];

	for (int i = 0; i < n; i++) {
		size_t size = text_encode(points[i], bytes);

		if (used + size > max)
			break;
		buffer_add(out, bytes, size);
		used += size;
	}
}

int text_read(struct buffer *out, struct memory *memory,
	      const struct layout *layout, uint64_t address, size_t max)
{
	struct target t = { memory, layout };
	uint32_t points[CODE_NAME_MAX];
	struct span span;
	int n = locate(&t, address, &span);

	if (n)
		return n;
	if (max > CODE_NAME_MAX)
		max = CODE_NAME_MAX;
	n = read_span(&t, &span, points, max);
	if (n < 0)
		return n;
	if (layout->text == TEXT_BYTES && span.width == 1)
		n = join_utf8(points, n);
	add_utf8(out, points, n, max);
	return 0;
}
