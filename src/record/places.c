#include "record/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/format.h"

void places_add(struct places *p, const struct block_place *place)
{
	ALLOC_GROW(p->items, p->count + 1, p->capacity);
	p->items[p->count++] = *place;
}

void places_release(struct places *p)
{
	free(p->items);
	memset(p, 0, sizeof(*p));
}

/* Find the END block at the end of the file, and by it the index. */
static bool find_index(struct input *in, struct block_place *index)
{
	uint64_t size = in->source.size;
	const uint64_t tail = BLOCK_HEADER_SIZE + END_SIZE;
	struct block_place end;
	const unsigned char *payload;
	struct cursor c;

	if (size < FILE_HEADER_SIZE + tail ||
	    !input_header(in, size - tail, &end) || end.kind != BLOCK_END ||
	    end.raw != END_SIZE)
		return false;
	payload = input_payload(in, &end);
	if (!payload)
		return false;
	c = cursor_over(payload, END_SIZE);
	return input_header(in, cursor_u64(&c), index) &&
	       index->kind == BLOCK_INDEX &&
	       block_end(index, BLOCK_HEADER_SIZE) == end.offset;
}

/* A row of the index; blocks lie one behind the other, so `place` comes in as
 * the block before. */
static bool next_place(struct cursor *c, struct block_place *place)
{
	uint64_t kind = cursor_varint(c), stored = cursor_varint(c),
		 raw = cursor_varint(c);

	place->offset = block_end(place, BLOCK_HEADER_SIZE);
	place->kind = (uint8_t)kind;
	place->stored = (uint32_t)stored;
	place->raw = (uint32_t)raw;
	place->first += (uint64_t)cursor_svarint(c);
	place->last = place->first + cursor_varint(c);
	return !c->failed && kind <= UINT8_MAX && stored <= LIMIT_RAW &&
	       raw <= LIMIT_RAW && place->first <= place->last;
}

bool places_from_index(struct places *p, struct input *in)
{
	struct block_place index,
		place = { .offset = FILE_HEADER_SIZE - BLOCK_HEADER_SIZE };
	const unsigned char *payload;
	struct cursor c;

	if (!find_index(in, &index))
		return false;
	payload = input_payload(in, &index);
	if (!payload)
		return false;
	c = cursor_over(payload, index.raw);
	for (uint64_t rows = cursor_varint(&c); rows; rows--) {
		if (!next_place(&c, &place))
			return false;
		places_add(p, &place);
	}
	p->ended = true;
	return block_end(&place, BLOCK_HEADER_SIZE) == index.offset;
}

void places_by_hopping(struct places *p, struct input *in)
{
	uint64_t at = FILE_HEADER_SIZE, size = in->source.size;
	struct block_place place;

	while (at < size) {
		if (!input_header(in, at, &place)) {
			uint64_t next = input_resync(in, at);

			if (next == size && size - at < BLOCK_HEADER_SIZE)
				p->cut = p->cut ? p->cut : at;
			else
				p->damaged = p->damaged ? p->damaged : at;
			at = next;
			continue;
		}
		at = block_end(&place, BLOCK_HEADER_SIZE);
		if (at > size) {
			p->cut = place.offset;
			return;
		}
		p->ended |= place.kind == BLOCK_END;
		places_add(p, &place);
	}
}
