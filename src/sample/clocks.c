#include "sample/clocks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sample/catch.h"
#include "sample/clocks_private.h"

#define WINDOW	    128000000u /* ns */
#define TICKS_MAX   128
#define TICKS_FIRST 16
/* Without native stacks; see clocks.h. */
#define TICKS_PYTHON 59
/* What we may spend on a tick, in ns of our CPU time, and how many periods
 * there are at least from one of ours to the next: for a thread that is read
 * from another core, whose clock must go off in between, and for one that each
 * of our ticks interrupts. Where ours are dear, so are a timer's for the
 * target: then we spend more, by a part of what they cost. */
#define BUDGET_READ    7000u
#define LEAST_READ     2.0
#define BUDGET_VISITED 14500u
#define LEAST_VISITED  1.4
#define BUDGET_PART    24
#define GLANCE_MAX     8.0
/* Between two glances, which ask about those that sleep. */
#define GLIMPSES     2
#define PERIOD_MIN   200000u  /* ns: the interrupts cost too much beyond */
#define PERIOD_MAX   4000000u /* and beyond this the wake-ups cost little */
#define CLOCKS_MAX   64
#define FRAMES_MAX   (VISIT_ITEMS_MAX * 3 / 4)
#define SLEEPERS_MAX 8	/* that are asked about one by one */
#define PATIENCE     16 /* ticks for which a thread must have been running */
#define PATIENCE_MAX 16384
/* Without native stacks nothing is lost tick by tick: do not try often. */
#define RELUCTANCE 4
#define LOSS	   128 /* one row of so many may be lost */
#define CREDIT	   (LOSS + LOSS / 2)
/* With them, a tick that is not a window's costs us and the target more than
 * what a window may lose is worth. */
#define CREDIT_NATIVE (12 * LOSS)
#define TRUST	      8	   /* windows without loss that make them longer */
#define IDLE	      1024 /* ticks without a window */
#define FORGET	      2048 /* ticks without loss that make us less patient */

static_assert(2 * TICKS_MAX <= CLOCK_ROWS_MAX, "a late window has room");
static_assert(TICKS_PYTHON <= CLOCK_GLANCES_MAX, "each may be a glance");

/* ---- begin and end ---- */

void clocks_leave(struct target *t)
{
	if (!t->clocks)
		return;
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_give_back(clock_track_at(t, i));
	for (uint32_t i = 0; i < clock_tracks_ended(t); i++)
		clock_track_give_back(clock_track_ended(t, i));
	visit_clocks_free(t->clocks->visits);
	free(t->clocks);
	t->clocks = NULL;
	t->window = 0;
}

static uint32_t first_ticks(const struct target *t)
{
	return t->native ? TICKS_FIRST : CLOCKS_LEAST;
}

static uint32_t least_patience(const struct target *t)
{
	return t->native ? PATIENCE : RELUCTANCE * PATIENCE;
}

static struct clocks *clocks_of(struct target *t)
{
	if (!t->clocks) {
		t->clocks = xcalloc(1, sizeof(*t->clocks));
		t->clocks->patience = least_patience(t);
		t->clocks->credit = CREDIT;
		t->clocks->ticks = first_ticks(t);
	}
	return t->clocks;
}

/* Threads that ended have clocks, too. */
static void bury(struct target *t)
{
	if (t->native)
		native_bury(t->native);
	else
		target_bury(t);
}

/* Clocks take much memory, so there are no more than run at a time. */
static bool has_clocks(struct target *t, uint32_t n)
{
	struct clocks *c = t->clocks;
	struct visit_shape shape;

	if (c->n >= n || n > CLOCKS_MAX)
		return c->visits && n <= CLOCKS_MAX;
	bury(t);
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_give_back(clock_track_at(t, i));
	visit_clocks_free(c->visits);
	c->visits = NULL;
	c->n = n;
	stack_shape(&t->threads[0]->stack, &shape);
	shape.registers = t->native;
	if (target_has_visits(t))
		visit_clocks_new(&c->visits, &shape, t->namespace_device,
				 t->namespace_inode, n, NULL);
	return c->visits;
}

/* ---- when ---- */

bool clocks_suit(uint64_t period)
{
	return period >= PERIOD_MIN && period <= PERIOD_MAX;
}

/* Whether a tick that we take interrupts a thread. */
static bool has_visited(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->to_visit)
			return true;
	return false;
}

uint32_t clocks_ticks(const struct target *t, uint64_t period)
{
	uint64_t n = WINDOW / period;
	uint32_t most = TICKS_MAX;

	if (!t->native)
		most = TICKS_PYTHON;
	if (n > most)
		n = most;
	return n < t->clocks->ticks ? (uint32_t)n : t->clocks->ticks;
}

uint64_t clocks_glance(const struct target *t, uint64_t period, uint64_t cost)
{
	bool visited = has_visited(t);
	double least = visited ? LEAST_VISITED : LEAST_READ;
	uint64_t budget =
		(visited ? BUDGET_VISITED : BUDGET_READ) + cost / BUDGET_PART;
	double n = (double)cost / (double)budget;

	if (t->native)
		return 0;
	if (n > GLANCE_MAX)
		n = GLANCE_MAX;
	return (uint64_t)((n < least ? least : n) * (double)period);
}

static bool has_all_pictures(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!t->threads[i]->good ||
		    (t->native && !t->threads[i]->native))
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

/* A program that makes code, as any does that imports, is not to be left alone:
 * what is named at a window's end may be gone by then. */
static void count_calm(struct target *t)
{
	struct clocks *c = t->clocks;
	uint64_t read = codes_read(t->codes);

	if (c->last_read != read)
		c->calm = 0;
	else if (c->calm < PATIENCE_MAX)
		c->calm++;
	c->last_read = read;
}

/* Nobody wants to know what it does. */
static bool is_left_out(const struct clock_track *track)
{
	return track->native ? track->native->left_out
			     : track->python->left_out;
}

static bool runs(const struct sampler *s, struct target *t,
		 const struct clock_track *track)
{
	const struct target_thread *python = track->python;

	if (!track->native)
		return python->tid && python->state & STATE_ON_CPU &&
		       python->stack.n_frames <= FRAMES_MAX &&
		       sampler_may_visit(s, t, python);
	return track->native->good && catch_may_visit(s, t, track->native);
}

static bool is_settled(const struct clock_track *track)
{
	if (track->native)
		return native_is_settled(track->native);
	return track->python->tid && track->python->os_state == 'S' &&
	       !(track->state & STATE_GIL_WAIT);
}

/* The whole system pays for clocks, so who has not needed his for some time
 * lets them go. */
static void count_idle(struct target *t)
{
	if (t->clocks && t->clocks->visits && ++t->clocks->idle >= IDLE)
		visit_clocks_detach(t->clocks->visits);
}

enum clocks_state clocks_state(const struct sampler *s, struct target *t)
{
	uint32_t running = 0, sleeping = 0, patience;
	bool steady;

	count_idle(t);
	if (!has_all_pictures(t))
		return CLOCKS_NOT;
	patience = clocks_of(t)->patience;
	count_calm(t);
	steady = t->clocks->calm >= patience;
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		struct clock_track *track = clock_track_at(t, i);

		if (is_left_out(track)) {
			track->ran = 0;
			continue;
		}
		count_tick(track, runs(s, t, track));
		if (track->ran >= patience)
			running++;
		else if (track->ran || !is_settled(track))
			steady = false;
		else
			sleeping++;
	}
	if (!steady || (!t->native && sleeping > SLEEPERS_MAX))
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
	w->ticks = ticks < CLOCK_ROWS_MAX ? (uint32_t)ticks : CLOCK_ROWS_MAX;
	return (uint32_t)(ticks - w->ticks);
}

/* Those of threads that a glance found ended come last; NULL: it has none. */
static struct clock_track *any_track(struct target *t, uint32_t i)
{
	uint32_t n = clock_tracks(t);

	return i < n ? clock_track_at(t, i) : clock_track_ended(t, i - n);
}

static uint32_t all_tracks(const struct target *t)
{
	return clock_tracks(t) + clock_tracks_ended(t);
}

static void stop_clocks(struct target *t)
{
	for (uint32_t i = 0; i < all_tracks(t); i++) {
		struct clock_track *track = any_track(t, i);

		if (track && track->runs && track->clock >= 0)
			visit_clocks_stop(track->visits, track->clock);
	}
}

void clocks_rest(struct target *t)
{
	if (!t->clocks || !t->clocks->going)
		return;
	t->clocks->going = false;
	t->window = 0;
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		struct clock_track *track = clock_track_at(t, i);

		if (track->clock >= 0)
			visit_clocks_rest(track->visits, track->clock);
	}
}

void clocks_cancel(struct target *t)
{
	stop_clocks(t);
	clocks_rest(t);
}

void clocks_let_go(struct target *t)
{
	clocks_rest(t);
	if (t->clocks && t->clocks->visits)
		visit_clocks_detach(t->clocks->visits);
}

static void plan_window(struct target *t)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_plan(t, clock_track_at(t, i), t->clocks->going);
	for (uint32_t i = 0; t->native && i < t->n_threads; i++)
		t->threads[i]->native->track->python = t->threads[i];
}

static void be_patient(struct target *t)
{
	struct clocks *c = t->clocks;

	c->trusted = c->quiet = 0;
	c->credit = CREDIT;
	if (c->ticks > first_ticks(t))
		c->ticks = first_ticks(t);
	c->patience *= t->native ? 2 : RELUCTANCE;
	if (c->patience > PATIENCE_MAX)
		c->patience = PATIENCE_MAX;
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_at(t, i)->ran = 0;
}

uint32_t clocks_glances(const struct clock_window *w)
{
	return w->glance ? (uint32_t)(w->ticks * w->period / w->glance) : 0;
}

/* The tick at the window's end, and those of glances, are taken by us. */
static uint64_t clock_period(const struct clock_window *w)
{
	uint32_t all = w->ticks + 1, ours = 1 + clocks_glances(w);

	return w->period * all / (all - ours);
}

/* Whether there are threads that nobody looks at but in glances. */
static bool has_others(struct target *t)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		if (!clock_track_at(t, i)->runs)
			return true;
	return false;
}

static void prepare_glimpses(struct target *t)
{
	if (t->native)
		return;
	t->clocks->glimpses = has_others(t) ? GLIMPSES : CLOCK_GLANCES_MAX;
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		if (clock_track_at(t, i)->runs &&
		    !clock_track_looked(t, clock_track_at(t, i)))
			t->clocks->glimpses = 0;
}

bool clocks_start(struct target *t, const struct clock_window *w)
{
	bury(t);
	plan_window(t);
	t->clocks->going = true;
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		struct clock_track *track = clock_track_at(t, i);

		if (!track->ran)
			continue;
		if (clock_track_start(t, track, clock_period(w))) {
			t->clocks->idle = 0;
			continue;
		}
		/* It is not to be had: do not ask again for long. */
		clocks_cancel(t);
		be_patient(t);
		t->clocks->patience = PATIENCE_MAX;
		return false;
	}
	t->clocks->epoch = t->table.epoch;
	t->clocks->pass = codes_pass(t->codes);
	t->clocks->read_before = codes_read(t->codes);
	t->window = ++t->compares;
	prepare_glimpses(t);
	return true;
}

bool clocks_glimpse(struct target *t, uint64_t now)
{
	if (!t->clocks->glimpses)
		return false;
	t->clocks->glimpses--;
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		struct clock_track *track = clock_track_at(t, i);

		if (track->runs && !clock_track_glimpse(t, track, now))
			return false;
	}
	return true;
}

void clocks_peek(struct target *t)
{
	t->window = ++t->compares;
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_peek(t, clock_track_at(t, i));
}

/* A thread that goes on as it did when the window began. */
static bool goes_on(const struct clock_track *track)
{
	if (is_left_out(track))
		return true;
	if (!track->planned || !track->seen)
		return false;
	return track->runs == !!(track->state & STATE_ON_CPU);
}

bool clocks_go_on(struct target *t)
{
	if (t->status < 0 || t->n_ended ||
	    codes_read(t->codes) != t->clocks->read_before)
		return false;
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		if (!goes_on(clock_track_at(t, i)))
			return false;
	return true;
}

void clocks_glanced(struct target *t, uint64_t now)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		clock_track_glanced(clock_track_at(t, i), now);
	prepare_glimpses(t);
}

void clocks_stop(struct target *t)
{
	stop_clocks(t);
	t->window = ++t->compares;
	for (uint32_t i = 0; i < all_tracks(t); i++) {
		struct clock_track *track = any_track(t, i);

		if (track && track->runs)
			clock_track_take(t, track);
	}
}

void clocks_judge(struct target *t)
{
	if (t->native || t->status < 0)
		return;
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		struct clock_track *track = clock_track_at(t, i);

		if (track->planned && !is_left_out(track))
			clock_track_judge(t, track);
	}
}

void clocks_saw(struct clock_track *track, uint32_t node, uint32_t state)
{
	track->seen = true;
	track->node = node;
	track->state = state;
}

void clocks_saw_nothing(struct clock_track *track)
{
	track->seen = false;
}

bool clocks_row(struct target *t, const struct clock_window *w,
		struct clock_track *track, uint32_t tick,
		struct clock_sample *sample)
{
	struct clock_row row = { 0 };
	enum clock_found found;

	if (!track->planned)
		return false; /* it was born since */
	found = clock_track_find(t, w, track, w->start + tick * w->period,
				 &row);
	t->clocks->rows += found != CLOCK_NOBODY;
	t->clocks->lost += found == CLOCK_LOST;
	*sample = (struct clock_sample){
		.node = row.node,
		.state = row.state,
		.clocked = !row.taken && row.state & STATE_ON_CPU,
		.visited = row.visited,
	};
	return found == CLOCK_FOUND;
}

/* ---- what is learnt ---- */

/* Whether windows may be longer, as far as the room of the clocks goes. */
static bool is_roomy(struct target *t)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		const struct clock_track *track = clock_track_at(t, i);

		if (track->planned && track->runs && !clock_track_roomy(track))
			return false;
	}
	return true;
}

static bool was_full(struct target *t)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++) {
		const struct clock_track *track = clock_track_at(t, i);

		if (track->planned && track->runs &&
		    clock_track_was_full(track))
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
		if (c->patience > least_patience(t))
			c->patience /= 2;
	}
	if (++c->trusted < TRUST)
		return;
	c->trusted = 0;
	if (c->ticks < TICKS_MAX && is_roomy(t))
		c->ticks *= 2;
}

static bool has_newcomers(struct target *t)
{
	for (uint32_t i = 0; i < clock_tracks(t); i++)
		if (!clock_track_at(t, i)->planned)
			return true;
	return false;
}

/* Whether too much was lost. What all went well with is to one's credit, since
 * windows may be of few rows, and since a single sleep may cost several: a wait
 * for the GIL takes five milliseconds. */
static bool count_loss(struct target *t)
{
	struct clocks *c = t->clocks;
	uint32_t credit = c->credit + c->rows, cost = c->lost * LOSS;
	uint32_t most = t->native ? CREDIT_NATIVE : CREDIT;

	c->credit = cost < credit ? credit - cost : 0;
	if (c->credit > most)
		c->credit = most;
	return !c->credit;
}

uint32_t clocks_learn(struct target *t, const struct clock_window *w)
{
	struct clocks *c = t->clocks;
	uint32_t lost = c->lost;

	if (t->native && was_full(t) && c->ticks > CLOCKS_LEAST)
		c->ticks /= 2;
	else if (count_loss(t) || c->epoch != t->table.epoch ||
		 has_newcomers(t))
		be_patient(t);
	else
		trust(t, w->ticks);
	c->rows = c->lost = 0;
	bury(t);
	return lost;
}
