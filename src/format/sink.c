#include "format/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"

#define DRAIN_AT    (1 << 16) /* bytes in the buffer that are worth a write */
#define GZIP_WINDOW 31	      /* zlib's largest window, in gzip's wrapping */
#define GZIP_CHUNK  (1 << 15)

struct sink_gzip {
	z_stream stream;
	unsigned char chunk[GZIP_CHUNK];
};

void sink_compress(struct sink *s)
{
	s->gzip = xcalloc(1, sizeof(*s->gzip));
	if (deflateInit2(&s->gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		s->status = -ERR_IO;
		s->error = ENOMEM;
	}
}

static void write_all(struct sink *s, const unsigned char *data, size_t size)
{
	while (size && !s->status) {
		ssize_t n = write(s->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			s->status = -ERR_IO;
			s->error = errno;
			return;
		}
		data += n;
		size -= (size_t)n;
		s->written += (uint64_t)n;
	}
}

static void deflate_all(struct sink *s, int flush)
{
	z_stream *z = &s->gzip->stream;

	z->next_in = s->out.data;
	z->avail_in = (uInt)s->out.size;
	do {
		z->next_out = s->gzip->chunk;
		z->avail_out = GZIP_CHUNK;
		deflate(z, flush);
		write_all(s, s->gzip->chunk, GZIP_CHUNK - z->avail_out);
	} while (!z->avail_out && !s->status);
}

static int push(struct sink *s, int flush)
{
	if (!s->status && s->gzip)
		deflate_all(s, flush);
	else
		write_all(s, s->out.data, s->out.size);
	buffer_reset(&s->out);
	return s->status;
}

int sink_drain(struct sink *s)
{
	return s->out.size < DRAIN_AT ? s->status : push(s, Z_NO_FLUSH);
}

int sink_finish(struct sink *s)
{
	return push(s, Z_FINISH);
}

void sink_release(struct sink *s)
{
	if (s->gzip)
		deflateEnd(&s->gzip->stream);
	free(s->gzip);
	buffer_release(&s->out);
	s->gzip = NULL;
}
