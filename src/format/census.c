#include "format/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct counting {
	struct census *census;
	uint32_t mask;
};

static uint32_t add_entry(struct census *t, const struct run *run,
			  uint32_t state)
{
	ALLOC_GROW(t->entries, t->count + 1, t->capacity);
	t->entries[t->count] = (struct census_entry){
		.thread = run->thread,
		.node = run->node,
		.state = state,
	};
	return t->count++;
}

static int count_run(void *context, const struct run *run, uint64_t first,
		     uint64_t last)
{
	struct counting *c = context;
	struct census *t = c->census;
	uint32_t state = run->state & c->mask;
	uint64_t where = (uint64_t)run->thread << 32 | run->node;
	uint32_t i = map_get(&t->index, where, state);

	(void)first;
	(void)last;
	if (i == MAP_NONE) {
		i = add_entry(t, run, state);
		map_put(&t->index, where, state, i);
	}
	t->entries[i].samples += run->ticks;
	return 0;
}

int census_fill(struct census *t, struct profile *p, uint32_t mask,
		struct error *err)
{
	struct counting c = { t, mask };

	return profile_each_run(p, count_run, &c, err);
}

void census_release(struct census *t)
{
	free(t->entries);
	map_release(&t->index);
	memset(t, 0, sizeof(*t));
}
