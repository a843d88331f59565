/* The blocks of a recording, in order: from its index, or by hopping from
 * header to header. */
#ifndef PYROMETER_RECORD_PLACES_H
#define PYROMETER_RECORD_PLACES_H

#include "record/input.h"

struct places {
	struct block_place *items;
	size_t count, capacity;
	bool ended;	  /* there is an END block: nothing is missing after */
	uint64_t damaged; /* offset of the first thing that is no block; 0: none
			   */
	uint64_t cut;	  /* offset of a block that the file ends in; 0: none */
};

#define PLACES_INIT \
	{           \
		0   \
	}

void places_add(struct places *p, const struct block_place *place);
void places_release(struct places *p);

/* By the index. False when there is none, or none that fits. */
bool places_from_index(struct places *p, struct input *in);
/* By looking at every header; passes over what is none. */
void places_by_hopping(struct places *p, struct input *in);

#endif
