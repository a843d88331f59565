/* Who calls a function, and what it calls. */
#ifndef PYROMETER_ANALYZE_CALLERS_H
#define PYROMETER_ANALYZE_CALLERS_H

#include <stdint.h>

#include "analyze/calltree.h"
#include "analyze/profile.h"
#include "analyze/statistics.h"
#include "base/arena.h"

/* Functions asked for by name, the heaviest (by cum) first. */
struct callers_found {
	uint32_t *functions;
	uint32_t n_functions;
};

/* The functions with samples whose name is `pattern`; if there is none, those
 * whose last name is (after the last dot); if there is none, those that it
 * matches as text_matches does. In the arena. */
int callers_find(struct callers_found *out, struct profile *p,
		 const char *pattern, struct arena *arena, struct error *err);

struct callers {
	uint32_t function;
	uint64_t samples; /* with it in their stack */
	uint64_t self;	  /* of these, with nothing below it */
	/* Trees whose root is the function: `above` goes outward, a child being
	 * a caller; `below` goes inward. Both begin at the function's outermost
	 * call, so that each sample is counted once. */
	struct calltree above, below;
};

/* Free with callers_release. */
void callers_count(struct callers *out, const struct profile *p,
		   uint32_t function);
void callers_release(struct callers *c);

#endif
