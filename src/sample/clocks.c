#include "sample/clocks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/visit_clock.h"
#include "sample/catch.h"

#define WINDOW	     64000000u /* ns */
#define TICKS_MAX    64
#define TICKS_FIRST  16
#define TICKS_MIN    8
#define PERIOD_MIN   200000u /* ns: the interrupts cost too much beyond */
#define ROWS_MAX     (2 * TICKS_MAX)
#define CLOCKS_MAX   64
#define PATIENCE     16 /* ticks for which a thread must have been running */
#define PATIENCE_MAX 16384
#define TRUST	     8 /* windows without loss that make us less patient */

#define LOSS 32 /* one row of so many may be lost */

/* A count of freed code objects for Pythons that keep none: it says that all
 * stacks of a window are looked up at one moment. */
#define WINDOW_GENERATION (UINT64_C(1) << 63)

struct clocks {
	struct visit_clocks *visits; /* NULL: cannot be had */
	uint32_t n;
	uint32_t patience, trusted;
	uint32_t ticks; /* of a window, at most */
	uint64_t windows;
	/* Of the last window. */
	uint64_t epoch;
	uint32_t rows, lost;
};

struct clock_row {
	uint64_t time;
	uint32_t node, state;
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
	bool runs;     /* and was left to its clock; else: */
	uint64_t head; /* as it began */
	uint32_t first_node, first_state;
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
	if (track->clock >= 0)
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

/* As many threads run on as there are cores, at most. */
static struct clocks *clocks_of(struct target *t)
{
	struct visit_shape shape;
	struct clocks *c = t->clocks;
	struct sched_cores cores;

	if (c)
		return c;
	c = t->clocks = xcalloc(1, sizeof(*c));
	c->patience = PATIENCE;
	c->ticks = TICKS_FIRST;
	sched_permitted(&cores);
	c->n = (uint32_t)CPU_COUNT(&cores.set);
	if (c->n > CLOCKS_MAX)
		c->n = CLOCKS_MAX;
	stack_shape(&t->threads[0]->stack, &shape);
	shape.registers = true;
	visit_clocks_new(&c->visits, &shape, c->n, NULL);
	return c;
}

/* ---- when ---- */

bool clocks_suit(uint64_t period)
{
	return period >= PERIOD_MIN && period <= WINDOW / TICKS_MIN;
}

uint32_t clocks_ticks(const struct target *t, uint64_t period)
{
	uint64_t n = WINDOW / period;
	uint32_t most = t->clocks ? t->clocks->ticks : TICKS_MAX;

	return n < most ? (uint32_t)n : most;
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

enum clocks_state clocks_state(const struct sampler *s, struct target *t)
{
	uint32_t running = 0, patience;
	bool steady = true;

	if (!t->native || !has_all_pictures(t))
		return CLOCKS_NOT;
	patience = t->clocks ? t->clocks->patience : PATIENCE;
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
	return clocks_of(t)->visits && running <= t->clocks->n ? CLOCKS_RUN
							       : CLOCKS_NOT;
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

	if (track->clock < 0) {
		track->visits = t->clocks->visits;
		track->clock = visit_clocks_take(track->visits, thread->tid);
	}
	if (track->clock < 0)
		return false;
	if (!track->rows)
		track->rows = xcalloc(ROWS_MAX, sizeof(*track->rows));
	if (track->python)
		target_plan_visit(t, track->python, &asked);
	track->runs =
		visit_clocks_start(track->visits, track->clock, &asked, period);
	return track->runs;
}

static void stop_all(struct target *t)
{
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct clock_track *track = t->native->threads[i]->track;

		if (track && track->runs)
			visit_clocks_stop(track->visits, track->clock);
	}
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
		track->first_node = track->node;
		track->first_state = track->state;
		track->python = NULL;
		track->n_rows = track->next = 0;
	}
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i]->native->track->python = t->threads[i];
}

/* A thread whose clock is not to be had is not asked again for long. */
static void give_up(struct target *t)
{
	stop_all(t);
	t->clocks->patience = PATIENCE_MAX;
}

bool clocks_start(struct target *t, const struct clock_window *w)
{
	plan_window(t);
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];

		if (!thread->track->ran || start_clock(t, thread, w->period))
			continue;
		give_up(t);
		return false;
	}
	if (t->clocks) {
		t->clocks->epoch = t->table.epoch;
		t->clocks->windows++;
	}
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

static void add_row(struct target *t, struct native_thread *thread,
		    uint64_t time)
{
	struct clock_track *track = thread->track;
	const struct target_thread *python = track->python;

	if (track->n_rows == ROWS_MAX)
		return;
	track->rows[track->n_rows++] = (struct clock_row){
		.time = time,
		.node = native_node(t->native, thread, &t->table,
				    generation_of(t, python)),
		.state = python ? python->state : thread->state | STATE_ON_CPU,
	};
}

/* Walk what the clock took. A stack that is not all there will be too large
 * again. */
static void take_rows(struct target *t, struct native_thread *thread)
{
	struct clock_track *track = thread->track;
	enum visit_result result;
	struct visit visit = { 0 };
	size_t at = 0;

	while (visit_clocks_next(track->visits, track->clock, &at, &visit,
				 &result)) {
		if (result == VISIT_TAKEN &&
		    catch_take_visit(t, track->python, thread, &visit))
			add_row(t, thread, visit.time);
	}
}

void clocks_stop(struct target *t)
{
	stop_all(t);
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

/* ---- what is known of a tick ---- */

/* The last row up to a moment; if there is none, the first. */
static const struct clock_row *row_at(struct clock_track *track, uint64_t at)
{
	while (track->next < track->n_rows &&
	       track->rows[track->next].time <= at)
		track->next++;
	if (!track->n_rows)
		return NULL;
	return &track->rows[track->next ? track->next - 1 : 0];
}

/* Whether the tick at the end found it asleep. */
static bool sleeps(const struct native_thread *thread)
{
	return thread->standing && !thread->running && thread->has_picture &&
	       thread->pictured == thread->head;
}

/* What a thread did that its clock did not see: it slept, from before the
 * window or to its end; or it was others' turn, and then it stands where it
 * was. */
static bool find_absent(const struct clock_window *w,
			const struct native_thread *thread, uint64_t at,
			struct clock_row *row)
{
	const struct clock_track *track = thread->track;
	uint64_t since = 0;
	enum perf_doing doing = perf_event_at(&thread->event, at, &since);

	if (doing == PERF_ASLEEP && sleeps(thread) && thread->left == since) {
		row->node = track->node;
		row->state = track->state;
		return track->seen;
	}
	if (doing == PERF_ASLEEP && since <= w->start) {
		row->node = track->first_node;
		row->state = track->first_state;
		return track->seen;
	}
	return row->time && (doing == PERF_ON_CPU || doing == PERF_READY);
}

static bool find_row(const struct clock_window *w, struct native_thread *thread,
		     uint64_t at, struct clock_row *row)
{
	struct clock_track *track = thread->track;
	const struct clock_row *last;

	if (!track->runs) {
		row->node = track->node;
		row->state = track->state;
		return track->seen && thread->head == track->head;
	}
	last = row_at(track, at);
	if (last)
		*row = *last;
	if (last && row->time <= at && row->time + w->period * 3 / 2 > at)
		return true;
	return find_absent(w, thread, at, row);
}

/* A clock's k-th visit is due k periods after it was started, shortly after the
 * window was. */
bool clocks_row(struct target *t, const struct clock_window *w,
		struct native_thread *thread, uint32_t tick, uint32_t *node,
		uint32_t *state)
{
	uint64_t at = w->start + tick * w->period + w->period / 2;
	struct clock_row row = { 0 };

	if (!thread->track || !thread->track->planned)
		return false; /* it was born since */
	t->clocks->rows++;
	if (!find_row(w, thread, at, &row)) {
		t->clocks->lost++;
		return false;
	}
	*node = row.node;
	*state = row.state;
	return true;
}

static void be_patient(struct target *t)
{
	struct clocks *c = t->clocks;

	c->trusted = 0;
	c->ticks = TICKS_FIRST;
	c->patience *= 2;
	if (c->patience > PATIENCE_MAX)
		c->patience = PATIENCE_MAX;
	for (uint32_t i = 0; i < t->native->n_threads; i++)
		track_of(t->native->threads[i])->ran = 0;
}

/* All went well for some time: wait for less, and for longer. */
static void trust(struct clocks *c)
{
	c->trusted = 0;
	if (c->patience > PATIENCE)
		c->patience /= 2;
	if (c->ticks < TICKS_MAX)
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

uint32_t clocks_learn(struct target *t)
{
	struct clocks *c = t->clocks;
	uint32_t lost;

	if (!c)
		return 0;
	lost = c->lost;
	if (lost > c->rows / LOSS || c->epoch != t->table.epoch ||
	    has_newcomers(t)) {
		be_patient(t);
	} else if (++c->trusted == TRUST) {
		trust(c);
	}
	c->rows = c->lost = 0;
	return lost;
}
