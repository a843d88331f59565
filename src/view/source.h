/* The source text of a file that a recording names: from the recording, else
 * from the disk. */
#ifndef PYROMETER_VIEW_SOURCE_H
#define PYROMETER_VIEW_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/reader.h"

#define SOURCE_SIZE_MAX (16u << 20)

enum source_origin {
	SOURCE_MISSING,
	SOURCE_RECORDED,
	SOURCE_DISK,
	SOURCE_CHANGED, /* on disk, and younger than the recording */
};

struct source {
	enum source_origin origin;
	const char *text;
	size_t size;
	char *owned; /* what release frees */
	size_t at;   /* where line `line` begins */
	uint32_t line;
};

/* Never fails: what cannot be had is SOURCE_MISSING. */
void source_open(struct source *s, const struct reader *reader,
		 const char *file);
void source_release(struct source *s);

/* The text of a line (from 1), without its end; NULL when there is none. Asked
 * for in ascending order, all lines cost one pass. Valid until release; n gets
 * its length. */
const char *source_line(struct source *s, uint32_t line, size_t *n);

#endif
