/* Text for a man page. */
#ifndef PYROMETER_BASE_ROFF_H
#define PYROMETER_BASE_ROFF_H

#include "base/buffer.h"

/* Append a line of text as roff reads it, without a newline. */
void roff_text(struct buffer *out, const char *text);

/* Append paragraphs that are separated by empty lines. Those whose lines begin
 * with a space are tables and keep their line ends, the others are filled. */
void roff_paragraphs(struct buffer *out, const char *text);

#endif
