/* Source lines by the time spent on them. */
#ifndef PYROMETER_ANALYZE_LINES_H
#define PYROMETER_ANALYZE_LINES_H

#include "analyze/shares.h"

struct line {
	uint32_t number;
	uint32_t function; /* that the line was seen in first */
	struct share_count flat, cum;
};

/* A file with samples. */
struct file_lines {
	const char *file;
	uint64_t flat, cum; /* samples that end in the file; that pass it */
	uint32_t n_lines;
	struct line *lines; /* with samples, by number */
};

struct lines {
	struct file_lines *files; /* by flat samples, then cum, descending */
	uint32_t n_files;
};

/* Python frames, and native ones of which the file is known; frames without a
 * line are left out. In the arena. */
int lines_count(struct lines *out, struct profile *p, struct arena *arena,
		struct error *err);

#endif
