/* The fixed header in front of every block, and that of the file. */
#ifndef PYROMETER_RECORD_BLOCK_H
#define PYROMETER_RECORD_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct block_header {
	uint8_t kind;	      /* enum block_kind, or one of a later version */
	uint8_t flags;	      /* enum block_flag */
	uint32_t stored;      /* bytes of the payload in the file */
	uint32_t raw;	      /* bytes of the payload unpacked */
	uint32_t hash;	      /* of the payload as stored */
	uint64_t first, last; /* ns since the start that the block is about */
};

/* Into the BLOCK_HEADER_SIZE bytes at `out`. */
void block_header_put(unsigned char *out, const struct block_header *h);
/* From as many bytes. False when they are not a header: wrong mark, wrong
 * hash, absurd sizes. */
bool block_header_get(struct block_header *h, const unsigned char *in);

/* Into the FILE_HEADER_SIZE bytes at `out`. */
void file_header_put(unsigned char *out);
/* Check that a file that begins with these bytes is a recording that this
 * version can read. The sentence of a failure begins with `name`. */
int file_header_check(const unsigned char *in, size_t size, const char *name,
		      struct error *err);

#endif
