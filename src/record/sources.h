/* Source texts, unpacked when the first one is asked for. */
#ifndef PYROMETER_RECORD_SOURCES_H
#define PYROMETER_RECORD_SOURCES_H

#include "base/arena.h"
#include "record/places.h"
#include "record/tables.h"

struct source_text {
	const char *file;
	const char *text; /* NUL-terminated */
	size_t size;
};

struct sources {
	struct places places; /* where SOURCE blocks are */
	bool loaded;
	struct arena arena;
	struct source_text *texts;
	size_t count, capacity;
};

/* The text of `file`, or NULL. Valid until sources_release. */
const char *sources_find(struct sources *s, struct input *in,
			 const struct tables *tables, const char *file,
			 size_t *size);
void sources_release(struct sources *s);

#endif
