/* The time that a run stands for in a picture: from halfway to the tick before
 * it to halfway to the tick after it.
 *
 * Ticks come a little early or late. A gap that is smaller than half a period
 * is no gap: the run goes on until the next one of its thread, while ticks that
 * were missed stay blank. And of a large recording only some blocks are read
 * (stride): each then stands for those that are passed over as well, so its
 * time is stretched until the next one that is read. */
#ifndef PYROMETER_ANALYZE_SPANS_H
#define PYROMETER_ANALYZE_SPANS_H

#include <stdint.h>

#include "analyze/profile.h"

struct spans {
	const struct profile *profile;
	double reach; /* ns, half a period */
	double *ends; /* by thread: of its last run; 0: none yet */
	size_t block, stride;
	double origin, start, scale; /* of the block: from where to where */
};

/* profile_each_run, with the samples just outside of the window, which reach
 * into it; visitors ask spans_of, once for each run that they care for. */
int spans_each_run(struct spans *s, struct profile *p, profile_visit *visit,
		   void *context, struct error *err);
void spans_of(struct spans *s, const struct run *run, uint64_t first,
	      uint64_t last, double *start, double *end);

#endif
