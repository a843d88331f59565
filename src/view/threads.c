#include "analyze/threads.h"

#include <stdlib.h>

#include "analyze/running.h"
#include "base/alloc.h"
#include "view/heading.h"
#include "view/place.h"

#define THREADS 40
#define NARROW	60 /* below this, little beside the name */

enum column { TID, TIME, SAMPLES, CPU, GIL, WAIT, GC, N };

static const struct {
	const char *title;
	int columns, least_width;
} columns[N] = {
	[TID] = { "tid", 9, 80 },
	[TIME] = { "time", 9, 0 },
	[SAMPLES] = { "samples", 12, 110 },
	[CPU] = { "CPU%", 6, 0 },
	[GIL] = { "GIL%", 6, 60 },
	[WAIT] = { "wait%", 6, 70 },
	[GC] = { "GC%", 6, 90 },
};

static int name_columns(const struct view_style *style)
{
	return style->width < NARROW ? 14 : style->width < 100 ? 20 : 30;
}

static void add_titles(struct buffer *out, const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	view_add_left(&line, INK_DIM, "thread", name_columns(style));
	for (int i = 0; i < N; i++)
		if (style->width >= columns[i].least_width)
			view_add_right(&line, INK_DIM, columns[i].title,
				       columns[i].columns);
	view_add(&line, INK_DIM,
		 style->width < NARROW ? "  in" : "  most often in");
	view_end(&line);
}

static struct view_number percent(uint64_t part, const struct profile_thread *t)
{
	struct view_number n = view_points((double)part / (double)t->samples);

	return part ? n : (struct view_number){ "0" };
}

/* Where the thread was seen most often, which need not be often. */
static void add_top(struct view_line *line, const struct places *places,
		    const struct thread_row *row)
{
	if (line->style->width < NARROW)
		view_add(line, INK_PLAIN, "  ");
	else
		view_add_format(line, INK_DIM, " %4.0f%% ",
				100 * (double)row->top_samples /
					(double)row->counts.samples);
	place_add_function(line, INK_PLAIN, places, row->top, 0, true);
}

static void add_row(struct buffer *out, const struct view_request *r,
		    const struct places *places, const struct thread_row *row)
{
	const struct thread_info *info =
		reader_thread(places->reader, row->thread);
	const struct profile_thread *c = &row->counts;
	struct view_line line = view_line(out, r->style);
	struct view_number texts[N] = {
		[TID] = view_integer(info->tid),
		[TIME] = view_seconds((double)c->samples *
				      r->profile->seconds_per_sample),
		[SAMPLES] = view_count(c->samples),
		[CPU] = percent(running_samples(c), c),
		[GIL] = percent(c->gil, c),
		[WAIT] = percent(c->gil_wait, c),
		[GC] = percent(c->gc, c),
	};

	view_add_left(&line, row->idle ? INK_DIM : INK_STRONG,
		      info->name[0] ? info->name : "(unnamed)",
		      name_columns(r->style));
	for (int i = 0; i < N; i++)
		if (r->style->width >= columns[i].least_width)
			view_add_right(&line, INK_PLAIN, texts[i].text,
				       columns[i].columns);
	if (row->top != ID_NONE)
		add_top(&line, places, row);
	view_end(&line);
}

static uint32_t rows_shown(const struct view_request *r,
			   const struct threads *t)
{
	uint32_t limit = r->limit ? r->limit : THREADS;

	return r->all || t->n_rows < limit ? t->n_rows : limit;
}

static void add_process(struct buffer *out, const struct view_request *r,
			uint32_t process)
{
	const struct process_info *info =
		reader_process(r->profile->reader, process);
	struct view_line line = view_line(out, r->style);

	view_add_format(&line, INK_STRONG, "process %u", info->pid);
	view_add_format(&line, INK_DIM, "  %s", info->command);
	view_end(&line);
}

static uint32_t process_of(const struct view_request *r,
			   const struct threads *t, uint32_t row)
{
	return reader_thread(r->profile->reader, t->rows[row].thread)->process;
}

/* The rows of one process, beginning at its busiest. */
static void add_process_rows(struct buffer *out, const struct view_request *r,
			     const struct places *places,
			     const struct threads *t, uint32_t first,
			     uint32_t end)
{
	uint32_t process = process_of(r, t, first);

	if (reader_processes(places->reader) > 1)
		add_process(out, r, process);
	for (uint32_t i = first; i < end; i++)
		if (process_of(r, t, i) == process)
			add_row(out, r, places, &t->rows[i]);
}

static void add_rows(struct buffer *out, const struct view_request *r,
		     const struct threads *t)
{
	struct places places = places_of(r->profile);
	uint32_t shown = rows_shown(r, t);
	bool *done = xcalloc(reader_processes(places.reader), sizeof(*done));

	add_titles(out, r->style);
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t process = process_of(r, t, i);

		if (!done[process])
			add_process_rows(out, r, &places, t, i, shown);
		done[process] = true;
	}
	if (shown < t->n_rows)
		buffer_printf(out, "%u more thread%s (--all)\n",
			      t->n_rows - shown,
			      t->n_rows - shown > 1 ? "s" : "");
	buffer_add_byte(out, '\n');
	free(done);
}

static int count(struct threads *t, const struct view_request *r,
		 struct arena *arena, struct error *err)
{
	struct tally tally;
	int status = tally_count(&tally, r->profile, arena, err);

	if (status == 0)
		threads_count(t, r->profile, &tally, arena);
	return status;
}

int view_threads(struct buffer *out, const struct view_request *r,
		 struct error *err)
{
	struct view_certainty certainty = { 0 };
	struct arena arena = ARENA_INIT;
	struct threads t;
	int status = count(&t, r, &arena, err);

	if (status == 0) {
		view_heading(out, r);
		if (t.n_rows)
			add_rows(out, r, &t);
		else
			view_nothing(out, r);
		view_footing(out, r->profile, r->style, &certainty);
	}
	arena_release(&arena);
	return status;
}

static void add_row_json(struct json *j, const struct view_request *r,
			 const struct thread_row *row)
{
	const struct reader *reader = r->profile->reader;
	const struct thread_info *info = reader_thread(reader, row->thread);
	const struct profile_thread *c = &row->counts;

	json_open(j, NULL, '{');
	json_string(j, "name", info->name);
	json_int(j, "tid", info->tid);
	json_int(j, "pid", reader_process(reader, info->process)->pid);
	json_bool(j, "main", info->main);
	json_bool(j, "idle", row->idle);
	json_int(j, "samples", (int64_t)c->samples);
	json_double(j, "seconds",
		    (double)c->samples * r->profile->seconds_per_sample);
	json_int(j, "on_cpu", (int64_t)c->on_cpu);
	json_int(j, "ready", (int64_t)c->ready);
	json_int(j, "gil", (int64_t)c->gil);
	json_int(j, "gil_wait", (int64_t)c->gil_wait);
	json_int(j, "gc", (int64_t)c->gc);
	if (row->top == ID_NONE) {
		json_null(j, "top");
	} else {
		json_open(j, "top", '{');
		view_json_function(j, r->profile, row->top);
		json_int(j, "samples", (int64_t)row->top_samples);
		json_close(j);
	}
	json_close(j);
}

int view_threads_json(struct buffer *out, const struct view_request *r,
		      struct error *err)
{
	struct arena arena = ARENA_INIT;
	struct threads t;
	int status = count(&t, r, &arena, err);
	struct json j;

	if (status == 0) {
		j = view_json_begin(out, r, "threads");
		json_open(&j, "threads", '[');
		for (uint32_t i = 0; i < rows_shown(r, &t); i++)
			add_row_json(&j, r, &t.rows[i]);
		json_close(&j);
		view_json_end(&j);
	}
	arena_release(&arena);
	return status;
}
