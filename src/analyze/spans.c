#include "analyze/spans.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"

static double first_of(const struct spans *s, size_t block)
{
	uint64_t first, last;

	reader_block_times(s->profile->reader, block, &first, &last);
	return (double)first;
}

/* Where the block that is read after this one begins, or the recording ends. */
static double next_start(const struct spans *s)
{
	const struct reader *reader = s->profile->reader;

	return s->block + s->stride < reader_blocks(reader)
		       ? first_of(s, s->block + s->stride)
		       : (double)profile_recorded_until(reader);
}

/* The first block that is read stands for the beginning of the window too. */
static void enter_block(struct spans *s, double start)
{
	uint64_t first, last;
	double length;

	reader_block_times(s->profile->reader, s->block, &first, &last);
	length = (double)(last - first) + 2 * s->reach;
	s->origin = (double)first;
	s->start = start < s->origin ? start : s->origin;
	s->scale = (next_start(s) - s->start) / length;
	if (!(s->scale > 1))
		s->scale = 1;
}

static void find_block(struct spans *s, double first)
{
	size_t n = reader_blocks(s->profile->reader), before = s->block;

	while (s->block + s->stride < n &&
	       first_of(s, s->block + s->stride) <= first)
		s->block += s->stride;
	if (s->scale == 0)
		enter_block(s, (double)s->profile->filter.from);
	else if (s->block != before)
		enter_block(s, first);
}

void spans_of(struct spans *s, const struct run *run, uint64_t first,
	      uint64_t last, double *start, double *end)
{
	double *before = &s->ends[run->thread], gap;

	*start = (double)first - s->reach;
	*end = (double)last + s->reach;
	if (s->stride > 1) {
		find_block(s, (double)first);
		*start = s->start + (*start + s->reach - s->origin) * s->scale;
		*end = s->start + (*end + s->reach - s->origin) * s->scale;
	}
	gap = *start - *before;
	if (*before > 0 && gap < s->reach * (s->stride > 1 ? s->scale : 1) &&
	    *before < *end)
		*start = *before;
	*before = *end;
}

int spans_each_run(struct spans *s, struct profile *p, profile_visit *visit,
		   void *context, struct error *err)
{
	struct profile_filter asked = p->filter;
	double reach = p->seconds_per_sample * NS_PER_SECOND / 2;
	uint64_t more = (uint64_t)(2 * reach);
	int status;

	*s = (struct spans){
		.profile = p,
		.reach = reach,
		.ends = xcalloc(p->n_threads, sizeof(*s->ends)),
		.stride = asked.stride > 1 ? asked.stride : 1,
	};
	p->filter.from -= p->filter.from < more ? p->filter.from : more;
	p->filter.to += p->filter.to ? more : 0;
	status = profile_each_run(p, visit, context, err);
	p->filter = asked;
	free(s->ends);
	return status;
}
