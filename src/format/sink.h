/* Where an export goes: a buffer that encoders fill and that is written out,
 * plain or gzip'd, whenever it is large. Nothing of the output is held longer.
 *
 *   struct json j = JSON_OVER(&sink->out);
 *   ... json_int(&j, NULL, v); sink_drain(sink); ...
 *
 * A failed write is kept: what follows is dropped, and sink_drain() and
 * sink_finish() go on returning it. */
#ifndef PYROMETER_FORMAT_SINK_H
#define PYROMETER_FORMAT_SINK_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct sink_gzip;

struct sink {
	struct buffer out; /* what encoders add to */
	int fd;		   /* stays the caller's to close */
	uint64_t written;  /* bytes that reached the file */
	int status;	   /* 0, or the first failure */
	int error;	   /* its errno */
	struct sink_gzip *gzip;
};

#define SINK_OVER(descriptor)      \
	{                          \
		.fd = (descriptor) \
	}

/* Compress everything from here on; before the first byte. */
void sink_compress(struct sink *s);

/* Write out what was added, if it is much. Returns 0 or the failure. */
int sink_drain(struct sink *s);

/* Write out the rest. Returns 0 or the failure, without text: only the caller
 * knows the name of the file (s->error is the errno). */
int sink_finish(struct sink *s);

/* Free what the sink holds; NULL fields are fine. Writes nothing. */
void sink_release(struct sink *s);

#endif
