/* Put names on native frames: a recording holds sites and, apart from them,
 * the functions that were found at each; whoever reads stacks wants to see
 * functions. */
#ifndef PYROMETER_RECORD_RESOLVE_H
#define PYROMETER_RECORD_RESOLVE_H

#include "record/tables.h"

/* Frames and nodes as they are shown. Without sites all of it is empty, and the
 * tables are shown as they are. */
struct resolved {
	TABLES_ARRAY(struct frame_info, frames);
	TABLES_ARRAY(struct node_info, nodes);
	uint32_t *node_ids; /* by node of the tables: the one that is shown */
	uint32_t own_functions; /* of the tables, before some were made up */
	struct arena arena;	/* names that had to be made up */
};

static inline bool resolved_any(const struct resolved *r)
{
	return r->node_ids != NULL;
}

/* Fill `r`, which holds nothing. May add functions to the tables. */
void resolve(struct resolved *r, struct tables *t);
/* Take all of it back. */
void unresolve(struct resolved *r, struct tables *t);
void resolved_release(struct resolved *r); /* and leaves it empty */

#endif
