/* Machine code by the time spent in it: the addresses of a function that have
 * samples. Code of calls that were inlined belongs to the function that they
 * were inlined into. */
#ifndef PYROMETER_ANALYZE_CODE_H
#define PYROMETER_ANALYZE_CODE_H

#include "analyze/shares.h"

struct code_site {
	uint32_t site;
	uint64_t address; /* as the file counts */
	struct share_count flat, cum;
};

struct code {
	uint32_t function; /* whose it is */
	uint32_t module;   /* ID_NONE: not in a file */
	struct share_count flat, cum;
	struct code_site *sites; /* by address */
	uint32_t n_sites;
};

struct codes {
	struct code *items; /* heaviest (by cum) first */
	uint32_t n_items;
};

/* The code of the native functions that callers_find() finds for `pattern`, and
 * of those that such a one was inlined into. In the arena. */
int codes_count(struct codes *out, struct profile *p, const char *pattern,
		struct arena *arena, struct error *err);

#endif
