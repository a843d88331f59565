#include "analyze/waits.h"

#include <stdlib.h>

#include "base/alloc.h"

struct window {
	const struct reader *reader;
	uint32_t thread, process;
	uint64_t from, to;
};

static void add_wait(struct waits *w, const struct window *in,
		     const struct run *held)
{
	struct holder h = { held->thread, ID_NONE, 0 };
	uint32_t at;

	if (held->node != ID_NONE)
		h.function =
			reader_frame(in->reader,
				     reader_node(in->reader, held->node).frame)
				.function;
	at = map_get(&w->by_holder, h.thread, h.function);
	if (at == MAP_NONE) {
		at = w->count++;
		ALLOC_GROW(w->items, w->count, w->capacity);
		w->items[at] = h;
		map_put(&w->by_holder, h.thread, h.function, at);
	}
	w->items[at].samples++;
}

/* By tick of the block, the run that held the GIL of the thread's process. */
static const struct run **find_holders(const struct window *in,
				       const struct sample_block *b)
{
	const struct run **holders = xcalloc(b->n_ticks, sizeof(*holders));

	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct run *run = &b->runs[i];

		if (!(run->state & STATE_GIL) || run->thread == in->thread ||
		    reader_thread(in->reader, run->thread)->process !=
			    in->process)
			continue;
		for (uint32_t k = 0; k < run->ticks; k++)
			holders[run->first_tick + k] = run;
	}
	return holders;
}

static void count_run(struct waits *w, const struct window *in,
		      const struct sample_block *b, const struct run *run,
		      const struct run **holders)
{
	for (uint32_t k = run->first_tick; k < run->first_tick + run->ticks;
	     k++) {
		if (b->ticks[k] < in->from || b->ticks[k] >= in->to)
			continue;
		w->samples++;
		if (holders[k])
			add_wait(w, in, holders[k]);
		else
			w->unknown++;
	}
}

static void count_block(struct waits *w, const struct window *in,
			const struct sample_block *b)
{
	const struct run **holders = find_holders(in, b);

	for (uint32_t i = 0; i < b->n_runs; i++)
		if (b->runs[i].thread == in->thread &&
		    b->runs[i].state & STATE_GIL_WAIT)
			count_run(w, in, b, &b->runs[i], holders);
	free(holders);
}

static int by_samples(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->function < y->function ? -1 : 1;
}

int waits_count(struct waits *w, struct reader *reader, uint32_t thread,
		uint64_t from, uint64_t to, uint32_t stride, struct error *err)
{
	struct window in = { reader, thread, 0, from, to };
	struct sample_block block;
	uint64_t first, last;
	int status = 0;

	*w = (struct waits){ .by_holder = MAP_INIT };
	if (thread >= reader_threads(reader))
		return 0;
	in.process = reader_thread(reader, thread)->process;
	for (size_t i = 0; i < reader_blocks(reader) && !status; i += stride) {
		reader_block_times(reader, i, &first, &last);
		if (last < from || first >= to)
			continue;
		status = reader_block(reader, i, &block, err);
		if (!status)
			count_block(w, &in, &block);
	}
	if (w->count)
		qsort(w->items, w->count, sizeof(*w->items), by_samples);
	return status;
}

void waits_release(struct waits *w)
{
	free(w->items);
	map_release(&w->by_holder);
}
