/* A request as the viewer makes it: "view=top&mode=cpu&threads=1,2", with %XX
 * for what would be taken for something else. */
#ifndef PYROMETER_ANALYZE_QUERY_H
#define PYROMETER_ANALYZE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define QUERY_FIELDS 32 /* more are ignored */

struct query {
	size_t n_fields;
	struct query_field {
		const char *name, *value;
	} fields[QUERY_FIELDS];
};

/* Take a request apart; the texts live in the arena. */
void query_parse(struct query *q, const char *request, struct arena *arena);

/* The value of a field; `otherwise` when it is not there. */
const char *query_text(const struct query *q, const char *name,
		       const char *otherwise);
uint64_t query_number(const struct query *q, const char *name,
		      uint64_t otherwise);
/* The same, kept within least and most. */
uint32_t query_within(const struct query *q, const char *name,
		      uint32_t otherwise, uint32_t least, uint32_t most);
/* Whether it is there and not "0". */
bool query_flag(const struct query *q, const char *name);
/* "1,5,7" as numbers in the arena; returns how many. */
size_t query_list(const struct query *q, const char *name, uint32_t **out,
		  struct arena *arena);

#endif
