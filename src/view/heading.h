/* What stands above and below every report: what was recorded and what is
 * shown of it; how good the data is. */
#ifndef PYROMETER_VIEW_HEADING_H
#define PYROMETER_VIEW_HEADING_H

#include "base/json.h"
#include "view/view.h"

/* Program, Python, time, rate, CPU time; the filter, if any. */
void view_heading(struct buffer *out, const struct view_request *r);

/* How sure the shares above it are. */
struct view_certainty {
	double half;   /* plus-minus of the first thing that is shown, at its
			* widest; 0: unknown */
	double widest; /* of anything that is shown; 0: the same */
	bool drifts;   /* something shown is marked as drifting */
};

/* The honesty line: samples, what is missing, what the recording cost, how sure
 * the numbers are. */
void view_footing(struct buffer *out, const struct profile *p,
		  const struct view_style *style,
		  const struct view_certainty *certainty);

/* The command of the program that was recorded, for a headline. */
const char *view_program(const struct profile *p);

/* What the threads used of a CPU, without waiting for one. */
double view_cpu_seconds(const struct profile *p);

/* Say why there is nothing to show. */
void view_nothing(struct buffer *out, const struct view_request *r);

/* Open the object that every JSON report is: what was recorded, the filter, the
 * counts. The caller adds its own keys, then calls view_json_end. */
struct json view_json_begin(struct buffer *out, const struct view_request *r,
			    const char *view);
void view_json_end(struct json *j);
/* {"samples", "seconds", "share", "low", "high", ...} under `key`. */
void view_json_share(struct json *j, const char *key, const struct profile *p,
		     const struct share_count *share);
/* "python", "native", "kernel" or "mark". */
const char *view_kind_name(enum function_kind kind);
/* name, file, line, kind, module of native code, library into the open object.
 */
void view_json_function(struct json *j, const struct profile *p,
			uint32_t function);

#endif
