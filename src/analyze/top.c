#include "analyze/top.h"

static uint32_t *functions_of_frames(const struct reader *reader,
				     struct arena *arena)
{
	uint32_t n = reader_frames(reader);
	uint32_t *keys = arena_calloc(arena, (size_t)n + 1, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++)
		keys[i] = reader_frame(reader, i).function;
	return keys;
}

int top_count(struct shares *out, struct profile *p, enum share_order order,
	      struct arena *arena, struct error *err)
{
	struct tally tally;
	int status = tally_count(&tally, p, arena, err);

	if (status < 0)
		return status;
	shares_count(out, p, &tally, functions_of_frames(p->reader, arena),
		     reader_functions(p->reader), order, arena);
	return 0;
}
