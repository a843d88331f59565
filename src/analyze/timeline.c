#include "analyze/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/spans.h"
#include "base/alloc.h"

enum lane_state lane_state(uint32_t state)
{
	if (state & STATE_GC)
		return LANE_GC;
	if (state & STATE_GIL_WAIT)
		return LANE_WAIT;
	if (state & STATE_GIL)
		return LANE_GIL;
	return state & STATE_ON_CPU ? LANE_CPU : LANE_OFF;
}

struct filling {
	struct timeline *timeline;
	struct spans spans;
	double width; /* ns of a bucket */
	const bool *marked;
};

static void fill_lane(const struct filling *f, float (*lane)[LANE_STATES],
		      enum lane_state state, double start, double end)
{
	double n = f->timeline->n_buckets;
	double low = (start - (double)f->timeline->from) / f->width;
	double high = (end - (double)f->timeline->from) / f->width;

	low = low < 0 ? 0 : low;
	high = high > n ? n : high;
	for (uint32_t i = (uint32_t)low; i < high; i++) {
		double left = i > low ? i : low;
		double right = i + 1 < high ? i + 1 : high;

		lane[i][state] += (float)(right - left);
	}
}

static int fill_run(void *context, const struct run *run, uint64_t first,
		    uint64_t last)
{
	struct filling *f = context;
	float(**lane)[LANE_STATES] = &f->timeline->lanes[run->thread];
	double start, end;

	spans_of(&f->spans, run, first, last, &start, &end);
	if (!*lane)
		*lane = xcalloc(f->timeline->n_buckets, sizeof(**lane));
	fill_lane(f, *lane, lane_state(run->state), start, end);
	if (f->marked && run->node != ID_NONE && f->marked[run->node])
		fill_lane(f, *lane, LANE_MARKED, start, end);
	return 0;
}

int timeline_count(struct timeline *t, struct profile *p, uint32_t n_buckets,
		   const bool *marked, struct error *err)
{
	struct filling f = { .timeline = t, .marked = marked };
	int status;

	*t = (struct timeline){ .from = p->filter.from,
				.to = p->filter.to,
				.n_buckets = n_buckets,
				.n_threads = p->n_threads };
	t->lanes = xcalloc(t->n_threads, sizeof(*t->lanes));
	f.width = (double)(t->to - t->from) / n_buckets;
	status = spans_each_run(&f.spans, p, fill_run, &f, err);
	if (status < 0)
		timeline_release(t);
	return status;
}

void timeline_release(struct timeline *t)
{
	for (uint32_t i = 0; t->lanes && i < t->n_threads; i++)
		free(t->lanes[i]);
	free(t->lanes);
	t->lanes = NULL;
}

/* The block whose time is nearest: blocks are in order of time. */
static size_t block_at(const struct reader *reader, uint64_t when)
{
	size_t low = 0, high = reader_blocks(reader);
	uint64_t first, last;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		reader_block_times(reader, middle, &first, &last);
		if (first <= when)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t nearest_tick(const struct sample_block *b, uint64_t when)
{
	uint32_t best = 0;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < b->n_ticks; i++) {
		uint64_t away = b->ticks[i] > when ? b->ticks[i] - when
						   : when - b->ticks[i];

		if (away < least) {
			least = away;
			best = i;
		}
	}
	return best;
}

static bool covers(const struct run *run, uint32_t tick)
{
	return run->first_tick <= tick && tick - run->first_tick < run->ticks;
}

/* The tick before one of a block, and the one after it, maybe of another. */
static uint64_t tick_before(const struct reader *reader, size_t at,
			    const struct sample_block *b, uint32_t tick)
{
	uint64_t first, last = b->ticks[0];

	if (!tick && at)
		reader_block_times(reader, at - 1, &first, &last);
	return tick ? b->ticks[tick - 1] : last;
}

static uint64_t tick_after(const struct reader *reader, size_t at,
			   const struct sample_block *b, uint32_t tick)
{
	uint64_t first = b->ticks[b->n_ticks - 1], last;

	if (tick + 1 < b->n_ticks)
		return b->ticks[tick + 1];
	if (at + 1 < reader_blocks(reader))
		reader_block_times(reader, at + 1, &first, &last);
	return first;
}

static void see_run(struct moment *m, const struct reader *reader, size_t at,
		    const struct sample_block *b, const struct run *run)
{
	uint32_t end = run->first_tick + run->ticks - 1;

	m->found = true;
	m->first = b->ticks[run->first_tick];
	m->last = b->ticks[end];
	m->run_before = tick_before(reader, at, b, run->first_tick);
	m->run_after = tick_after(reader, at, b, end);
	m->state = run->state;
	m->node = run->node;
}

static void see_block(struct moment *m, const struct reader *reader, size_t at,
		      const struct sample_block *b, uint32_t thread,
		      uint64_t when)
{
	uint32_t tick = nearest_tick(b, when);
	uint32_t process = reader_thread(reader, thread)->process;

	m->when = b->ticks[tick];
	m->before = m->run_before = tick_before(reader, at, b, tick);
	m->after = m->run_after = tick_after(reader, at, b, tick);
	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct run *run = &b->runs[i];

		if (!covers(run, tick))
			continue;
		if (run->thread == thread) {
			see_run(m, reader, at, b, run);
		} else if (run->state & STATE_GIL &&
			   reader_thread(reader, run->thread)->process ==
				   process) {
			m->holder = run->thread;
			m->holder_node = run->node;
		}
	}
}

int moment_find(struct moment *m, struct reader *reader, uint32_t thread,
		uint64_t when, struct error *err)
{
	struct sample_block block;
	size_t at;
	int status;

	*m = (struct moment){ .node = ID_NONE,
			      .holder = ID_NONE,
			      .holder_node = ID_NONE };
	if (!reader_blocks(reader) || thread >= reader_threads(reader))
		return 0;
	at = block_at(reader, when);
	status = reader_block(reader, at, &block, err);
	if (!status && block.n_ticks)
		see_block(m, reader, at, &block, thread, when);
	return status;
}
