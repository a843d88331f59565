#include "view/summary.h"

#include "analyze/hotspots.h"
#include "view/heading.h"
#include "view/tree.h"

#define SPOTS	    8
#define OTHERS	    3
#define LEAST_SHARE 0.01

static void add_headline(struct buffer *out, const struct profile *p,
			 const struct view_style *style)
{
	struct view_facts facts = view_facts(out, style);
	double cpu = view_cpu_seconds(p);

	view_fact(&facts, INK_STRONG, "%s recorded",
		  view_seconds(p->duration).text);
	view_fact(&facts, INK_PLAIN, "CPU time %s (%.0f%% of a core)",
		  view_seconds(cpu).text,
		  p->duration > 0 ? 100 * cpu / p->duration : 0);
	view_facts_end(&facts);
}

static void count_spots(struct hotspots *out, struct tree_data *d,
			const struct thread_group *group)
{
	struct spread spread;

	spread_init(&spread, d->profile->reader);
	for (uint32_t i = 0; i < group->n_threads; i++)
		spread_add(&spread, &d->tally.threads[group->threads[i]]);
	spread_sum(&spread);
	hotspots_count(out, &spread, &d->arena);
	spread_release(&spread);
}

/* "parse  app.py:20  mostly in loads": with the line and the call that are most
 * of it, where there is one. */
static void add_spot(struct buffer *out, const struct tree_data *d,
		     const struct view_style *style, const struct hotspot *spot,
		     double share)
{
	struct view_line line = view_line(out, style);
	double seconds = (double)spot->samples * d->profile->seconds_per_sample;
	bool has_line = spot->line_samples * 2 > spot->samples;
	enum ink ink = view_share_ink(share);

	view_add_right(&line, ink, view_seconds(seconds).text, 9);
	view_add_right(&line, ink, view_percent(share).text, 7);
	view_add(&line, INK_PLAIN, "  ");
	place_add_function(&line, INK_STRONG, &d->places, spot->function,
			   has_line ? spot->line : 0, false);
	if (spot->call_samples * 2 > spot->samples)
		view_add_format(
			&line, INK_DIM, "  mostly in %s",
			reader_function(d->profile->reader, spot->call)->name);
	view_end(&line);
}

static void add_elsewhere(struct buffer *out, const struct tree_data *d,
			  const struct view_style *style,
			  const struct hotspots *spots)
{
	struct view_line line = view_line(out, style);
	double unit = d->profile->seconds_per_sample;
	uint64_t most = spots->elsewhere_in_samples;
	double all = (double)(spots->samples + spots->elsewhere);

	if ((double)spots->elsewhere <= LEAST_SHARE * all)
		return;
	view_add_right(&line, INK_DIM,
		       view_seconds((double)spots->elsewhere * unit).text, 9);
	view_add_right(&line, INK_DIM,
		       view_percent((double)spots->elsewhere / all).text, 7);
	view_add(&line, INK_DIM, "  in no code of yours, ");
	if (most * 2 > spots->elsewhere)
		view_add(&line, INK_DIM, "mostly in ");
	else
		view_add_format(&line, INK_DIM, "most often (%.0f%%) in ",
				100 * (double)most / (double)spots->elsewhere);
	place_add_function(&line, INK_DIM, &d->places, spots->elsewhere_in, 0,
			   false);
	view_end(&line);
}

static void add_spots(struct buffer *out, struct tree_data *d,
		      const struct view_style *style,
		      const struct thread_group *group)
{
	struct hotspots spots;
	double all;
	uint32_t i;

	count_spots(&spots, d, group);
	all = (double)(spots.samples + spots.elsewhere);
	for (i = 0; i < spots.n_spots && i < SPOTS; i++) {
		const struct hotspot *spot = &spots.spots[i];
		double share = (double)spot->samples / all;

		if (i && share < LEAST_SHARE)
			break;
		add_spot(out, d, style, spot, share);
	}
	if (i < spots.n_spots)
		buffer_printf(out, "%18s%u more function%s\n", "",
			      spots.n_spots - i,
			      spots.n_spots - i == 1 ? "" : "s");
	add_elsewhere(out, d, style, &spots);
}

static void add_other_threads(struct buffer *out, struct tree_data *d,
			      const struct view_style *style)
{
	uint32_t shown = d->n_open > OTHERS + 1 ? OTHERS + 1 : d->n_open;

	for (uint32_t i = 1; i < shown; i++)
		tree_group_line(out, style, d, &d->groups.groups[i], true);
	if (shown < d->n_open)
		buffer_printf(out, "%u more thread%s\n", d->n_open - shown,
			      d->n_open - shown > 1 ? "s" : "");
	tree_idle_line(out, style, d);
}

/* The times of threads do not add up to anything one waits for, so that the
 * busiest thread, or pool of threads, speaks for the program. */
static void add_body(struct buffer *out, struct tree_data *d,
		     const struct view_style *style)
{
	const struct thread_group *busiest = &d->groups.groups[0];
	struct view_certainty certainty = { .half = tree_group_half(busiest) };

	if (d->groups.n_groups > 1)
		tree_group_line(out, style, d, busiest, false);
	add_spots(out, d, style, busiest);
	add_other_threads(out, d, style);
	view_footing(out, d->profile, style, &certainty);
}

void view_summary(struct buffer *out, struct profile *p,
		  const struct view_style *style)
{
	struct view_request r = { .profile = p, .style = style };
	struct error err = ERROR_INIT;
	struct tree_data d;

	if (tree_data_init(&d, &r, &err) == 0) {
		add_headline(out, p, style);
		if (d.n_open)
			add_body(out, &d, style);
		else
			view_nothing(out, &r);
	} else {
		buffer_printf(out, "no report: %s\n", err.text);
	}
	tree_data_release(&d);
}
