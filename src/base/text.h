/* Text for people: UTF-8 in columns, numbers with units. */
#ifndef PYROMETER_BASE_TEXT_H
#define PYROMETER_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Columns that the text takes on a terminal (combining 0, East Asian wide 2).
 */
int text_width(const char *s);

/* Append s cut to `columns`, with an ellipsis (…) where it was cut; control
 * characters and bad UTF-8 become U+FFFD, so hostile names cannot move the
 * cursor. `keep_end` cuts at the front (for paths). */
void text_add_cut(struct buffer *out, const char *s, int columns,
		  bool keep_end);

/* Append s with control characters and bad UTF-8 made visible. */
void text_add_safe(struct buffer *out, const char *s);

/* Append "1.23 s", "45.6 ms", "7.8 us"; three significant digits. */
void text_add_seconds(struct buffer *out, double seconds);

/* Append "12.3 MB" and so on, powers of 1000. */
void text_add_bytes(struct buffer *out, uint64_t bytes);

/* Append 1234567 as "1,234,567". */
void text_add_count(struct buffer *out, uint64_t n);

/* What follows the last slash of a path. */
const char *path_base(const char *path);

/* Whether `text` matches the shell-like pattern (* and ?), anywhere in it when
 * the pattern has no wildcard. */
bool text_matches(const char *text, const char *pattern);

#endif
