#include "record/unpack.h"

#include "record/format.h"
#include "record/hash.h"
#include "record/places.h"
#include "record/reader_private.h"

static int copy_block(struct input *in, const struct block_place *place,
		      unpack_take *take, void *context)
{
	size_t n = BLOCK_HEADER_SIZE + (size_t)place->stored;
	const unsigned char *bytes = input_bytes(in, place->offset, n);

	return bytes ? take(context, bytes, n) : 0;
}

static int unpack_block(struct input *in, const struct block_place *place,
			unpack_take *take, void *context)
{
	const unsigned char *payload = input_payload(in, place);
	unsigned char header[BLOCK_HEADER_SIZE];
	struct block_header h = {
		.kind = place->kind,
		.stored = place->raw,
		.raw = place->raw,
		.first = place->first,
		.last = place->last,
	};
	int status;

	if (!payload)
		return copy_block(in, place, take, context);
	h.hash = hash32(payload, place->raw);
	block_header_put(header, &h);
	status = take(context, header, sizeof(header));
	return status ? status : take(context, payload, place->raw);
}

/* The end of a recording that was finished, with offset 0 for "no index". */
static int add_end(unpack_take *take, void *context)
{
	unsigned char bytes[BLOCK_HEADER_SIZE + END_SIZE] = { 0 };
	struct block_header h = { .kind = BLOCK_END,
				  .stored = END_SIZE,
				  .raw = END_SIZE };

	h.hash = hash32(bytes + BLOCK_HEADER_SIZE, END_SIZE);
	block_header_put(bytes, &h);
	return take(context, bytes, sizeof(bytes));
}

static int unpack_blocks(struct input *in, const struct places *all,
			 unpack_take *take, void *context)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct block_place *place = &all->items[i];
		int status;

		if (place->kind == BLOCK_INDEX || place->kind == BLOCK_END)
			continue;
		status = unpack_block(in, place, take, context);
		if (status)
			return status;
	}
	return all->ended ? add_end(take, context) : 0;
}

int reader_unpack(struct reader *r, unpack_take *take, void *context)
{
	struct input *in = reader_input(r);
	struct places all = PLACES_INIT;
	unsigned char header[FILE_HEADER_SIZE];
	int status;

	file_header_put(header);
	status = take(context, header, sizeof(header));
	places_by_hopping(&all, in);
	if (!status)
		status = unpack_blocks(in, &all, take, context);
	places_release(&all);
	return status;
}
