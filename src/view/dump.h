/* A snapshot of a process for people and for programs. */
#ifndef PYROMETER_VIEW_DUMP_H
#define PYROMETER_VIEW_DUMP_H

#include "base/json.h"
#include "sample/snapshot.h"
#include "view/style.h"

/* The process, then each thread with its stack, the innermost call first. */
void dump_text(struct buffer *out, const struct snapshot *s,
	       const struct view_style *style);

/* The same as an object inside an array; docs/json.md tells its keys. */
void dump_json(struct json *j, const struct snapshot *s);

#endif
