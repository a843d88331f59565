/* Functions whose name or file matches an expression. */
#ifndef PYROMETER_ANALYZE_SEARCH_H
#define PYROMETER_ANALYZE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/error.h"

struct search {
	bool *hits; /* by function */
	uint32_t n_hits;
	uint64_t samples; /* of stacks with at least one of them */
	uint64_t self;	  /* of these, with one as their innermost frame */
};

/* By function, whether its name, its file or (native code) its library matches
 * `pattern`: an extended regular expression (regex(7)) that may match anywhere,
 * in any case of letters. NULL (ERR_USAGE) when it is none. The caller frees.
 */
bool *search_names(const struct reader *reader, const char *pattern,
		   struct error *err);

/* The same, and the samples with such a function. Free with search_release. */
int search_functions(struct search *s, const struct profile *p,
		     const char *pattern, struct error *err);
void search_release(struct search *s);

#endif
