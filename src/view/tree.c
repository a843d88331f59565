/* The tree in the terminal.
 *
 * Threads are shown apart, the busiest first, because wall time of different
 * threads does not add up to anything a user has waited for; the shares within
 * a tree are of its own thread's time. Two rules keep a server with 40 workers
 * readable: the threads of a pool (four or more whose names differ only in
 * numbers) share one tree, and threads that only wait (hardly ever on a CPU,
 * always in the same place) get one line together, unless all threads do. */
#include "view/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/running.h"
#include "base/alloc.h"
#include "view/heading.h"

#define LINES_PER_TREE	40
#define LINES_LEAST	8 /* of a thread that does little */
#define TREES		10
#define LEAST_SHARE	0.01
#define TIME_COLUMNS	9
#define SHARE_COLUMNS	7
#define NARROW		60 /* below this, no share beside the time */
#define IDLE_PLACES	3
#define GROUP_INDENT	2  /* of what does not fit the line of a group */
#define IDLE_PLACES_MAX 64 /* that are told apart */

int tree_data_init(struct tree_data *d, const struct view_request *r,
		   struct error *err)
{
	int status;

	*d = (struct tree_data){ .profile = r->profile, .self_text = "[self]" };
	status = tally_count(&d->tally, r->profile, &d->arena, err);
	if (status < 0)
		return status;
	d->places = places_of(r->profile);
	threads_count(&d->threads, r->profile, &d->tally, &d->arena);
	threads_group(&d->groups, &d->threads, r->profile, r->all, &d->arena);
	d->n_open = d->groups.n_groups;
	if (r->idle || r->all)
		return 0;
	while (d->n_open && d->groups.groups[d->n_open - 1].idle)
		d->n_open--;
	return 0;
}

void tree_data_release(struct tree_data *d)
{
	arena_release(&d->arena);
}

void tree_outline(struct outline *out, struct tree_data *d,
		  const struct thread_group *group,
		  const struct outline_options *options)
{
	struct spread spread;
	struct calltree tree;

	spread_init(&spread, d->profile->reader);
	calltree_init(&tree);
	for (uint32_t i = 0; i < group->n_threads; i++)
		spread_add(&spread, &d->tally.threads[group->threads[i]]);
	spread_sum(&spread);
	calltree_add(&tree, &spread);
	calltree_sum(&tree);
	outline_make(out, &tree, d->profile->reader, options, &d->arena);
	calltree_release(&tree);
	spread_release(&spread);
}

/* The lines that join a node to its parent. */
struct guides {
	const char *bar, *gap, *branch, *corner, *more;
	int columns;
};

static const struct guides *guides_for(const struct view_style *style)
{
	static const struct guides unicode = { "\xe2\x94\x82  ",
					       "   ",
					       "\xe2\x94\x9c\xe2\x94\x80 ",
					       "\xe2\x94\x94\xe2\x94\x80 ",
					       "\xe2\x80\xa6",
					       3 };
	static const struct guides narrow = { "\xe2\x94\x82 ", "  ",
					      "\xe2\x94\x9c ", "\xe2\x94\x94 ",
					      "\xe2\x80\xa6",  2 };
	static const struct guides ascii = {
		"|  ", "   ", "|- ", "`- ", "~", 3
	};

	if (!style->unicode)
		return &ascii;
	return style->width < NARROW ? &narrow : &unicode;
}

/* Guides take at most half of the line: of a deep node, the outer ones are left
 * out. `open[d]` says whether a line of depth d is still to come. */
static void add_guides(struct view_line *line, const bool *open, uint32_t depth,
		       bool last)
{
	const struct guides *g = guides_for(line->style);
	uint32_t room = (uint32_t)(line->left / 2 / g->columns), at = 1;

	if (!depth)
		return;
	if (depth > room) {
		at = depth - room + 1;
		view_add(line, INK_DIM, g->more);
	}
	for (; at < depth; at++)
		view_add(line, INK_DIM, open[at] ? g->bar : g->gap);
	view_add(line, INK_DIM, last ? g->corner : g->branch);
}

static void add_hidden(struct view_line *line, const struct outline_line *l)
{
	view_add_format(line, INK_DIM, "  [%u frame%s hidden", l->hidden,
			l->hidden == 1 ? "" : "s");
	for (int i = 0; i < OUTLINE_PACKAGES && l->packages[i]; i++)
		view_add_format(line, INK_DIM, "%s%s", i ? ", " : ": ",
				l->packages[i]);
	view_add(line, INK_DIM, "]");
}

static void add_call(struct view_line *line, const struct places *places,
		     const struct outline_line *l)
{
	place_add_function(line, l->library ? INK_PLAIN : INK_STRONG, places,
			   l->function, 0, false);
	if (l->recursive)
		view_add(line, INK_DIM, "  (recursive)");
	if (l->hidden)
		add_hidden(line, l);
}

static const char *self_text(const struct tree_data *d,
			     const struct outline_line *l)
{
	if (l->function == ID_NONE)
		return "[no Python frame]";
	return l->hidden ? "[hidden frames]" : d->self_text;
}

static void add_what(struct view_line *line, const struct tree_data *d,
		     const struct outline_line *l)
{
	switch (l->kind) {
	case OUTLINE_CALL:
		add_call(line, &d->places, l);
		break;
	case OUTLINE_SELF:
		view_add(line, INK_DIM, self_text(d, l));
		if (l->line)
			view_add_format(line, INK_DIM, "  mostly line %u",
					l->line);
		break;
	case OUTLINE_REST:
		view_add_format(line, INK_DIM, "[%u smaller]", l->count);
		break;
	}
}

static void add_line(struct buffer *out, const struct view_style *style,
		     const struct tree_data *d, const struct outline_line *l,
		     double share, const bool *open, uint32_t depth)
{
	struct view_line line = view_line(out, style);
	double seconds = (double)l->samples * d->profile->seconds_per_sample;
	enum ink ink = view_share_ink(share);

	view_add_right(&line, ink, view_seconds(seconds).text, TIME_COLUMNS);
	if (style->width >= NARROW)
		view_add_right(&line, ink, view_percent(share).text,
			       SHARE_COLUMNS);
	view_add(&line, INK_PLAIN, "  ");
	add_guides(&line, open, depth, l->last);
	add_what(&line, d, l);
	view_end(&line);
}

static uint32_t deepest(const struct outline *outline, uint32_t from,
			uint32_t to)
{
	uint32_t depth = 0;

	for (uint32_t i = from; i < to; i++)
		if (outline->lines[i].depth > depth)
			depth = outline->lines[i].depth;
	return depth;
}

void tree_lines(struct buffer *out, const struct view_style *style,
		const struct tree_data *d, const struct outline *outline,
		uint32_t from, uint32_t to, uint32_t depth)
{
	bool *open =
		xcalloc((size_t)deepest(outline, from, to) + 2, sizeof(*open));

	for (uint32_t i = from; i < to; i++) {
		const struct outline_line *l = &outline->lines[i];
		uint32_t level = l->depth > depth ? l->depth - depth : 0;

		open[level] = !l->last;
		add_line(out, style, d, l,
			 (double)l->samples / (double)outline->samples, open,
			 level);
	}
	free(open);
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static bool has_processes(const struct tree_data *d)
{
	for (uint32_t i = 1; i < d->groups.n_groups; i++)
		if (d->groups.groups[i].process != d->groups.groups[0].process)
			return true;
	return false;
}

void tree_group_line(struct buffer *out, const struct view_style *style,
		     const struct tree_data *d,
		     const struct thread_group *group, bool name_top)
{
	const struct reader *reader = d->profile->reader;
	const struct profile_thread *c = &group->counts;
	struct view_line line = view_line(out, style);
	double seconds = (double)c->samples * d->profile->seconds_per_sample;

	line.indent = GROUP_INDENT;
	if (has_processes(d))
		view_add_format(&line, INK_STRONG, "process %u ",
				reader_process(reader, group->process)->pid);
	if (group->n_threads > 1)
		view_add_format(&line, INK_STRONG, "%u threads ",
				group->n_threads);
	view_add_cut(&line, INK_STRONG,
		     group->name[0] ? group->name : "(unnamed thread)",
		     line.left / 2, false);
	if (group->n_threads == 1)
		view_words_format(
			&line, INK_DIM, "  tid %u",
			reader_thread(reader, group->threads[0])->tid);
	view_words_format(&line, INK_PLAIN, "  %s, %.0f%% on CPU",
			  view_seconds(seconds).text,
			  100 * share_of(running_samples(c), c->samples));
	if (c->gil_wait * 100 >= c->samples && c->gil_wait)
		view_words_format(&line, INK_WARM,
				  ", %.0f%% waiting for the GIL",
				  100 * share_of(c->gil_wait, c->samples));
	if (name_top && group->top_samples * 2 > c->samples)
		view_words_format(&line, INK_DIM, ", mostly in %s",
				  reader_function(reader, group->top)->name);
	view_end(&line);
}

/* Where idle threads wait: functions and how many threads are there. */
struct waiting {
	uint32_t function, threads;
};

static int most_first(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->threads != y->threads)
		return x->threads < y->threads ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static uint32_t find_waiting(const struct tree_data *d, struct waiting *w,
			     uint32_t *n_threads)
{
	uint32_t n = 0, k;

	*n_threads = 0;
	for (uint32_t i = 0; i < d->threads.n_rows; i++) {
		const struct thread_row *row = &d->threads.rows[i];

		if (!row->idle)
			continue;
		++*n_threads;
		for (k = 0; k < n && w[k].function != row->top; k++)
			continue;
		if (k == IDLE_PLACES_MAX)
			continue;
		if (k == n)
			w[n++] = (struct waiting){ row->top, 0 };
		w[k].threads++;
	}
	if (n)
		qsort(w, n, sizeof(*w), most_first);
	return n;
}

static void add_waiting(struct view_facts *facts, const struct tree_data *d,
			const struct waiting *w)
{
	struct buffer place = BUFFER_INIT;
	const char *name;

	if (w->function == ID_NONE) {
		view_fact(facts, INK_DIM, "%u without a Python frame",
			  w->threads);
		return;
	}
	place_add(&place, &d->places, w->function, 0);
	name = reader_function(d->profile->reader, w->function)->name;
	if (place.size)
		view_fact(facts, INK_DIM, "%u in %s (%s)", w->threads, name,
			  buffer_text(&place));
	else
		view_fact(facts, INK_DIM, "%u in %s", w->threads, name);
	buffer_release(&place);
}

void tree_idle_line(struct buffer *out, const struct view_style *style,
		    const struct tree_data *d)
{
	struct waiting w[IDLE_PLACES_MAX];
	struct view_facts facts = view_facts(out, style);
	uint32_t threads, n = find_waiting(d, w, &threads);

	if (d->n_open < d->groups.n_groups) {
		view_fact(&facts, INK_PLAIN,
			  threads == 1 ? "%u thread only waited"
				       : "%u threads only waited",
			  threads);
		for (uint32_t i = 0; i < n && i < IDLE_PLACES; i++)
			add_waiting(&facts, d, &w[i]);
		view_fact(&facts, INK_DIM, "report --idle shows them");
		view_facts_end(&facts);
	}
}

double tree_group_half(const struct thread_group *group)
{
	/* As many independent looks as the pool's threads have on average. */
	double ticks = (double)group->counts.samples / group->n_threads;

	return interval_half(share_interval_of(0.5, ticks));
}

struct outline_options tree_options(const struct view_request *r,
				    const struct tree_data *d,
				    const struct thread_group *group)
{
	double most = (double)running_samples(&d->groups.groups[0].counts) + 1;
	double share = (double)(running_samples(&group->counts) + 1) / most;
	uint32_t lines = (uint32_t)(LINES_PER_TREE * fmin(share, 1));

	if (lines < LINES_LEAST)
		lines = LINES_LEAST;
	return (struct outline_options){
		.least = r->all ? 0 : LEAST_SHARE,
		.limit = r->all	    ? 0
			 : r->limit ? r->limit
				    : lines,
		.unfolded = r->all,
	};
}

static void add_left_out(struct buffer *out, const struct view_style *style,
			 const struct outline *o)
{
	struct view_line line = view_line(out, style);

	if (!o->branches)
		return;
	view_add_format(&line, INK_DIM,
			"%u smaller branch%s not shown, the largest %s (--all)",
			o->branches, o->branches == 1 ? "" : "es",
			view_percent(share_of(o->largest, o->samples)).text);
	view_end(&line);
}

static void add_tree(struct buffer *out, const struct view_request *r,
		     struct tree_data *d, const struct thread_group *group)
{
	struct outline_options options = tree_options(r, d, group);
	struct outline outline;

	tree_outline(&outline, d, group, &options);
	if (d->groups.n_groups > 1)
		tree_group_line(out, r->style, d, group, false);
	tree_lines(out, r->style, d, &outline, 0, outline.n_lines, 0);
	add_left_out(out, r->style, &outline);
	buffer_add_byte(out, '\n');
}

static void add_trees(struct buffer *out, const struct view_request *r,
		      struct tree_data *d)
{
	struct view_certainty certainty = { 0 };
	uint32_t shown = d->n_open;

	if (shown > TREES && !r->all)
		shown = TREES;
	for (uint32_t i = 0; i < shown; i++) {
		double half = tree_group_half(&d->groups.groups[i]);

		certainty.half = i ? certainty.half : half;
		certainty.widest = fmax(certainty.widest, half);
		add_tree(out, r, d, &d->groups.groups[i]);
	}
	if (shown < d->n_open)
		buffer_printf(out, "%u more thread%s with less time (--all)\n",
			      d->n_open - shown,
			      d->n_open - shown > 1 ? "s" : "");
	tree_idle_line(out, r->style, d);
	view_footing(out, d->profile, r->style, &certainty);
}

int view_tree(struct buffer *out, const struct view_request *r,
	      struct error *err)
{
	struct tree_data d;
	int status = tree_data_init(&d, r, err);

	if (status == 0) {
		view_heading(out, r);
		if (!r->profile->samples)
			view_nothing(out, r);
		add_trees(out, r, &d);
	}
	tree_data_release(&d);
	return status;
}
