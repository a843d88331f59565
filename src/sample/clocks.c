#include "sample/clocks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/visit_clock.h"
#include "sample/catch.h"

#define WINDOW	     128000000u /* ns */
#define TICKS_MAX    128
#define TICKS_FIRST  16
#define PERIOD_MIN   200000u /* ns: the interrupts cost too much beyond */
#define ROWS_MAX     (2 * TICKS_MAX)
#define CLOCKS_MAX   64
#define PATIENCE     16 /* ticks for which a thread must have been running */
#define PATIENCE_MAX 16384
#define NEAR	     2	  /* ticks from a row to that at which it is written */
#define LOSS	     128  /* one row of so many may be lost */
#define TRUST	     8	  /* windows without loss that make them longer */
#define FORGET	     2048 /* ticks without loss that make us less patient */

/* A count of freed code objects for Pythons that keep none: it says that all
 * stacks of a window are looked up at one moment. */
#define WINDOW_GENERATION (UINT64_C(1) << 63)

struct clocks {
	struct visit_clocks *visits; /* NULL: cannot be had */
	uint32_t n;
	uint32_t patience;
	uint32_t trusted, quiet; /* windows, and ticks, without loss */
	uint64_t last_epoch;	 /* of the code objects, and for how many */
	uint32_t calm;		 /* ticks or windows it has been the same */
	uint32_t ticks;		 /* of a window, at most */
	uint64_t windows;
	bool going; /* some clock may be */
	/* Of the last window. */
	uint64_t epoch, pass; /* as it began; see codes_pass() */
	uint32_t rows, lost;
};

struct clock_row {
	uint64_t time;
	uint32_t node, state;
	bool hole; /* the clock went off, and nothing came of it */
};

struct clock_track {
	struct visit_clocks *visits; /* that its clock is of */
	int clock;		     /* -1: none */
	uint32_t ran; /* ticks that met it running; see count_tick() */

	/* The last tick that was taken. */
	bool seen;
	uint32_t node, state;

	/* The window. */
	bool planned;  /* it was there when it began */
	bool runs;     /* and was left to its clock */
	uint64_t head; /* as it began */
	bool stood;    /* it began off CPU, like this: */
	uint64_t left;
	uint32_t first_node, first_state;
	bool full; /* there was no room for more rows */
	struct target_thread *python;
	struct clock_row *rows; /* ROWS_MAX */
	uint32_t n_rows, next;	/* the next one to be written */
};

/* ---- begin and end ---- */

void clocks_free(struct clocks *c)
{
	if (!c)
		return;
	visit_clocks_free(c->visits);
	free(c);
}

static void give_back(struct clock_track *track)
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
	give_back(track);
	free(track->rows);
	free(track);
}

static struct clock_track *track_of(struct native_thread *thread)
{
	if (!thread->track) {
		thread->track = xcalloc(1, sizeof(*thread->track));
		thread->track->clock = -1;
	}
	return thread->track;
}

static struct clocks *clocks_of(struct target *t)
{
	if (!t->clocks) {
		t->clocks = xcalloc(1, sizeof(*t->clocks));
		t->clocks->patience = PATIENCE;
		t->clocks->ticks = TICKS_FIRST;
	}
	return t->clocks;
}

/* Clocks take much memory, so there are no more than run at a time. */
static bool has_clocks(struct target *t, uint32_t n)
{
	struct clocks *c = t->clocks;
	struct visit_shape shape;

	if (c->n >= n || n > CLOCKS_MAX)
		return c->visits && n <= CLOCKS_MAX;
	native_bury(t->native);
	for (uint32_t i = 0; i < t->native->n_threads; i++)
		give_back(t->native->threads[i]->track);
	visit_clocks_free(c->visits);
	c->visits = NULL;
	c->n = n;
	stack_shape(&t->threads[0]->stack, &shape);
	shape.registers = true;
	if (target_has_visits(t))
		visit_clocks_new(&c->visits, &shape, t->namespace_device,
				 t->namespace_inode, n, NULL);
	return c->visits;
}

/* ---- when ---- */

bool clocks_suit(uint64_t period)
{
	return period >= PERIOD_MIN && period <= WINDOW / CLOCKS_LEAST;
}

uint32_t clocks_ticks(const struct target *t, uint64_t period)
{
	uint64_t n = WINDOW / period;

	return n < t->clocks->ticks ? (uint32_t)n : t->clocks->ticks;
}

static bool has_all_pictures(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!t->threads[i]->native || !t->threads[i]->good)
			return false;
	return t->n_threads;
}

/* One that sleeps now and then, for a moment, runs on; one that has slept for
 * some ticks sleeps on; of others nobody knows. */
static void count_tick(struct clock_track *track, bool runs)
{
	if (!runs)
		track->ran /= 2;
	else if (track->ran < 2 * PATIENCE_MAX)
		track->ran++;
}

/* A program that makes code, as any does that imports, is not to be left alone.
 */
static void count_calm(struct target *t)
{
	struct clocks *c = t->clocks;

	if (c->last_epoch != t->table.epoch)
		c->calm = 0;
	else if (c->calm < PATIENCE_MAX)
		c->calm++;
	c->last_epoch = t->table.epoch;
}

enum clocks_state clocks_state(const struct sampler *s, struct target *t)
{
	uint32_t running = 0, patience;
	bool steady;

	if (!t->native || !has_all_pictures(t))
		return CLOCKS_NOT;
	patience = clocks_of(t)->patience;
	count_calm(t);
	steady = t->clocks->calm >= patience;
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];
		struct clock_track *track = track_of(thread);

		count_tick(track,
			   thread->good && catch_may_visit(s, t, thread));
		if (track->ran >= patience)
			running++;
		else if (track->ran || !native_is_settled(thread))
			steady = false;
	}
	if (!steady)
		return CLOCKS_NOT;
	if (!running)
		return CLOCKS_IDLE;
	return has_clocks(t, running) ? CLOCKS_RUN : CLOCKS_NOT;
}

/* ---- a window ---- */

uint32_t clocks_close(struct clock_window *w, uint64_t now)
{
	uint64_t half = w->period / 2, ticks = 0;

	if (now > w->start + half)
		ticks = (now - w->start - half) / w->period;
	w->ticks = ticks < ROWS_MAX ? (uint32_t)ticks : ROWS_MAX;
	return (uint32_t)(ticks - w->ticks);
}

static bool start_clock(struct target *t, struct native_thread *thread,
			uint64_t period)
{
	struct clock_track *track = thread->track;
	struct visit asked = { .stack_top = thread->top };

	if (target_plan_visit(t, track->python, thread->tid, &asked) < 0)
		return false;
	if (track->clock < 0) {
		track->visits = t->clocks->visits;
		track->clock =
			visit_clocks_take(track->visits, thread->tid, &asked);
	}
	if (track->clock < 0)
		return false;
	if (!track->rows)
		track->rows = xcalloc(ROWS_MAX, sizeof(*track->rows));
	track->runs =
		visit_clocks_start(track->visits, track->clock, &asked, period);
	return track->runs;
}

static void stop_clocks(struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct clock_track *track = t->native->threads[i]->track;

		if (track && track->runs)
			visit_clocks_stop(track->visits, track->clock);
	}
}

void clocks_rest(struct target *t)
{
	if (!t->clocks || !t->native || !t->clocks->going)
		return;
	t->clocks->going = false;
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct clock_track *track = t->native->threads[i]->track;

		if (track && track->clock >= 0)
			visit_clocks_rest(track->visits, track->clock);
	}
}

void clocks_cancel(struct target *t)
{
	stop_clocks(t);
	clocks_rest(t);
}

/* Whether the last tick found it off CPU, and knows where. */
static bool stands(const struct native_thread *thread)
{
	return thread->standing && !native_on_cpu(thread) &&
	       thread->has_picture && thread->pictured == thread->head;
}

static void plan_window(struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];
		struct clock_track *track = track_of(thread);

		if (!track->ran)
			give_back(track);
		track->planned = true;
		track->runs = false;
		track->head = thread->head;
		track->stood = track->seen && stands(thread);
		track->left = thread->left;
		track->full = false;
		track->first_node = track->node;
		track->first_state = track->state;
		track->python = NULL;
		track->n_rows = track->next = 0;
	}
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i]->native->track->python = t->threads[i];
}

static void be_patient(struct target *t)
{
	struct clocks *c = t->clocks;

	c->trusted = c->quiet = 0;
	c->ticks = TICKS_FIRST;
	c->patience *= 2;
	if (c->patience > PATIENCE_MAX)
		c->patience = PATIENCE_MAX;
	for (uint32_t i = 0; i < t->native->n_threads; i++)
		track_of(t->native->threads[i])->ran = 0;
}

bool clocks_start(struct target *t, const struct clock_window *w)
{
	native_bury(t->native); /* they have clocks, too */
	plan_window(t);
	t->clocks->going = true;
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];

		if (!thread->track->ran || start_clock(t, thread, w->period))
			continue;
		/* It is not to be had: do not ask again for long. */
		clocks_cancel(t);
		be_patient(t);
		t->clocks->patience = PATIENCE_MAX;
		return false;
	}
	t->clocks->epoch = t->table.epoch;
	t->clocks->pass = codes_pass(t->codes);
	t->clocks->windows++;
	return true;
}

static uint64_t generation_of(const struct target *t,
			      const struct target_thread *python)
{
	uint64_t counted =
		python ? t->interpreters[python->interpreter].code_generation
		       : 0;

	return counted ? counted : WINDOW_GENERATION | t->clocks->windows;
}

/* Another code object has been found where one was in the window before: the
 * row has the name of one of the two, and nobody knows which. */
static bool is_doubtful(const struct target *t,
			const struct target_thread *python)
{
	return python && t->clocks->epoch != t->table.epoch &&
	       codes_changed_since(t->codes, python->stack.frames,
				   python->stack.n_frames, t->clocks->pass);
}

static void add_row(struct target *t, struct native_thread *thread,
		    const struct visit *visit, bool good)
{
	struct clock_track *track = thread->track;
	const struct target_thread *python = track->python;
	struct clock_row *row = &track->rows[track->n_rows];

	if (track->n_rows == ROWS_MAX) {
		track->full = true;
		return;
	}
	track->n_rows++;
	*row = (struct clock_row){ .time = visit->time, .hole = !good };
	if (!good)
		return;
	row->node = native_node(t->native, thread, &t->table,
				generation_of(t, python));
	row->state = python ? python->state : thread->state | STATE_ON_CPU;
	row->hole = is_doubtful(t, python);
}

/* Walk what the clock took. */
static void take_rows(struct target *t, struct native_thread *thread)
{
	struct clock_track *track = thread->track;
	enum visit_result result;
	struct visit visit = { 0 };
	size_t at = 0;

	while (visit_clocks_next(track->visits, track->clock, &at, &visit,
				 &result)) {
		bool good = result == VISIT_TAKEN &&
			    catch_take_visit(t, track->python, thread, &visit);

		add_row(t, thread, &visit, good);
	}
	track->full |= visit_clocks_lost(track->visits, track->clock) > 0;
}

void clocks_stop(struct target *t)
{
	stop_clocks(t);
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];

		if (thread->track->runs)
			take_rows(t, thread);
	}
}

void clocks_saw(struct native_thread *thread, uint32_t node, uint32_t state)
{
	struct clock_track *track = track_of(thread);

	track->seen = true;
	track->node = node;
	track->state = state;
}

void clocks_saw_nothing(struct native_thread *thread)
{
	track_of(thread)->seen = false;
}

/* ---- what is known of a tick ---- */

enum found {
	FOUND,
	FOUND_LOST,
	FOUND_NOBODY, /* there is no such thread any more */
};

static enum found lost_unless(bool found)
{
	return found ? FOUND : FOUND_LOST;
}

/* There are about as many rows as ticks, but at moments of their own: each is
 * written once, in order, at the first tick that is free. NULL: none is near.
 */
static const struct clock_row *next_row(struct clock_track *track, uint64_t at,
					uint64_t period)
{
	const struct clock_row *rows = track->rows;

	while (track->next < track->n_rows &&
	       rows[track->next].time + NEAR * period < at)
		track->next++;
	return track->next < track->n_rows &&
			       rows[track->next].time <= at + period / 2
		       ? &rows[track->next]
		       : NULL;
}

/* One that has neither left its CPU nor come to it ran on. */
static enum perf_doing doing_at(const struct native_thread *thread, uint64_t at,
				uint64_t *since)
{
	if (thread->running && thread->head == thread->track->head)
		return PERF_ON_CPU;
	return perf_event_at(&thread->event, at, since);
}

/* A thread was off CPU: from before the window or to its end; or it was others'
 * turn, and then it stands where it was. */
static enum found find_off(struct target *t, const struct native_thread *thread,
			   enum perf_doing doing, uint64_t since,
			   struct clock_row *row)
{
	const struct clock_track *track = thread->track;

	if (stands(thread) && thread->left == since) {
		row->node = track->node;
		row->state = track->state;
		return lost_unless(track->seen);
	}
	if (track->stood && track->left == since) {
		row->node = track->first_node;
		row->state = track->first_state;
		return FOUND;
	}
	if (doing != PERF_READY || !row->time || row->hole || track->full)
		return FOUND_LOST;
	row->node = native_ready_node(t->native, &t->table, row->node);
	row->state &= ~(uint32_t)(STATE_ON_CPU | STATE_RIDDEN);
	return FOUND;
}

/* The switches say whether a thread that was left to its clock ran, and rows
 * where. The kernel does not tell of a thread's last switch. */
static enum found find_clocked(struct target *t, const struct clock_window *w,
			       const struct native_thread *thread, uint64_t at,
			       struct clock_row *row)
{
	struct clock_track *track = thread->track;
	const struct clock_row *next = next_row(track, at, w->period);
	bool gone = thread->ended || t->status == -ERR_GONE;
	enum perf_doing doing;
	uint64_t since = 0;

	if (gone && !next)
		return FOUND_NOBODY;
	doing = gone ? PERF_ON_CPU : doing_at(thread, at, &since);
	if (next && (doing == PERF_ON_CPU || doing == PERF_UNKNOWN)) {
		*row = *next;
		track->next++;
		return lost_unless(!row->hole);
	}
	if (track->n_rows)
		*row = track->rows[track->next ? track->next - 1 : 0];
	if (doing == PERF_ASLEEP || doing == PERF_READY)
		return find_off(t, thread, doing, since, row);
	return lost_unless(doing == PERF_ON_CPU && row->time && !row->hole &&
			   !track->full);
}

static enum found find_row(struct target *t, const struct clock_window *w,
			   struct native_thread *thread, uint64_t at,
			   struct clock_row *row)
{
	const struct clock_track *track = thread->track;

	if (!track->runs && thread->ended)
		return FOUND_NOBODY;
	if (!track->runs) {
		row->node = track->node;
		row->state = track->state;
		return lost_unless(track->seen && stands(thread) &&
				   thread->head == track->head);
	}
	return find_clocked(t, w, thread, at, row);
}

bool clocks_row(struct target *t, const struct clock_window *w,
		struct native_thread *thread, uint32_t tick, uint32_t *node,
		uint32_t *state)
{
	uint64_t at = w->start + tick * w->period;
	struct clock_row row = { 0 };
	enum found found;

	if (!thread->track || !thread->track->planned)
		return false; /* it was born since */
	found = find_row(t, w, thread, at, &row);
	t->clocks->rows += found != FOUND_NOBODY;
	t->clocks->lost += found == FOUND_LOST;
	*node = row.node;
	*state = row.state;
	return found == FOUND;
}

/* Whether windows may be longer, as far as the room of the clocks goes. */
static bool is_roomy(const struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		const struct clock_track *track = t->native->threads[i]->track;

		if (track && track->planned && track->runs &&
		    !visit_clocks_roomy(track->visits, track->clock))
			return false;
	}
	return true;
}

static bool was_full(const struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		const struct clock_track *track = t->native->threads[i]->track;

		if (track && track->planned && track->runs && track->full)
			return true;
	}
	return false;
}

/* All went well: wait for less, after some time, and for longer. */
static void trust(struct target *t, uint32_t ticks)
{
	struct clocks *c = t->clocks;

	c->quiet += ticks;
	if (c->quiet >= FORGET) {
		c->quiet = 0;
		if (c->patience > PATIENCE)
			c->patience /= 2;
	}
	if (++c->trusted < TRUST)
		return;
	c->trusted = 0;
	if (c->ticks < TICKS_MAX && is_roomy(t))
		c->ticks *= 2;
}

static bool has_newcomers(const struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++)
		if (!t->native->threads[i]->track ||
		    !t->native->threads[i]->track->planned)
			return true;
	return false;
}

uint32_t clocks_learn(struct target *t, const struct clock_window *w)
{
	struct clocks *c = t->clocks;
	uint32_t lost = c->lost;

	if (was_full(t) && c->ticks > CLOCKS_LEAST)
		c->ticks /= 2;
	else if (lost > c->rows / LOSS || c->epoch != t->table.epoch ||
		 has_newcomers(t))
		be_patient(t);
	else
		trust(t, w->ticks);
	c->rows = c->lost = 0;
	native_bury(t->native);
	return lost;
}
