/* Every view of the viewer, by request: the one interface between what is
 * computed, here, and what is drawn, in JavaScript. The local server links it,
 * a self-contained page carries it as WebAssembly.
 *
 * A request is a query (query.h), the answer is JSON. docs/viewer.md lists the
 * views, their fields and their answers. An engine remembers the counts of the
 * last filter of each recording, since most requests have the same as the one
 * before. Not thread-safe. */
#ifndef PYROMETER_ANALYZE_ENGINE_H
#define PYROMETER_ANALYZE_ENGINE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "record/reader.h"

#define ENGINE_RECORDINGS 16	   /* at most */
#define ENGINE_BUDGET	  5000000u /* samples: what takes less than a second */

struct engine;

/* `budget`: how many samples an answer may cost. Of windows with more only some
 * blocks are read, evenly spread, and the answer says so ("stride"), unless the
 * request has exact=1. */
struct engine *engine_new(uint64_t budget);
/* Add a recording, called `name` to people; takes the reader, also when it
 * fails, because there are too many. */
int engine_add(struct engine *e, struct reader *reader, const char *name,
	       struct error *err);
void engine_free(struct engine *e);

/* Append the answer to `out`. A failure is appended as {"error": "..."}, so
 * that there is always an answer, and returned. */
int engine_answer(struct engine *e, const char *request, struct buffer *out);

#endif
