/* A recording with every block unpacked, for readers that have no zstd: the
 * page of the viewer, which packs it as a whole by other means. */
#ifndef PYROMETER_RECORD_UNPACK_H
#define PYROMETER_RECORD_UNPACK_H

#include <stddef.h>

#include "record/reader.h"

/* Takes the next bytes; a non-zero return ends it and is returned. */
typedef int unpack_take(void *context, const void *data, size_t size);

/* Hand out a recording that says the same as the one that is read, without an
 * index; with the names that were set since it was opened. Damaged blocks stay
 * damaged. */
int reader_unpack(struct reader *r, unpack_take *take, void *context);

#endif
