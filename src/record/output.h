/* Where blocks go: compressed, with their header, to a file or a pipe. Only
 * ever appends and never seeks. The first failure is kept; from then on
 * nothing more is written, so what is on the disk stays a good beginning. */
#ifndef PYROMETER_RECORD_OUTPUT_H
#define PYROMETER_RECORD_OUTPUT_H

#include <stdint.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "record/format.h"

struct output {
	int fd;
	uint64_t bytes;	      /* written so far */
	struct error failure; /* code 0: none */
	ZSTD_CCtx *zstd;
	struct buffer block; /* the one being written, with its header */
	struct buffer index; /* a row for each block so far */
	uint64_t index_rows;
	uint64_t index_time; /* `first` of the row before */
};

int output_init(struct output *o, int fd, struct error *err);
void output_release(struct output *o);

/* Bytes of one kind: the next part of a payload, to be compressed by itself. */
struct part {
	const void *data;
	size_t size;
};

/* Append bytes that are no block: the header of the file. */
void output_bytes(struct output *o, const void *data, size_t size);
/* Append a block about the time from `first` to `last`. */
void output_block(struct output *o, enum block_kind kind, uint64_t first,
		  uint64_t last, const struct part *parts, size_t n_parts);
/* Append the index of all blocks, and the end. */
void output_end(struct output *o);

#endif
