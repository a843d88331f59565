/* Characters: UTF-8 that is not trusted, and the room a character takes. */
#ifndef PYROMETER_BASE_UNICODE_H
#define PYROMETER_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNICODE_BAD	 0xfffdu	/* stands for what cannot be shown */
#define UNICODE_BAD_UTF8 "\xef\xbf\xbd" /* the same, encoded */

/* Decode the first character of the n bytes at s (n at least 1). Returns its
 * length; for a byte that begins no valid character, 1 with *c UNICODE_BAD. */
size_t unicode_decode(const char *s, size_t n, uint32_t *c);

/* Columns on a terminal: 0 (combining), 1, or 2 (East Asian wide, emoji). */
int unicode_width(uint32_t c);

/* Whether the character would act on a terminal instead of being seen:
 * controls, line separators, and those that turn the writing direction. */
bool unicode_is_control(uint32_t c);

#endif
