#include "analyze/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/running.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

static bool matches_any(const char *text, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text_matches(text, patterns[i]))
			return true;
	return false;
}

/* A thread is asked for by its name, or by its number as it is written. */
static bool thread_matches(const struct thread_info *t,
			   const struct profile_filter *f)
{
	char tid[16];

	if (!f->n_threads || matches_any(t->name, f->threads, f->n_threads))
		return true;
	snprintf(tid, sizeof(tid), "%u", t->tid);
	for (size_t i = 0; i < f->n_threads; i++)
		if (!strcmp(tid, f->threads[i]))
			return true;
	return false;
}

static bool process_matches(const struct process_info *process,
			    const struct profile_filter *f)
{
	for (size_t i = 0; i < f->n_pids; i++)
		if (f->pids[i] == process->pid)
			return true;
	return !f->n_pids;
}

static void list_threads(struct profile *p)
{
	const struct profile_filter *f = &p->filter;

	for (uint32_t i = 0; i < p->n_threads; i++)
		p->thread_passes[i] = !f->n_thread_ids;
	for (size_t i = 0; i < f->n_thread_ids; i++)
		if (f->thread_ids[i] < p->n_threads)
			p->thread_passes[f->thread_ids[i]] = true;
}

static void select_threads(struct profile *p)
{
	list_threads(p);
	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct thread_info *t = reader_thread(p->reader, i);

		p->thread_passes[i] =
			p->thread_passes[i] && thread_matches(t, &p->filter) &&
			process_matches(reader_process(p->reader, t->process),
					&p->filter);
	}
}

enum { HAS_FUNCTION = 1, HAS_FILE = 2 };

/* Per function, which of the two pattern lists it satisfies. */
static unsigned char *match_functions(const struct profile *p)
{
	const struct profile_filter *f = &p->filter;
	uint32_t n = reader_functions(p->reader);
	unsigned char *has = xcalloc(n, 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *info =
			reader_function(p->reader, i);

		if (matches_any(info->name, f->functions, f->n_functions))
			has[i] |= HAS_FUNCTION;
		if (matches_any(info->file, f->files, f->n_files) ||
		    (*info->module &&
		     matches_any(info->module, f->files, f->n_files)))
			has[i] |= HAS_FILE;
	}
	return has;
}

/* A stack passes when some frame of it satisfies each list that was given;
 * what an ancestor satisfies, a node satisfies too. */
static void select_nodes(struct profile *p)
{
	unsigned char wanted = (p->filter.n_functions ? HAS_FUNCTION : 0) |
			       (p->filter.n_files ? HAS_FILE : 0);
	unsigned char *has, *seen;

	if (!wanted)
		return;
	p->node_passes = xcalloc(p->n_nodes, sizeof(*p->node_passes));
	has = match_functions(p);
	seen = xcalloc(p->n_nodes, 1);
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		struct node_info node = reader_node(p->reader, i);
		struct frame_info frame = reader_frame(p->reader, node.frame);

		seen[i] = has[frame.function];
		if (node.parent != ID_NONE)
			seen[i] |= seen[node.parent];
		p->node_passes[i] = (seen[i] & wanted) == wanted;
	}
	free(seen);
	free(has);
}

static bool run_passes(const struct profile *p, const struct run *run)
{
	if (p->filter.mode == MODE_CPU && !(run->state & STATE_ON_CPU))
		return false;
	if (p->filter.mode == MODE_GIL && !(run->state & STATE_GIL))
		return false;
	if (!p->thread_passes[run->thread])
		return false;
	return !p->node_passes ||
	       (run->node != ID_NONE && p->node_passes[run->node]);
}

/* The first of the block's ticks that is not before `when`. */
static uint32_t tick_at(const struct sample_block *b, uint64_t when)
{
	uint32_t low = 0, high = b->n_ticks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (b->ticks[middle] < when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t window_end(const struct profile *p)
{
	return p->filter.to ? p->filter.to : UINT64_MAX;
}

struct pass {
	struct profile *profile;
	profile_visit *visit;
	void *context;
	uint64_t seen; /* samples in the window, before the other filters */
};

/* Cut the runs of a block to its ticks [first, end) and show those that pass.
 */
static int pass_block(struct pass *pass, const struct sample_block *b,
		      uint32_t first, uint32_t end)
{
	for (uint32_t i = 0; i < b->n_runs; i++) {
		struct run run = b->runs[i];
		uint32_t stop = run.first_tick + run.ticks;
		int status;

		if (run.first_tick < first)
			run.first_tick = first;
		if (stop > end)
			stop = end;
		if (run.first_tick >= stop)
			continue;
		run.ticks = stop - run.first_tick;
		pass->seen += run.ticks;
		if (!run_passes(pass->profile, &run))
			continue;
		status = pass->visit(pass->context, &run,
				     b->ticks[run.first_tick],
				     b->ticks[stop - 1]);
		if (status)
			return status;
	}
	return 0;
}

static int pass_over(struct pass *pass, struct error *err)
{
	struct profile *p = pass->profile;
	uint64_t from = p->filter.from, to = window_end(p);
	size_t n = reader_blocks(p->reader);
	struct sample_block block;
	uint64_t first, last;
	uint32_t stride = p->filter.stride ? p->filter.stride : 1;
	int status;

	for (size_t i = 0; i < n; i += stride) {
		reader_block_times(p->reader, i, &first, &last);
		if (last < from || first >= to)
			continue;
		status = reader_block(p->reader, i, &block, err);
		if (status < 0)
			return status;
		status = pass_block(pass, &block, tick_at(&block, from),
				    tick_at(&block, to));
		if (status)
			return status;
	}
	return 0;
}

int profile_each_run(struct profile *p, profile_visit *visit, void *context,
		     struct error *err)
{
	struct pass pass = { p, visit, context, 0 };

	return pass_over(&pass, err);
}

static void count_gc(struct profile *p, const struct run *run)
{
	uint32_t at = map_get(&p->gc_by_stack, run->thread, run->node);

	if (at == MAP_NONE) {
		at = p->n_gc++;
		ALLOC_GROW(p->gc, p->n_gc, p->gc_capacity);
		p->gc[at] = (struct gc_count){ run->thread, run->node, 0 };
		map_put(&p->gc_by_stack, run->thread, run->node, at);
	}
	p->gc[at].samples += run->ticks;
}

static int count_run(void *context, const struct run *run, uint64_t first,
		     uint64_t last)
{
	struct profile *p = context;
	struct profile_thread *t = &p->threads[run->thread];

	p->samples += run->ticks;
	if (run->node == ID_NONE)
		p->no_stack += run->ticks;
	else
		p->self[run->node] += run->ticks;
	t->samples += run->ticks;
	t->on_cpu += run->state & STATE_ON_CPU ? run->ticks : 0;
	t->gil += run->state & STATE_GIL ? run->ticks : 0;
	t->gil_wait += run->state & STATE_GIL_WAIT ? run->ticks : 0;
	t->gc += run->state & STATE_GC ? run->ticks : 0;
	if (run->state & STATE_GC && run->node != ID_NONE)
		count_gc(p, run);
	p->torn += run->state & STATE_TORN ? run->ticks : 0;
	p->unproven += run->state & STATE_UNPROVEN ? run->ticks : 0;
	p->unreadable += run->state & STATE_UNREADABLE ? run->ticks : 0;
	p->native += run->state & STATE_NATIVE ? run->ticks : 0;
	p->broken += run->state & STATE_BROKEN ? run->ticks : 0;
	p->unmerged += run->state & STATE_UNMERGED ? run->ticks : 0;
	return 0;
}

/* A parent has a smaller id than its children, so that one sweep from the end
 * carries every count to the root. */
static void sum_totals(struct profile *p)
{
	for (uint32_t i = p->n_nodes; i-- > 0;) {
		uint32_t parent = reader_node(p->reader, i).parent;

		p->total[i] += p->self[i];
		if (parent != ID_NONE)
			p->total[parent] += p->total[i];
	}
}

/* By function: whether it stands for one that could not be read. */
static bool *find_nameless(const struct profile *p, bool *any)
{
	uint32_t n = reader_functions(p->reader);
	bool *nameless = xcalloc(n, sizeof(*nameless));

	*any = false;
	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(p->reader, i);

		nameless[i] = f->kind == FUNCTION_MARK &&
			      !strcmp(f->name, UNREADABLE_FUNCTION);
		*any |= nameless[i];
	}
	return nameless;
}

/* From the roots on, each stack once: at the outermost such function. */
static void count_nameless(struct profile *p)
{
	bool any, *nameless = find_nameless(p, &any);
	bool *within = xcalloc(any ? p->n_nodes : 0, sizeof(*within));

	for (uint32_t i = 0; any && i < p->n_nodes; i++) {
		struct node_info node = reader_node(p->reader, i);
		bool above = node.parent != ID_NONE && within[node.parent];

		within[i] =
			above ||
			nameless[reader_frame(p->reader, node.frame).function];
		if (within[i] && !above)
			p->nameless += p->total[i];
	}
	free(within);
	free(nameless);
}

uint64_t profile_recorded_until(const struct reader *reader)
{
	uint64_t end = reader_info(reader)->duration, first, last;
	size_t n = reader_blocks(reader);

	if (!n)
		return end;
	reader_block_times(reader, n - 1, &first, &last);
	return last > end ? last : end;
}

/* When the first tick was taken: before, there may have been no Python yet. */
static uint64_t first_tick(const struct profile *p)
{
	uint64_t first = 0, last;

	if (reader_blocks(p->reader))
		reader_block_times(p->reader, 0, &first, &last);
	return first;
}

/* A tick stands for the time between ticks as it came out, not as it was asked
 * for: what was missed is spread over what was seen. Time in which there was no
 * Python is nobody's: it stood before the first tick in recordings that do not
 * tell. Of one of those that broke off the recorder's last count is older than
 * its last samples. */
static double seconds_per_tick(const struct profile *p)
{
	const struct recording_info *info = reader_info(p->reader);
	uint64_t first = first_tick(p), before = info->period / 2;
	uint64_t unwatched = first > before ? first - before : 0;

	if (info->ticks && info->watched)
		return (double)info->watched / (double)info->ticks /
		       NS_PER_SECOND;
	if (info->ticks && info->duration > unwatched &&
	    (info->complete || !info->period))
		return (double)(info->duration - unwatched) /
		       (double)info->ticks / NS_PER_SECOND;
	return (double)info->period / NS_PER_SECOND;
}

static void measure_time(struct profile *p)
{
	uint64_t end = profile_recorded_until(p->reader);

	if (end > window_end(p))
		end = window_end(p);
	p->duration = end > p->filter.from
			      ? (double)(end - p->filter.from) / NS_PER_SECOND
			      : 0;
	p->seconds_per_sample = seconds_per_tick(p);
	p->seconds = (double)p->samples * p->seconds_per_sample *
		     (p->filter.stride ? p->filter.stride : 1);
}

static struct profile *profile_over(struct reader *reader,
				    const struct profile_filter *filter)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->reader = reader;
	if (filter)
		p->filter = *filter;
	p->n_nodes = reader_nodes(reader);
	p->n_threads = reader_threads(reader);
	p->threads = xcalloc(p->n_threads, sizeof(*p->threads));
	p->thread_passes = xcalloc(p->n_threads, sizeof(*p->thread_passes));
	select_threads(p);
	select_nodes(p);
	return p;
}

int profile_new(struct profile **out, struct reader *reader,
		const struct profile_filter *filter, struct error *err)
{
	struct profile *p = profile_over(reader, filter);
	struct pass pass = { p, count_run, p, 0 };
	int status;

	p->self = xcalloc(p->n_nodes, sizeof(*p->self));
	p->total = xcalloc(p->n_nodes, sizeof(*p->total));
	status = pass_over(&pass, err);
	if (status < 0) {
		profile_free(p);
		return status;
	}
	p->all_samples = pass.seen;
	sum_totals(p);
	count_nameless(p);
	measure_time(p);
	running_estimate(p);
	*out = p;
	return 0;
}

struct profile *profile_uncounted(struct reader *reader,
				  const struct profile_filter *filter)
{
	struct profile *p = profile_over(reader, filter);

	measure_time(p);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->self);
	free(p->total);
	free(p->threads);
	free(p->gc);
	map_release(&p->gc_by_stack);
	free(p->thread_passes);
	free(p->node_passes);
	free(p);
}

uint32_t profile_stack(const struct profile *p, uint32_t node, uint32_t *frames,
		       uint32_t max)
{
	uint32_t depth = 0, kept;

	for (uint32_t i = node; i != ID_NONE;
	     i = reader_node(p->reader, i).parent)
		depth++;
	kept = depth < max ? depth : max;
	while (kept-- > 0) {
		struct node_info info = reader_node(p->reader, node);

		frames[kept] = info.frame;
		node = info.parent;
	}
	return depth;
}
