#include "record/edges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/model.h"

/* The count of callees of `caller`, which may grow the array. */
static uint32_t *count_of(struct edges *e, uint32_t caller)
{
	uint32_t i = caller + 1, old = e->capacity;

	ALLOC_GROW(e->counts, i + 1, e->capacity);
	if (e->capacity != old)
		memset(e->counts + old, 0,
		       (e->capacity - old) * sizeof(*e->counts));
	return &e->counts[i];
}

uint64_t edges_encode(struct edges *e, uint32_t caller, uint32_t callee)
{
	uint32_t *count = count_of(e, caller);
	uint32_t number = map_get(&e->map, caller, callee);

	if (number != MAP_NONE)
		return number;
	map_put(&e->map, caller, callee, *count);
	return (uint64_t)(*count)++ + callee;
}

uint32_t edges_decode(struct edges *e, uint32_t caller, uint64_t value,
		      uint32_t n_frames)
{
	uint32_t *count = count_of(e, caller);
	uint64_t callee = value - *count;

	if (value < *count)
		return map_get(&e->map, caller, value);
	if (callee >= n_frames)
		return ID_NONE;
	map_put(&e->map, caller, (*count)++, (uint32_t)callee);
	return (uint32_t)callee;
}

void edges_release(struct edges *e)
{
	map_release(&e->map);
	free(e->counts);
}
