/* Parts of a payload that differ in kind (times, stacks, lengths) end a zstd
 * block each, within the one frame: entropy tables then fit what they code. A
 * reader does not notice. Parts too small for a table of their own go along
 * with the next. */
#include "record/output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "record/block.h"
#include "record/hash.h"

/* zstd's levels; the figures are in docs/format.md. Columns leave little for a
 * higher one to find, but small blocks are rare enough to let it try. */
#define LEVEL	    1
#define LEVEL_SMALL 6
#define SMALL_BLOCK 65536
#define OWN_PART    192 /* bytes from which a part ends its own zstd block */

int output_init(struct output *o, int fd, struct error *err)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->zstd = ZSTD_createCCtx();
	if (!o->zstd)
		return fail(err, ERR_LIMIT, "no memory left to compress with");
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_contentSizeFlag, 0);
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 0);
	return 0;
}

void output_release(struct output *o)
{
	ZSTD_freeCCtx(o->zstd);
	buffer_release(&o->block);
	buffer_release(&o->index);
}

static void wait_for_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	poll(&p, 1, 1000);
}

static void keep_failure(struct output *o, int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		fail(&o->failure, ERR_IO,
		     "the disk is full (or a quota or size limit is reached): "
		     "the recording stops after %llu bytes",
		     (unsigned long long)o->bytes);
		break;
	case EPIPE:
		fail(&o->failure, ERR_IO,
		     "the reader of the recording closed its pipe after %llu "
		     "bytes",
		     (unsigned long long)o->bytes);
		break;
	default:
		fail(&o->failure, ERR_IO,
		     "cannot write the recording after %llu bytes: %s",
		     (unsigned long long)o->bytes, strerror(error));
	}
}

void output_bytes(struct output *o, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n && !o->failure.code) {
		ssize_t done = write(o->fd, p, n);

		if (done >= 0) {
			o->bytes += (uint64_t)done;
			p += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN) {
			wait_for_room(o->fd);
		} else if (errno != EINTR) {
			keep_failure(o, errno);
		}
	}
}

/* Compress into o->block after the room for the header; 0 when it fails. */
static size_t compress(struct output *o, const struct part *parts,
		       size_t n_parts, size_t raw)
{
	size_t room = ZSTD_compressBound(raw) + 16 * n_parts + 64;
	ZSTD_outBuffer out = { buffer_reserve(&o->block,
					      BLOCK_HEADER_SIZE + room) +
				       BLOCK_HEADER_SIZE,
			       room, 0 };
	size_t left = 0, since = 0;

	ZSTD_CCtx_reset(o->zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel,
			       raw < SMALL_BLOCK ? LEVEL_SMALL : LEVEL);
	ZSTD_CCtx_setPledgedSrcSize(o->zstd, raw);
	for (size_t i = 0; i < n_parts; i++) {
		ZSTD_inBuffer in = { parts[i].data, parts[i].size, 0 };
		ZSTD_EndDirective how = ZSTD_e_continue;

		since += in.size;
		if (i + 1 == n_parts)
			how = ZSTD_e_end;
		else if (since >= OWN_PART)
			how = ZSTD_e_flush, since = 0;
		left = ZSTD_compressStream2(o->zstd, &out, &in, how);
		if (ZSTD_isError(left) || in.pos < in.size)
			return 0;
	}
	return left ? 0 : out.pos;
}

static size_t copy(struct output *o, const struct part *parts, size_t n_parts,
		   size_t raw)
{
	unsigned char *p = buffer_reserve(&o->block, BLOCK_HEADER_SIZE + raw);

	p += BLOCK_HEADER_SIZE;
	for (size_t i = 0; i < n_parts; i++) {
		if (parts[i].size)
			memcpy(p, parts[i].data, parts[i].size);
		p += parts[i].size;
	}
	return raw;
}

static void index_add(struct output *o, const struct block_header *h)
{
	buffer_add_varint(&o->index, h->kind);
	buffer_add_varint(&o->index, h->stored);
	buffer_add_varint(&o->index, h->raw);
	buffer_add_svarint(&o->index, (int64_t)(h->first - o->index_time));
	buffer_add_varint(&o->index, h->last - h->first);
	o->index_time = h->first;
	o->index_rows++;
}

void output_block(struct output *o, enum block_kind kind, uint64_t first,
		  uint64_t last, const struct part *parts, size_t n_parts)
{
	struct block_header h = { .kind = (uint8_t)kind,
				  .first = first,
				  .last = last };
	size_t raw = 0, stored = 0;

	if (o->failure.code)
		return;
	for (size_t i = 0; i < n_parts; i++)
		raw += parts[i].size;
	buffer_reset(&o->block);
	if (kind != BLOCK_END)
		stored = compress(o, parts, n_parts, raw);
	if (stored && stored < raw)
		h.flags = BLOCK_ZSTD;
	else
		stored = copy(o, parts, n_parts, raw);
	h.stored = (uint32_t)stored;
	h.raw = (uint32_t)raw;
	h.hash = hash32(o->block.data + BLOCK_HEADER_SIZE, stored);
	block_header_put(o->block.data, &h);
	output_bytes(o, o->block.data, BLOCK_HEADER_SIZE + stored);
	index_add(o, &h);
}

void output_end(struct output *o)
{
	struct buffer end = BUFFER_INIT, rows = BUFFER_INIT;
	uint64_t at = o->bytes;

	buffer_add_varint(&rows, o->index_rows);
	if (rows.size + o->index.size <= LIMIT_RAW) {
		struct part parts[] = { { rows.data, rows.size },
					{ o->index.data, o->index.size } };

		output_block(o, BLOCK_INDEX, 0, o->index_time, parts, 2);
	} else {
		at = 0; /* none: readers hop from block to block instead */
	}
	buffer_add_u64(&end, at);
	output_block(o, BLOCK_END, 0, 0, &(struct part){ end.data, end.size },
		     1);
	buffer_release(&rows);
	buffer_release(&end);
}
