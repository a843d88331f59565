/* How functions and places in the source are written in a report. */
#ifndef PYROMETER_VIEW_PLACE_H
#define PYROMETER_VIEW_PLACE_H

#include "analyze/profile.h"
#include "view/style.h"

struct places {
	const struct reader *reader;
	size_t base; /* of the user's files, see origin_base() */
};

struct places places_of(const struct profile *p);

/* Append "app.py:12", or the library of a native function whose source is not
 * known. Line 0: the function's first. */
void place_add(struct buffer *out, const struct places *places,
	       uint32_t function, uint32_t line);

/* Append "name  file:line" in what is left of the line: the name first, then as
 * much of the end of the place as fits; the line is `at` as in place_add.
 * `brackets`: "name (file:line)". */
void place_add_function(struct view_line *line, enum ink ink,
			const struct places *places, uint32_t function,
			uint32_t at, bool brackets);

#endif
