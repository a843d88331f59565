/* Tables as columns: how definitions lie in a block.
 *
 * A table is a varint each for the id of its first row, its number of rows and
 * of columns, then every column as a blob (a varint length, then its bytes). A
 * reader that knows fewer columns ignores the others, one that knows more
 * finds 0 in those that are missing. How a column is coded is part of the
 * format:
 *
 *   u  varints
 *   d  zigzag varints: the difference to the row before (the first: to 0)
 *   b  bytes that belong to the rows in some other way */
#ifndef PYROMETER_RECORD_TABLE_H
#define PYROMETER_RECORD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define TABLE_COLUMNS 8 /* at most */

/* tag, name, codings. A row's fields are listed in docs/format.md. */
#define TABLE_LIST(X)             \
	X(1, STRINGS, "ub")       \
	X(2, PROCESSES, "dudddd") \
	X(3, THREADS, "ddddud")   \
	X(4, FUNCTIONS, "ddduu")  \
	X(5, FRAMES, "ddd")       \
	X(6, NODES, "uu")         \
	X(7, THREAD_NAMES, "dd")  \
	X(8, PROCESS_ENDS, "ddu") \
	X(9, THREAD_ENDS, "dd")   \
	X(10, MARKERS, "dudud")   \
	X(11, MODULES, "ddddu")   \
	X(12, SITES, "udu")       \
	X(13, SYMBOLS, "ddd")     \
	X(14, THREAD_TIMES, "ddd")

enum table_tag {
#define TABLE_TAG(tag, name, columns) TABLE_##name = tag,
	TABLE_LIST(TABLE_TAG)
#undef TABLE_TAG
		TABLE_TAGS, /* one more than the last */
};

/* The codings of a table, one letter per column; NULL for an unknown tag. */
const char *table_columns(uint64_t tag);

struct table_writer {
	uint64_t first; /* id of the first row */
	uint64_t rows;
	unsigned columns; /* as many are not all 0 */
	struct buffer column[TABLE_COLUMNS];
	uint64_t previous[TABLE_COLUMNS];
};

/* Add a row; `values` has one for each column ('b': ignored). */
void table_add(struct table_writer *t, enum table_tag tag,
	       const uint64_t *values);
/* Append tag and table to `out` unless it has no rows; begin the next one. The
 * last columns are left out when they are all 0. */
void table_flush(struct table_writer *t, enum table_tag tag,
		 struct buffer *out);
void table_release(struct table_writer *t);

struct table_reader {
	const char *codings;
	uint64_t first, rows, next;
	struct cursor column[TABLE_COLUMNS];
	uint64_t previous[TABLE_COLUMNS];
};

/* Begin to read a table coded as `codings`. False when it is broken. */
bool table_open(struct table_reader *t, const char *codings, const void *data,
		size_t size);
/* The next row. False at the end, and when it is broken (next < rows). */
bool table_next(struct table_reader *t, uint64_t values[TABLE_COLUMNS]);

#endif
