/* Names that are looked up when a recording is read, because the recorder did
 * not live to write them. */
#ifndef PYROMETER_RECORD_LATE_H
#define PYROMETER_RECORD_LATE_H

#include "base/buffer.h"
#include "record/tables.h"

struct late_names;

/* For tables as the file has them. */
struct late_names *late_names_new(const struct tables *t);
void late_names_free(struct late_names *late); /* NULL-safe */

/* The functions at a site of the tables, innermost first, as writer_symbol()
 * takes them. Adds functions and symbols to the tables; the texts are kept in
 * `late`, which must live as long as they. */
void late_symbols(struct late_names *late, struct tables *t, uint32_t site,
		  const struct function_info *functions, const uint32_t *lines,
		  uint32_t n);

/* The same as tables for a DEFINITIONS block at the end of the recording, for
 * copies of it. */
void late_encode(const struct late_names *late, const struct tables *t,
		 struct buffer *out);

#endif
