/* Functions by the time spent in them. */
#ifndef PYROMETER_ANALYZE_TOP_H
#define PYROMETER_ANALYZE_TOP_H

#include "analyze/shares.h"

/* Every function with samples; the key is the function's id. */
int top_count(struct shares *out, struct profile *p, enum share_order order,
	      struct arena *arena, struct error *err);

#endif
