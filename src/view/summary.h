/* The short report at the end of a recording. */
#ifndef PYROMETER_VIEW_SUMMARY_H
#define PYROMETER_VIEW_SUMMARY_H

#include "analyze/profile.h"
#include "base/buffer.h"
#include "view/style.h"

/* Append a headline, the functions of the user's own code where the time of the
 * busiest thread goes, the other threads, and the honesty line. */
void view_summary(struct buffer *out, struct profile *p,
		  const struct view_style *style);

#endif
