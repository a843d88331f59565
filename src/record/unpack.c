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

static int add_block(unpack_take *take, void *context, uint8_t kind,
		     uint64_t when, const struct buffer *payload)
{
	unsigned char header[BLOCK_HEADER_SIZE];
	struct block_header h = {
		.kind = kind,
		.stored = (uint32_t)payload->size,
		.raw = (uint32_t)payload->size,
		.hash = hash32(payload->data, payload->size),
		.first = when,
		.last = when,
	};
	int status;

	block_header_put(header, &h);
	status = take(context, header, sizeof(header));
	return status ? status : take(context, payload->data, payload->size);
}

/* Names that the recording itself does not have. They build on all definitions
 * before them: where one is damaged they would be too. */
static int add_late(struct reader *r, const struct places *all,
		    unpack_take *take, void *context)
{
	struct buffer tables = BUFFER_INIT;
	uint64_t when = all->count ? all->items[all->count - 1].last : 0;
	int status = 0;

	reader_late_tables(r, &tables);
	if (tables.size && tables.size <= LIMIT_RAW)
		status = add_block(take, context, BLOCK_DEFINITIONS, when,
				   &tables);
	buffer_release(&tables);
	return status;
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

static int unpack_blocks(struct reader *r, const struct places *all,
			 unpack_take *take, void *context)
{
	struct input *in = reader_input(r);
	int status;

	for (size_t i = 0; i < all->count; i++) {
		const struct block_place *place = &all->items[i];

		if (place->kind == BLOCK_INDEX || place->kind == BLOCK_END)
			continue;
		status = unpack_block(in, place, take, context);
		if (status)
			return status;
	}
	status = add_late(r, all, take, context);
	return all->ended && !status ? add_end(take, context) : status;
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
		status = unpack_blocks(r, &all, take, context);
	places_release(&all);
	return status;
}
