#include <stdlib.h>

#include "base/alloc.h"
#include "os/cores.h"
#include "sample/catch.h"
#include "sample/clocks_private.h"

#define NEAR  2 /* ticks from a row to that at which it is written */
#define SPARE 1 /* rows that may be left over for the next window */

/* ---- all of them ---- */

static struct clock_track *new_track(struct target_thread *python,
				     struct native_thread *native)
{
	struct clock_track *track = xcalloc(1, sizeof(*track));

	track->python = python;
	track->native = native;
	track->clock = -1;
	return track;
}

static struct clock_track *track_of(struct native_thread *thread)
{
	if (!thread->track)
		thread->track = new_track(NULL, thread);
	return thread->track;
}

uint32_t clock_tracks(const struct target *t)
{
	return t->native ? t->native->n_threads : t->n_threads;
}

struct clock_track *clock_track_at(struct target *t, uint32_t i)
{
	if (t->native)
		return track_of(t->native->threads[i]);
	if (!t->threads[i]->track)
		t->threads[i]->track = new_track(t->threads[i], NULL);
	return t->threads[i]->track;
}

uint32_t clock_tracks_ended(const struct target *t)
{
	return t->native ? t->native->n_dead : t->n_ended;
}

struct clock_track *clock_track_ended(const struct target *t, uint32_t i)
{
	return t->native ? t->native->dead[i]->track : t->ended[i]->track;
}

void clock_track_give_back(struct clock_track *track)
{
	if (!track || track->clock < 0)
		return;
	visit_clocks_give_back(track->visits, track->clock);
	track->clock = -1;
}

void clock_track_free(struct clock_track *track)
{
	if (!track)
		return;
	clock_track_give_back(track);
	glimpses_release(&track->glimpses);
	free(track->rows);
	free(track->dozes);
	free(track);
}

/* ---- a window ---- */

/* Whether the last tick found it off CPU, and knows where. */
static bool stands(const struct native_thread *thread)
{
	return thread->standing && !native_on_cpu(thread) &&
	       thread->has_picture && thread->pictured == thread->head;
}

/* Rows that were not written yet stay, if they are few. */
static void keep_rows(struct clock_track *track)
{
	uint32_t kept = track->n_rows - track->next;

	if (kept > SPARE)
		kept = SPARE;
	for (uint32_t i = 0; i < kept; i++)
		track->rows[i] = track->rows[track->n_rows - kept + i];
	track->n_rows = kept;
	track->next = 0;
}

/* What the kernel has counted of it so far. */
static void plan_counts(const struct target *t, struct clock_track *track,
			bool goes_on)
{
	struct target_thread *python = track->python;

	if (!goes_on)
		track->mark = track->turns = 0;
	if (!track->ran && !track->mark)
		track->mark = os_thread_mark(&python->os);
	if (!track->ran || track->turns)
		return;
	track->has_sleeps =
		os_thread_sleeps(t->pid, python->tid, &track->sleeps);
	track->turns = os_thread_turns(&python->os);
}

void clock_track_plan(const struct target *t, struct clock_track *track,
		      bool goes_on)
{
	const struct native_thread *native = track->native;

	if (!track->ran)
		clock_track_give_back(track);
	if (goes_on && track->runs)
		keep_rows(track);
	else
		track->n_rows = track->next = 0;
	track->planned = true;
	track->was_seen = track->seen;
	track->runs = track->full = track->judged = false;
	track->n_glances = track->glimpses.n = track->n_dozes = 0;
	track->position = 0;
	track->first_node = track->node;
	track->first_state = track->state;
	track->last = (struct clock_row){
		.node = track->node,
		.state = track->state,
		.hole = !track->seen || !(track->state & STATE_ON_CPU),
		.taken = true,
	};
	if (native) {
		track->head = native->head;
		track->stood = track->seen && stands(native);
		track->left = native->left;
		track->python = NULL;
	} else {
		plan_counts(t, track, goes_on);
	}
}

static pid_t tid_of(const struct clock_track *track)
{
	return track->native ? track->native->tid : track->python->tid;
}

/* What it is asked for, as of now. */
static bool plan_visit(struct target *t, const struct clock_track *track,
		       struct visit *asked)
{
	const struct native_thread *native = track->native;

	*asked = (struct visit){ .stack_top = native ? native->top : 0 };
	return target_plan_visit(t, track->python, tid_of(track), asked) == 0;
}

bool clock_track_start(struct target *t, struct clock_track *track,
		       uint64_t period)
{
	struct visit asked;

	if (!plan_visit(t, track, &asked))
		return false;
	if (track->clock < 0) {
		track->visits = t->clocks->visits;
		track->clock =
			visit_clocks_take(track->visits, tid_of(track), &asked);
	}
	if (track->clock < 0)
		return false;
	if (!track->rows)
		track->rows = xcalloc(CLOCK_ROWS_MAX, sizeof(*track->rows));
	if (track->native && !track->dozes)
		track->dozes = xcalloc(CLOCK_DOZES_MAX, sizeof(*track->dozes));
	track->runs =
		visit_clocks_start(track->visits, track->clock, &asked, period);
	return track->runs;
}

/* ---- rows ---- */

/* Another code object has been found where one was in the window before: the
 * row has the name of one of the two, and nobody knows which. */
static bool is_doubtful(const struct target *t,
			const struct target_thread *python)
{
	return python && t->clocks->epoch != t->table.epoch &&
	       codes_changed_since(t->codes, python->stack.frames,
				   python->stack.n_frames, t->clocks->pass);
}

static void name_row(struct target *t, const struct clock_track *track,
		     struct clock_row *row)
{
	struct target_thread *python = track->python;
	struct native_thread *native = track->native;

	if (native) {
		row->node =
			native_node(t->native, native, &t->table,
				    python ? target_generation(t, python) : 0);
		row->state =
			python ? python->state
			       : native->state |
					 (native->running ? STATE_ON_CPU : 0);
	} else {
		row->node =
			node_of_stack(&t->table, &python->path, &python->stack,
				      target_generation(t, python));
		row->state = python->state;
	}
	row->hole = is_doubtful(t, python);
}

static void add_row(struct target *t, struct clock_track *track,
		    const struct visit *visit, bool good)
{
	struct clock_row *row = &track->rows[track->n_rows];

	if (track->n_rows == CLOCK_ROWS_MAX) {
		track->full = true;
		return;
	}
	track->n_rows++;
	*row = (struct clock_row){ .time = visit->time, .hole = !good };
	if (good)
		name_row(t, track, row);
}

static void add_doze(struct target *t, struct clock_track *track,
		     const struct visit *visit)
{
	struct clock_row *row = &track->dozes[track->n_dozes];

	if (track->n_dozes == CLOCK_DOZES_MAX)
		return;
	track->n_dozes++;
	*row = (struct clock_row){ .time = visit->time };
	name_row(t, track, row);
}

/* The glances up to some time, from the i-th on; the first that is later. */
static uint32_t add_glances(struct clock_track *track, uint32_t i,
			    uint64_t until)
{
	for (; i < track->n_glances && track->glances[i].time < until; i++)
		if (track->n_rows < CLOCK_ROWS_MAX)
			track->rows[track->n_rows++] = track->glances[i];
	return i;
}

/* What the glimpses found, in the order of their times, before the stack that
 * they belong to is walked again. */
static void name_glimpses(struct target *t, struct clock_track *track)
{
	struct glimpses *g = &track->glimpses;

	for (uint32_t i = 0; i < g->n && track->n_glances < CLOCK_GLANCES_MAX;
	     i++) {
		struct clock_row *row = &track->glances[track->n_glances++];

		*row = (struct clock_row){ .time = g->times[i], .taken = true };
		glimpses_show(g, i, t);
		name_row(t, track, row);
	}
	g->n = 0;
}

static bool take_visit(struct target *t, const struct clock_track *track,
		       const struct visit *visit)
{
	struct target_thread *python = track->python;

	if (track->native)
		return catch_take_visit(t, python, track->native, visit);
	if (target_take_visit(t, python, visit) < 0 || !python->stack.rooted)
		return false;
	python->state |= STATE_RIDDEN;
	return true;
}

void clock_track_take(struct target *t, struct clock_track *track)
{
	enum visit_result result;
	struct visit visit = { 0 };
	uint32_t glance = 0;
	size_t at = 0;

	name_glimpses(t, track);
	while (visit_clocks_next(track->visits, track->clock, &at, &visit,
				 &result)) {
		bool good =
			result == VISIT_TAKEN && take_visit(t, track, &visit);

		glance = add_glances(track, glance, visit.time);
		if (!visit.asleep)
			add_row(t, track, &visit, good);
		else if (good)
			add_doze(t, track, &visit);
	}
	add_glances(track, glance, UINT64_MAX);
	if (track->python)
		track->python->ticked = false; /* glances are over */
	track->full |= visit_clocks_lost(track->visits, track->clock) > 0;
}

/* How much was written of its switches in the window, in bytes. */
static uint64_t switches(const struct clock_track *track)
{
	return track->native ? track->head - track->native->head : 0;
}

bool clock_track_roomy(const struct clock_track *track)
{
	return visit_clocks_roomy(track->visits, track->clock) &&
	       switches(track) <= perf_event_reach() / 2;
}

bool clock_track_was_full(const struct clock_track *track)
{
	return track->full || switches(track) > perf_event_reach();
}

/* One that would be visited has its clock struck, which is a visit, too. Not
 * where we have taken its core. */
static bool strike(struct target *t, struct clock_track *track)
{
	const struct target_thread *python = track->python;
	int core = target_thread_core(python);
	struct visit visit;

	if (core == sched_core() ||
	    !visit_clocks_strike(track->visits, track->clock, core, &visit) ||
	    !visit.whole)
		return false;
	if (stack_same_neighbours(&python->stack, visit.head_copy))
		return true;
	t->last_whole = 0; /* the lists are due */
	return false;
}

bool clock_track_glimpse(struct target *t, struct clock_track *track,
			 uint64_t now)
{
	size_t position;

	if (track->python->to_visit) {
		if (!strike(t, track))
			return false;
	} else {
		position = visit_clocks_position(track->visits, track->clock);
		if (position == track->position ||
		    !glimpses_take(&track->glimpses, t, now))
			return false;
		track->position = position;
	}
	track->glimpsed = now;
	return true;
}

bool clock_track_looked(struct target *t, struct clock_track *track)
{
	glimpses_plan(&track->glimpses, t, track->python);
	return track->python->to_visit || track->glimpses.thread;
}

void clock_track_peek(struct target *t, struct clock_track *track)
{
	size_t position;

	if (!track->runs || !track->python)
		return;
	name_glimpses(t, track);
	position = visit_clocks_position(track->visits, track->clock);
	track->python->ticked = position != track->position;
	track->position = position;
}

void clock_track_glanced(struct clock_track *track, uint64_t now)
{
	/* A glimpse of this moment may have come first, in vain for others. */
	if (track->runs && track->glimpsed != now &&
	    track->n_glances < CLOCK_GLANCES_MAX)
		track->glances[track->n_glances++] =
			(struct clock_row){ .time = now,
					    .node = track->node,
					    .state = track->state,
					    .hole = !track->seen,
					    .taken = true,
					    .visited = track->python->visited };
}

/* ---- what is known of a tick ---- */

static enum clock_found lost_unless(bool found)
{
	return found ? CLOCK_FOUND : CLOCK_LOST;
}

/* Whether the next row is to be passed over: the one behind it is nearer, and
 * there are too many. */
static bool is_surplus(const struct clock_track *track,
		       const struct clock_window *w, uint64_t at)
{
	return track->n_rows > w->ticks + w->ticks / 4 + SPARE &&
	       track->next + 1 < track->n_rows &&
	       track->rows[track->next + 1].time <= at;
}

/* There are about as many rows as ticks, but at moments of their own: each is
 * written once, in order, at the first tick that is free, if one is near. Where
 * the kernel's tick alone makes more of them, the nearest is. */
static bool has_row(struct clock_track *track, const struct clock_window *w,
		    uint64_t at)
{
	const struct clock_row *rows = track->rows;

	while (track->next < track->n_rows &&
	       (rows[track->next].time + NEAR * w->period < at ||
		is_surplus(track, w, at)))
		track->last = rows[track->next++];
	return track->next < track->n_rows &&
	       rows[track->next].time <= at + w->period / 2;
}

static enum clock_found take_row(struct clock_track *track,
				 struct clock_row *row)
{
	track->last = *row = track->rows[track->next++];
	return lost_unless(!row->hole);
}

/* ---- with native stacks: the records of switches say when it ran ---- */

/* One that has neither left its CPU nor come to it ran on. */
static enum perf_doing doing_at(const struct clock_track *track, uint64_t at,
				uint64_t *since)
{
	const struct native_thread *thread = track->native;

	if (thread->running && thread->head == track->head)
		return PERF_ON_CPU;
	return perf_event_at(&thread->event, at, since);
}

/* Whether it was on a CPU from one moment to the other, at which it left. */
static bool ran_until(const struct clock_track *track, uint64_t from,
		      uint64_t left)
{
	uint64_t came;

	return perf_event_at(&track->native->event, left - 1, &came) ==
		       PERF_ON_CPU &&
	       came <= from;
}

/* The picture that was taken as it fell asleep then; NULL: there is none. */
static const struct clock_row *find_doze(const struct clock_track *track,
					 uint64_t since)
{
	const struct clock_row *row = NULL;

	for (uint32_t i = 0; i < track->n_dozes; i++)
		if (track->dozes[i].time <= since)
			row = &track->dozes[i];
	return row && ran_until(track, row->time, since) ? row : NULL;
}

/* A thread was off CPU: from before the window, or to its end, or a picture of
 * its falling asleep was taken; or it was others' turn, and then it stands
 * where it was. */
static enum clock_found find_off(struct target *t,
				 const struct clock_track *track,
				 enum perf_doing doing, uint64_t since,
				 struct clock_row *row)
{
	const struct native_thread *thread = track->native;
	const struct clock_row *doze;

	if (stands(thread) && thread->left == since) {
		row->node = track->node;
		row->state = track->state;
		return lost_unless(track->seen);
	}
	if (track->stood && track->left == since) {
		row->node = track->first_node;
		row->state = track->first_state;
		return CLOCK_FOUND;
	}
	doze = doing == PERF_ASLEEP ? find_doze(track, since) : NULL;
	if (doze) {
		*row = *doze;
		return lost_unless(!row->hole);
	}
	if (doing != PERF_READY || row->hole || track->full)
		return CLOCK_LOST;
	row->node = native_ready_node(t->native, &t->table, row->node);
	row->state &= ~(uint32_t)(STATE_ON_CPU | STATE_RIDDEN);
	return CLOCK_FOUND;
}

/* The kernel does not tell of a thread's last switch. */
static enum clock_found find_clocked(struct target *t,
				     const struct clock_window *w,
				     struct clock_track *track, uint64_t at,
				     struct clock_row *row)
{
	bool next = has_row(track, w, at);
	bool gone = track->native->ended || t->status == -ERR_GONE;
	enum perf_doing doing;
	uint64_t since = 0;

	if (gone && !next)
		return CLOCK_NOBODY;
	doing = gone ? PERF_ON_CPU : doing_at(track, at, &since);
	if (next && (doing == PERF_ON_CPU || doing == PERF_UNKNOWN))
		return take_row(track, row);
	*row = track->last;
	if (doing == PERF_ASLEEP || doing == PERF_READY)
		return find_off(t, track, doing, since, row);
	return lost_unless(doing == PERF_ON_CPU && !row->hole && !track->full);
}

static enum clock_found find_native(struct target *t,
				    const struct clock_window *w,
				    struct clock_track *track, uint64_t at,
				    struct clock_row *row)
{
	const struct native_thread *thread = track->native;

	if (!track->runs && thread->ended)
		return CLOCK_NOBODY;
	if (!track->runs) {
		row->node = track->node;
		row->state = track->state;
		return lost_unless(track->seen && stands(thread) &&
				   thread->head == track->head);
	}
	return find_clocked(t, w, track, at, row);
}

/* ---- without: rows, and what the kernel counts ---- */

/* A row of a thread is taken while it runs, and each is written once: so there
 * are as many of them as there should be, however often it slept. What it did
 * at the other ticks is known if it never slept (it ran on, or waited for a
 * CPU), or if it did once, and still does. */

static bool is_asleep(const struct clock_track *track)
{
	return track->seen && !(track->state & STATE_ON_CPU);
}

/* One that has not left its CPU cannot have slept. The kernel is not asked in
 * each window, so a nap may be of one before, and what was known is lost. */
static void judge_runner(const struct target *t, struct clock_track *track)
{
	uint64_t turns, sleeps = track->sleeps;
	bool had = track->has_sleeps;

	if (track->judged)
		return;
	track->judged = true;
	track->naps = 0;
	turns = os_thread_turns(&track->python->os);
	if (turns && turns == track->turns && !is_asleep(track))
		return;
	track->turns = turns;
	track->has_sleeps =
		os_thread_sleeps(t->pid, tid_of(track), &track->sleeps);
	track->naps =
		had && track->has_sleeps ? track->sleeps - sleeps : UINT64_MAX;
}

void clock_track_judge(struct target *t, struct clock_track *track)
{
	uint64_t mark = track->mark;

	if (track->runs) {
		track->mark = 0;
		return;
	}
	track->turns = 0;
	track->mark = os_thread_mark(&track->python->os);
	track->woke = !mark || track->mark != mark;
}

static enum clock_found find_sleeper(const struct clock_track *track,
				     struct clock_row *row)
{
	row->node = track->first_node;
	row->state = track->first_state;
	return lost_unless(!track->woke && track->was_seen);
}

static enum clock_found find_python(const struct target *t,
				    const struct clock_window *w,
				    struct clock_track *track, uint64_t at,
				    struct clock_row *row)
{
	const struct target_thread *thread = track->python;

	if (track->runs && has_row(track, w, at))
		return take_row(track, row);
	if (thread->ended || target_thread_is_left(thread) ||
	    t->status == -ERR_GONE)
		return CLOCK_NOBODY;
	if (!track->runs)
		return find_sleeper(track, row);
	judge_runner(t, track);
	/* One that sleeps at the end has done so since its only nap began, or
	 * since before the window; before a row it ran. */
	if (is_asleep(track) && track->naps <= 1 &&
	    (!track->naps || track->next == track->n_rows)) {
		row->node = track->node;
		row->state = track->state;
		return CLOCK_FOUND;
	}
	*row = track->last;
	return lost_unless(track->naps == is_asleep(track) && !row->hole &&
			   !track->full);
}

enum clock_found clock_track_find(struct target *t,
				  const struct clock_window *w,
				  struct clock_track *track, uint64_t at,
				  struct clock_row *row)
{
	return track->native ? find_native(t, w, track, at, row)
			     : find_python(t, w, track, at, row);
}
