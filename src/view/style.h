/* How a report looks: lines of columns, with or without colour.
 *
 * Text of a recording is hostile; it reaches `out` only through the functions
 * here, which make control characters harmless and cut to the width. */
#ifndef PYROMETER_VIEW_STYLE_H
#define PYROMETER_VIEW_STYLE_H

#include <stdbool.h>

#include "analyze/statistics.h"
#include "base/buffer.h"

#define VIEW_WIDTH_LEAST 40

struct view_style {
	int width; /* columns; less than VIEW_WIDTH_LEAST counts as that */
	bool colour;
	bool unicode; /* lines and symbols beyond ASCII */
};

enum ink {
	INK_PLAIN,
	INK_STRONG, /* headings, the user's own functions */
	INK_DIM,    /* places, guides, library code */
	INK_HOT,    /* a large share */
	INK_WARM,   /* one worth a look */
	INK_ALERT,  /* something is missing */
	INKS
};

/* A line being written; `left` columns are free. */
struct view_line {
	struct buffer *out;
	const struct view_style *style;
	int left;
	int indent; /* columns that view_words leaves free on new lines */
};

struct view_line view_line(struct buffer *out, const struct view_style *style);
/* Append text, cut to what is left. */
void view_add(struct view_line *line, enum ink ink, const char *text);
/* Append text cut to `columns`, and to what is left; at its front if
 * `keep_end`. */
void view_add_cut(struct view_line *line, enum ink ink, const char *text,
		  int columns, bool keep_end);
/* Append text in exactly `columns`, to the right or to the left of them. */
void view_add_right(struct view_line *line, enum ink ink, const char *text,
		    int columns);
void view_add_left(struct view_line *line, enum ink ink, const char *text,
		   int columns);
void view_add_format(struct view_line *line, enum ink ink, const char *format,
		     ...) __attribute__((format(printf, 3, 4)));
/* Append words, on new lines where they do not fit; the first one, too, if
 * there is a space before it. */
void view_words(struct view_line *line, enum ink ink, const char *text);
void view_words_format(struct view_line *line, enum ink ink, const char *format,
		       ...) __attribute__((format(printf, 3, 4)));
void view_end(struct view_line *line); /* the newline */

/* The colour of a share. */
enum ink view_share_ink(double share);

/* Facts one after another, with a dot between, broken into lines where they do
 * not fit: view_fact() again and again, then view_facts_end(). */
struct view_facts {
	struct view_line line;
	bool any;
};

struct view_facts view_facts(struct buffer *out,
			     const struct view_style *style);
void view_fact(struct view_facts *facts, enum ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void view_facts_end(struct view_facts *facts);

/* Texts of numbers, to be copied at once: "12.3 s", "45.1%", "1.2". */
struct view_number {
	char text[40];
};

struct view_number view_seconds(double seconds);
struct view_number view_percent(double share);
struct view_number view_points(double share); /* percent without the sign */
struct view_number view_count(uint64_t n);    /* 1,234 */
struct view_number view_integer(uint64_t n);  /* 1234 */
/* What a word for so many things ends in: "" or "s". */
const char *view_plural(uint64_t n);
/* Plus-minus of a share in points; "~" after it when the share drifts. */
struct view_number view_sure(const struct confidence *c);

#endif
