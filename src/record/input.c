#include "record/input.h"

#include <string.h>

#include "record/format.h"
#include "record/hash.h"

#define WINDOW 65536 /* bytes read at once on the way from block to block */

void input_release(struct input *in)
{
	if (in->source.close)
		in->source.close(in->source.context);
	buffer_release(&in->window);
	buffer_release(&in->raw);
	ZSTD_freeDCtx(in->zstd);
}

static bool in_window(const struct input *in, uint64_t offset, size_t n)
{
	return offset >= in->window_offset &&
	       offset - in->window_offset <= in->window.size &&
	       n <= in->window.size - (offset - in->window_offset);
}

static bool fill_window(struct input *in, uint64_t offset, size_t n)
{
	buffer_reset(&in->window);
	if (!in->source.read(in->source.context, offset,
			     buffer_reserve(&in->window, n), n))
		return false;
	in->window.size = n;
	in->window_offset = offset;
	return true;
}

/* n bytes at `offset`, and up to `ahead` in all when they must be read. */
static const unsigned char *bytes_at(struct input *in, uint64_t offset,
				     size_t n, size_t ahead)
{
	uint64_t left = in->source.size - offset;

	if (offset > in->source.size || n > left)
		return NULL;
	if (in->source.data)
		return in->source.data + offset;
	if (ahead > left)
		ahead = (size_t)left;
	if (!in_window(in, offset, n) &&
	    !fill_window(in, offset, n < ahead ? ahead : n))
		return NULL;
	return in->window.data + (offset - in->window_offset);
}

const unsigned char *input_bytes(struct input *in, uint64_t offset, size_t n)
{
	return bytes_at(in, offset, n, WINDOW);
}

static bool header_at(struct input *in, uint64_t offset, struct block_header *h)
{
	const unsigned char *p = input_bytes(in, offset, BLOCK_HEADER_SIZE);

	return p && block_header_get(h, p);
}

bool input_header(struct input *in, uint64_t offset, struct block_place *place)
{
	struct block_header h;

	if (!header_at(in, offset, &h))
		return false;
	*place = (struct block_place){ .offset = offset,
				       .first = h.first,
				       .last = h.last,
				       .stored = h.stored,
				       .raw = h.raw,
				       .kind = h.kind };
	return true;
}

uint64_t input_resync(struct input *in, uint64_t offset)
{
	struct block_header h;

	for (; offset < in->source.size; offset++)
		if (header_at(in, offset, &h))
			return offset;
	return in->source.size;
}

static const unsigned char *unpack(struct input *in, const unsigned char *p,
				   const struct block_header *h)
{
	unsigned char *raw = buffer_reserve(&in->raw, h->raw);
	size_t n;

	if (!in->zstd)
		in->zstd = ZSTD_createDCtx();
	if (!in->zstd)
		return NULL;
	n = ZSTD_decompressDCtx(in->zstd, raw, h->raw, p, h->stored);
	return ZSTD_isError(n) || n != h->raw ? NULL : raw;
}

const unsigned char *input_payload(struct input *in,
				   const struct block_place *place)
{
	struct block_header h;
	const unsigned char *p;

	/* The whole block and nothing else: with an index, small blocks are
	 * picked from all over a large file. */
	if (!bytes_at(in, place->offset, BLOCK_HEADER_SIZE + place->stored,
		      0) ||
	    !header_at(in, place->offset, &h) || h.kind != place->kind ||
	    h.stored != place->stored || h.raw != place->raw ||
	    h.first != place->first || h.last != place->last)
		return NULL;
	p = input_bytes(in, place->offset + BLOCK_HEADER_SIZE, h.stored);
	if (!p || hash32(p, h.stored) != h.hash || h.flags & ~BLOCK_FLAGS)
		return NULL;
	if (h.flags & BLOCK_ZSTD)
		return unpack(in, p, &h);
	return h.stored == h.raw ? p : NULL;
}
