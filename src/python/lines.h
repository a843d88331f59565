/* Line tables: from the bytes that a code object carries to one line per code
 * unit. For code.c. */
#ifndef PYROMETER_PYTHON_LINES_H
#define PYROMETER_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "python/layout.h"

/* Fill lines[0..n) (0: no line) from the table. The table is untrusted: what
 * reaches beyond n is dropped, what it does not cover keeps the line before
 * (old styles) or has none. */
void lines_expand(enum line_style style, const unsigned char *table,
		  size_t size, uint32_t first_line, uint32_t *lines, size_t n);

#endif
