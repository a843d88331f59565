/* Where blocks come from: bytes in memory, or anything that can be read at an
 * offset. Makes no system call itself. */
#ifndef PYROMETER_RECORD_INPUT_H
#define PYROMETER_RECORD_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "record/block.h"

/* The bytes of a recording: either all at `data`, or by `read`. */
struct source {
	uint64_t size;
	const unsigned char *data;
	/* Copy the n bytes at `offset` (within size). Returns false when they
	 * cannot be had: the file shrank, the disk failed. */
	bool (*read)(void *context, uint64_t offset, void *out, size_t n);
	void (*close)(void *context); /* NULL: nothing to close */
	void *context;
};

/* Where a block is and what its header says. */
struct block_place {
	uint64_t offset; /* of its header */
	uint64_t first, last;
	uint32_t stored, raw;
	uint8_t kind;
};

struct input {
	struct source source;
	struct buffer window;	/* what was read last, when not in memory */
	uint64_t window_offset; /* of its first byte */
	ZSTD_DCtx *zstd;
	struct buffer raw; /* the payload unpacked last */
};

void input_release(struct input *in);

/* n bytes at `offset`; NULL when there are fewer. Valid until the next call of
 * any function here. */
const unsigned char *input_bytes(struct input *in, uint64_t offset, size_t n);

/* The place of the block whose header is at `offset`. False: no header. */
bool input_header(struct input *in, uint64_t offset, struct block_place *place);
/* The offset of the next thing like a block header at or after `offset`;
 * the size of the source when there is none. */
uint64_t input_resync(struct input *in, uint64_t offset);

/* The payload, checked and unpacked; its size is place->raw. NULL: it is
 * damaged, or not what `place` says. Valid as input_bytes is. */
const unsigned char *input_payload(struct input *in,
				   const struct block_place *place);

static inline uint64_t block_end(const struct block_place *place,
				 size_t header_size)
{
	return place->offset + header_size + place->stored;
}

#endif
