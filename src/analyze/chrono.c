/* The flame graph in order of time. A million samples do not fit side by side
 * onto a screen: each column of the picture shows one stack, and neighbouring
 * columns share the boxes of the callers that they have in common. The cost of
 * the picture goes by columns times depth, whatever the recording. */
#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "analyze/spans.h"
#include "analyze/timeline.h"
#include "base/alloc.h"

#define LEVELS 1024 /* deeper boxes are left out */

struct column {
	uint32_t node;
	bool gc;
	double seen; /* how much of the column, 0 to 1; 0: nothing */
};

struct choosing {
	const struct profile *profile;
	uint32_t thread, n_columns;
	struct column *columns;
	struct spans spans;
	double from, width;
};

static int choose_run(void *context, const struct run *run, uint64_t first,
		      uint64_t last)
{
	struct choosing *c = context;
	double low, high;

	if (run->thread != c->thread)
		return 0;
	spans_of(&c->spans, run, first, last, &low, &high);
	low = (low - c->from) / c->width;
	high = (high - c->from) / c->width;
	low = low < 0 ? 0 : low;
	high = high > c->n_columns ? c->n_columns : high;
	for (uint32_t i = (uint32_t)low; i < high; i++) {
		double left = i > low ? i : low;
		double right = i + 1 < high ? i + 1 : high;

		if (right - left > c->columns[i].seen)
			c->columns[i] = (struct column){ run->node,
							 run->state & STATE_GC,
							 right - left };
	}
	return 0;
}

/* The stack of a column by function, outermost first. */
struct path {
	uint32_t functions[LEVELS], n;
};

struct joining {
	struct chrono *out;
	const struct profile *profile;
	struct chrono_options how;
	struct path open;	 /* boxes that go on so far */
	uint32_t starts[LEVELS]; /* where each began */
};

static bool is_library(const struct reader *reader, uint32_t function)
{
	return origin_is_library(reader_function(reader, function));
}

/* Library code below library code is folded into it. */
static void fold(const struct reader *reader, struct path *p)
{
	uint32_t n = 0;
	bool before = false;

	for (uint32_t i = 0; i < p->n; i++) {
		bool library = is_library(reader, p->functions[i]);

		if (!library || !before)
			p->functions[n++] = p->functions[i];
		before = library;
	}
	p->n = n;
}

static void reverse(struct path *p)
{
	for (uint32_t i = 0, k = p->n; i + 1 < k; i++) {
		uint32_t kept = p->functions[i];

		p->functions[i] = p->functions[--k];
		p->functions[k] = kept;
	}
}

static void take_path(const struct joining *j, const struct column *column,
		      struct path *p)
{
	const struct reader *reader = j->profile->reader;
	uint32_t depth;

	p->n = 0;
	if (!(column->seen > 0) || column->node == ID_NONE)
		return;
	depth = profile_stack(j->profile, column->node, p->functions, LEVELS);
	p->n = depth < LEVELS ? depth : LEVELS;
	for (uint32_t i = 0; i < p->n; i++)
		p->functions[i] =
			reader_frame(reader, p->functions[i]).function;
	if (j->how.mine)
		fold(reader, p);
	if (column->gc && p->n < LEVELS)
		p->functions[p->n++] = CHRONO_GC;
	if (j->how.inverted)
		reverse(p);
}

static void close_box(struct joining *j, uint32_t depth, uint32_t end)
{
	struct chrono *c = j->out;

	ALLOC_GROW(c->items, c->count + 1, c->capacity);
	c->items[c->count++] =
		(struct chrono_box){ j->open.functions[depth], depth,
				     j->starts[depth], end };
	if (depth + 1 > c->depth)
		c->depth = depth + 1;
}

static void join_column(struct joining *j, const struct path *p, uint32_t at)
{
	uint32_t common = 0;

	while (common < p->n && common < j->open.n &&
	       p->functions[common] == j->open.functions[common])
		common++;
	for (uint32_t i = j->open.n; i-- > common;)
		close_box(j, i, at);
	for (uint32_t i = common; i < p->n; i++)
		j->starts[i] = at;
	j->open = *p;
}

static void join_columns(struct joining *j, const struct choosing *c)
{
	struct path path;

	for (uint32_t i = 0; i <= c->n_columns; i++) {
		path.n = 0;
		if (i < c->n_columns)
			take_path(j, &c->columns[i], &path);
		join_column(j, &path, i);
	}
}

int chrono_count(struct chrono *out, struct profile *p, uint32_t thread,
		 uint32_t n_columns, const struct chrono_options *options,
		 struct error *err)
{
	struct choosing c = {
		.profile = p,
		.thread = thread,
		.n_columns = n_columns,
		.columns = xcalloc(n_columns, sizeof(*c.columns)),
		.from = (double)p->filter.from,
		.width = (double)(p->filter.to - p->filter.from) / n_columns,
	};
	struct joining *j = xcalloc(1, sizeof(*j));
	int status;

	status = spans_each_run(&c.spans, p, choose_run, &c, err);
	*out = (struct chrono){ 0 };
	j->out = out;
	j->profile = p;
	j->how = *options;
	if (!status)
		join_columns(j, &c);
	free(c.columns);
	free(j);
	return status;
}

void chrono_release(struct chrono *c)
{
	free(c->items);
	*c = (struct chrono){ 0 };
}
