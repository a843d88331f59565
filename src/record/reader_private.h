/* How open.c hands a file to reader.c, and unpack.c gets at its bytes. */
#ifndef PYROMETER_RECORD_READER_PRIVATE_H
#define PYROMETER_RECORD_READER_PRIVATE_H

#include "base/buffer.h"
#include "record/input.h"
#include "record/reader.h"

/* Open what `source` gives; the reader closes it, now when this fails. Errors
 * call it `name`. */
int reader_open_source(struct reader **out, const struct source *source,
		       const char *name, struct error *err);

/* The names that were set since it was opened, as tables; maybe nothing. */
void reader_late_tables(const struct reader *r, struct buffer *out);

/* Where the reader's blocks come from. */
struct input *reader_input(struct reader *r);

#endif
