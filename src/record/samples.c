/* Ticks come nearly evenly and stacks nearly repeat; both are stored as what
 * is surprising about them.
 *
 * Tick times are cut to whole units (a power of two of nanoseconds near 1/16 of
 * the period: a sample stands for a whole period, and finer times would be the
 * larger part of a recording), absolutely, so that rounding never adds up;
 * stored is how far each step differs from the block's mean step. Runs are
 * grouped by thread, which makes the thread and nearly always the first tick of
 * a run implicit; what is left (gap, length, state, node) are columns of small
 * numbers, each of its own kind, which is what zstd likes.
 *
 * On the way in nothing is encoded: a sample that repeats the thread's last
 * one costs a comparison and an addition. */
#include "record/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/format.h"

#define MAX_TICKS      65536u
#define MAX_RUNS       65536u /* more only within the tick that reaches it */
#define DEFAULT_PERIOD 4096u  /* ns, to choose the unit when it is 0 */

static unsigned unit_shift(uint64_t period)
{
	uint64_t unit = (period ? period : DEFAULT_PERIOD) / 16;
	unsigned shift = 0;

	while (shift < LIMIT_SHIFT && unit >> (shift + 1))
		shift++;
	/* The nearer power of two, by ratio: 1.5 is near enough to sqrt(2). */
	if (shift < LIMIT_SHIFT && unit > (3ull << shift) / 2)
		shift++;
	return shift;
}

void samples_init(struct samples *s, uint64_t period)
{
	memset(s, 0, sizeof(*s));
	s->shift = unit_shift(period);
	s->deltas = xcalloc(MAX_TICKS, sizeof(*s->deltas));
}

void samples_release(struct samples *s)
{
	for (int i = 0; i < SAMPLE_COLUMNS; i++)
		buffer_release(&s->column[i]);
	free(s->deltas);
	free(s->runs);
	free(s->threads);
	free(s->seen);
}

void samples_thread(struct samples *s)
{
	uint32_t old = s->threads_capacity;

	ALLOC_GROW(s->threads, s->n_threads + 1, s->threads_capacity);
	if (s->threads_capacity != old)
		s->seen = xreallocarray(s->seen, s->threads_capacity,
					sizeof(*s->seen));
	s->threads[s->n_threads].first = ID_NONE;
	s->threads[s->n_threads].last = ID_NONE;
	s->n_threads++;
}

bool samples_full(const struct samples *s, uint64_t when)
{
	return s->n_ticks == MAX_TICKS || s->n_runs >= MAX_RUNS ||
	       (s->n_ticks && when > s->last &&
		(when - s->last) >> s->shift > INT32_MAX);
}

void samples_tick(struct samples *s, uint64_t when)
{
	when = when >> s->shift << s->shift;
	if (!s->n_ticks)
		s->first = s->last = when > s->last ? when : s->last;
	if (when < s->last)
		when = s->last;
	s->deltas[s->n_ticks++] = (uint32_t)((when - s->last) >> s->shift);
	s->last = when;
}

static void begin_run(struct samples *s, uint32_t thread, uint32_t node,
		      uint32_t state)
{
	struct thread_runs *t = &s->threads[thread];
	struct open_run *run;

	ALLOC_GROW(s->runs, s->n_runs + 1, s->runs_capacity);
	run = &s->runs[s->n_runs];
	run->thread = thread;
	run->node = node;
	run->state = state;
	run->first = s->n_ticks - 1;
	run->end = s->n_ticks;
	run->next = ID_NONE;
	if (t->last == ID_NONE) {
		t->first = s->n_runs;
		s->seen[s->n_seen++] = thread;
	} else {
		s->runs[t->last].next = s->n_runs;
	}
	t->last = s->n_runs++;
}

void samples_add(struct samples *s, uint32_t thread, uint32_t node,
		 uint32_t state)
{
	struct open_run *run;

	if (!s->n_ticks || thread >= s->n_threads)
		return;
	state &= LIMIT_STATE;
	if (s->threads[thread].last != ID_NONE) {
		run = &s->runs[s->threads[thread].last];
		if (run->end == s->n_ticks)
			return; /* was seen at this tick already */
		if (run->end == s->n_ticks - 1 && run->node == node &&
		    run->state == state) {
			run->end++;
			return;
		}
	}
	begin_run(s, thread, node, state);
}

static int64_t mean_delta(const struct samples *s)
{
	if (s->n_ticks < 2)
		return 0;
	return (int64_t)(((s->last - s->first) >> s->shift) / (s->n_ticks - 1));
}

static void encode_ticks(struct samples *s, int64_t mean)
{
	struct buffer *out = &s->column[COLUMN_TICKS];

	buffer_reserve(out, s->n_ticks);
	for (uint32_t i = 1; i < s->n_ticks; i++)
		buffer_add_svarint(out, (int64_t)s->deltas[i] - mean);
}

/* New stacks have the highest ids and known ones keep theirs, so a node is
 * stored by its distance to the highest so far. One is added to the node, so
 * that none is 0. */
static void encode_node(struct samples *s, uint32_t node)
{
	uint32_t stored = node + 1;

	buffer_add_svarint(&s->column[COLUMN_NODES],
			   (int64_t)stored - s->highest);
	if (stored > s->highest)
		s->highest = stored;
}

static void encode_thread(struct samples *s, uint32_t thread)
{
	uint32_t end = 0, state = 0;

	for (uint32_t i = s->threads[thread].first; i != ID_NONE;
	     i = s->runs[i].next) {
		const struct open_run *run = &s->runs[i];

		buffer_add_varint(&s->column[COLUMN_GAPS], run->first - end);
		buffer_add_varint(&s->column[COLUMN_LENGTHS],
				  run->end - run->first - 1);
		buffer_add_varint(&s->column[COLUMN_STATES],
				  run->state ^ state);
		encode_node(s, run->node);
		end = run->end;
		state = run->state;
	}
}

static uint32_t count_runs(const struct samples *s, uint32_t thread)
{
	uint32_t n = 0;

	for (uint32_t i = s->threads[thread].first; i != ID_NONE;
	     i = s->runs[i].next)
		n++;
	return n;
}

static void encode_head(struct samples *s, int64_t mean)
{
	struct buffer *head = &s->column[COLUMN_HEAD];

	buffer_add_varint(head, s->shift);
	buffer_add_varint(head, (uint64_t)mean);
	buffer_add_varint(head, s->n_ticks);
	buffer_add_varint(head, s->n_seen);
	buffer_add_varint(head, s->n_runs);
	buffer_add_varint(head, SAMPLE_COLUMNS - 1);
	for (int i = COLUMN_HEAD + 1; i < SAMPLE_COLUMNS; i++)
		buffer_add_varint(head, s->column[i].size);
}

void samples_encode(struct samples *s)
{
	int64_t mean = mean_delta(s);
	uint32_t previous = 0;

	s->highest = 0;
	for (int i = 0; i < SAMPLE_COLUMNS; i++)
		buffer_reset(&s->column[i]);
	encode_ticks(s, mean);
	for (uint32_t i = 0; i < s->n_seen; i++) {
		uint32_t thread = s->seen[i];

		buffer_add_svarint(&s->column[COLUMN_THREADS],
				   (int64_t)thread - previous);
		buffer_add_varint(&s->column[COLUMN_THREADS],
				  count_runs(s, thread));
		encode_thread(s, thread);
		previous = thread;
	}
	encode_head(s, mean);
}

void samples_clear(struct samples *s)
{
	for (uint32_t i = 0; i < s->n_seen; i++) {
		s->threads[s->seen[i]].first = ID_NONE;
		s->threads[s->seen[i]].last = ID_NONE;
	}
	s->n_ticks = s->n_runs = s->n_seen = 0;
}

struct decoder {
	struct cursor column[SAMPLE_COLUMNS];
	unsigned shift;
	uint64_t mean;
	uint32_t n_ticks, n_seen, n_runs; /* as the head says */
	uint32_t n_threads, n_nodes;	  /* bounds of ids */
	uint32_t runs;			  /* decoded so far */
	uint32_t highest;		  /* node so far, plus one */
};

static bool open_columns(struct decoder *d, struct cursor *c, uint64_t columns)
{
	uint64_t sizes[SAMPLE_COLUMNS] = { 0 };

	for (uint64_t i = 1; i <= columns && !c->failed; i++) {
		uint64_t size = cursor_varint(c);

		if (i < SAMPLE_COLUMNS)
			sizes[i] = size;
	}
	for (int i = 1; i < SAMPLE_COLUMNS; i++) {
		const void *bytes = sizes[i] <= cursor_left(c)
					    ? cursor_bytes(c, sizes[i])
					    : NULL;

		if (!bytes)
			return false;
		d->column[i] = cursor_over(bytes, sizes[i]);
	}
	return true;
}

static bool open_decoder(struct decoder *d, const void *data, size_t size)
{
	struct cursor c = cursor_over(data, size);
	uint64_t shift = cursor_varint(&c), mean = cursor_varint(&c),
		 ticks = cursor_varint(&c), seen = cursor_varint(&c),
		 runs = cursor_varint(&c), columns = cursor_varint(&c);

	if (c.failed || shift > LIMIT_SHIFT || mean > INT32_MAX || !ticks ||
	    ticks > LIMIT_TICKS || runs > LIMIT_RUNS || seen > runs)
		return false;
	d->shift = (unsigned)shift;
	d->mean = mean;
	d->n_ticks = (uint32_t)ticks;
	d->n_seen = (uint32_t)seen;
	d->n_runs = (uint32_t)runs;
	/* One byte at least for each value: a bomb must bring its powder. */
	return open_columns(d, &c, columns) &&
	       ticks - 1 <= cursor_left(&d->column[COLUMN_TICKS]) &&
	       runs <= cursor_left(&d->column[COLUMN_NODES]);
}

static bool decode_ticks(struct decoder *d, struct sample_arrays *a,
			 uint64_t first, uint64_t last)
{
	uint64_t t = first;

	ALLOC_GROW(a->ticks, d->n_ticks, a->ticks_capacity);
	a->ticks[0] = first;
	for (uint32_t i = 1; i < d->n_ticks; i++) {
		uint64_t step = d->mean + (uint64_t)cursor_svarint(
						  &d->column[COLUMN_TICKS]);

		if (step > (last - t) >> d->shift)
			return false;
		t += step << d->shift;
		a->ticks[i] = t;
	}
	return t == last && !d->column[COLUMN_TICKS].failed;
}

/* Decode one run after `before` of the same thread. */
static bool decode_run(struct decoder *d, const struct run *before,
		       struct run *run)
{
	uint64_t gap = cursor_varint(&d->column[COLUMN_GAPS]);
	uint64_t more = cursor_varint(&d->column[COLUMN_LENGTHS]);
	uint64_t change = cursor_varint(&d->column[COLUMN_STATES]);
	uint64_t node =
		d->highest + (uint64_t)cursor_svarint(&d->column[COLUMN_NODES]);
	uint64_t first = (uint64_t)before->first_tick + before->ticks + gap;

	if (gap > d->n_ticks || more > d->n_ticks ||
	    first + more >= d->n_ticks || change > LIMIT_STATE ||
	    node > d->n_nodes)
		return false;
	if (node > d->highest)
		d->highest = (uint32_t)node;
	run->thread = before->thread;
	run->first_tick = (uint32_t)first;
	run->ticks = (uint32_t)more + 1;
	run->state = before->state ^ (uint32_t)change;
	run->node = (uint32_t)node - 1; /* 0 becomes ID_NONE */
	return true;
}

static bool decode_thread(struct decoder *d, struct sample_arrays *a,
			  uint32_t thread, uint64_t n)
{
	struct run before = { .thread = thread };

	if (thread >= d->n_threads || n > d->n_runs - d->runs)
		return false;
	for (; n; n--) {
		if (!decode_run(d, &before, &a->runs[d->runs]))
			return false;
		before = a->runs[d->runs++];
	}
	return true;
}

static bool decode_runs(struct decoder *d, struct sample_arrays *a)
{
	struct cursor *threads = &d->column[COLUMN_THREADS];
	uint32_t thread = 0;

	ALLOC_GROW(a->runs, d->n_runs, a->runs_capacity);
	for (uint32_t i = 0; i < d->n_seen; i++) {
		thread += (uint32_t)cursor_svarint(threads);
		if (!decode_thread(d, a, thread, cursor_varint(threads)))
			return false;
	}
	for (int i = COLUMN_THREADS; i < SAMPLE_COLUMNS; i++)
		if (d->column[i].failed)
			return false;
	return d->runs == d->n_runs;
}

/* By first tick, keeping the order among equals: count, add up, place. */
static void sort_runs(struct decoder *d, struct sample_arrays *a)
{
	ALLOC_GROW(a->sorted, d->n_runs, a->sorted_capacity);
	ALLOC_GROW(a->starts, d->n_ticks + 1, a->starts_capacity);
	memset(a->starts, 0, (d->n_ticks + 1) * sizeof(*a->starts));
	for (uint32_t i = 0; i < d->n_runs; i++)
		a->starts[a->runs[i].first_tick + 1]++;
	for (uint32_t i = 0; i < d->n_ticks; i++)
		a->starts[i + 1] += a->starts[i];
	for (uint32_t i = 0; i < d->n_runs; i++)
		a->sorted[a->starts[a->runs[i].first_tick]++] = a->runs[i];
}

bool samples_decode(struct sample_arrays *arrays, const void *data, size_t size,
		    uint64_t first, uint64_t last, uint32_t n_threads,
		    uint32_t n_nodes, struct sample_block *out)
{
	struct decoder d = { .n_threads = n_threads, .n_nodes = n_nodes };

	if (!open_decoder(&d, data, size) ||
	    !decode_ticks(&d, arrays, first, last) || !decode_runs(&d, arrays))
		return false;
	sort_runs(&d, arrays);
	out->first = first;
	out->last = last;
	out->n_ticks = d.n_ticks;
	out->ticks = arrays->ticks;
	out->n_runs = d.n_runs;
	out->runs = arrays->sorted;
	return true;
}

void sample_arrays_release(struct sample_arrays *arrays)
{
	free(arrays->ticks);
	free(arrays->runs);
	free(arrays->sorted);
	free(arrays->starts);
}
