/* Windows, in which threads are left to their clocks: see clocks.h. */
#include "base/clock.h"
#include "base/map.h"
#include "sample/recorder_private.h"

#define STEADY_BITS 29 /* 2^29 ns with windows of the same period */
/* Processes with clocks: each has programs behind every timer, and maybe every
 * switch, of the system. */
#define CLOCKED_MAX 4
#define COST_FIRST  45000u /* ns: until it is measured */
#define COST_TICKS  8	   /* that make a measurement */

/* All targets must be in that state, and one run. */
static bool is_steady(struct recorder *r)
{
	bool runs = false, due = r->n_targets;

	if (!clocks_suit(r->options.period) || r->n_targets > CLOCKED_MAX)
		return false;
	for (uint32_t i = 0; i < r->n_targets; i++) {
		enum clocks_state state =
			clocks_state(&r->sampler, r->targets[i]);

		runs |= state == CLOCKS_RUN;
		due &= state != CLOCKS_NOT;
	}
	return due && runs;
}

/* Let no clock go on. */
static void rest(struct recorder *r)
{
	for (uint32_t i = 0; i < r->n_targets; i++)
		clocks_rest(r->targets[i]);
}

/* What our ticks cost, at the end of a window with so many of them. It is used
 * from the next half second on, when the clocks are given another period
 * anyway. */
static void measure_cost(struct recorder *r, uint64_t began, uint32_t ticks)
{
	uint64_t epoch = clock_now() >> STEADY_BITS;

	r->ours.spent += clock_thread_cpu() - began;
	r->ours.ticks += ticks;
	if (r->ours.epoch == epoch || r->ours.ticks < COST_TICKS)
		return;
	r->ours.epoch = epoch;
	r->ours.cost = r->ours.spent / r->ours.ticks;
	r->ours.spent = r->ours.ticks = 0;
}

void window_plan(struct recorder *r)
{
	for (uint32_t i = 0; r->n_targets > CLOCKED_MAX && i < r->n_targets;
	     i++)
		clocks_leave(r->targets[i]);
	r->window = is_steady(r);
	if (!r->window)
		rest(r);
}

static bool start_window(struct recorder *r, const struct clock_window *w)
{
	for (uint32_t i = 0; i < r->n_targets; i++) {
		if (clocks_start(r->targets[i], w))
			continue;
		while (i--)
			clocks_cancel(r->targets[i]);
		return false;
	}
	return true;
}

static void write_window(struct recorder *r, const struct clock_window *w)
{
	for (uint32_t i = 0; i < r->n_targets; i++)
		clocks_judge(r->targets[i]);
	for (uint32_t tick = 1; tick <= w->ticks; tick++) {
		writer_tick(r->writer, w->start + tick * w->period);
		r->info.ticks++;
		for (uint32_t i = 0; i < r->n_targets; i++)
			scribe_write_window(&r->scribe, r->targets[i], w, tick,
					    &r->sampler.counts);
	}
	for (uint32_t i = 0; i < r->n_targets; i++)
		r->sampler.counts.lost += clocks_learn(r->targets[i], w);
}

/* How long may nobody be awake? Children are to be found in time, and the end
 * is to be kept. */
static uint64_t window_length(const struct recorder *r, uint64_t now)
{
	uint64_t length = UINT64_MAX, end = r->start + r->options.duration;

	if (r->family.count > r->n_targets)
		return 0;
	if (r->options.subprocesses)
		length = CARE_CHILDREN;
	if (!r->options.duration)
		return length;
	if (end <= now)
		return 0;
	return end - now < length ? end - now : length;
}

/* Whether the last tick was taken about when it was due; the next may come up
 * to a sixteenth of a period too soon. */
static bool is_near(const struct recorder *r, uint64_t now)
{
	uint64_t period = r->options.period;

	return r->next > now + period / 16 && r->next - now < period;
}

/* From one glance to the next, as often as any target wants them; none if one
 * does not. */
static uint64_t glance_every(const struct recorder *r)
{
	uint64_t cost = r->ours.cost ? r->ours.cost : COST_FIRST;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < r->n_targets; i++) {
		uint64_t n =
			clocks_glance(r->targets[i], r->options.period, cost);

		least = n < least ? n : least;
	}
	return least;
}

/* The period differs by up to a sixteenth, and is changed about every half
 * second: a clock is told of it by an interrupt. */
static struct clock_window next_window(struct recorder *r)
{
	uint64_t period = r->options.period, spread = period / 8, most,
		 now = clock_now();
	struct clock_window w = {
		.glance = glance_every(r),
		.start = is_near(r, now) ? r->next - period : now,
		.period = period - spread / 2 +
			  map_hash(now >> STEADY_BITS, 1) % (spread + 1),
	};

	most = window_length(r, w.start) / w.period;
	most -= most > 0; /* the tick at its end */
	for (uint32_t i = 0; i < r->n_targets; i++) {
		uint32_t n = clocks_ticks(r->targets[i], period);

		most = n < most ? n : most;
	}
	w.ticks = most < UINT32_MAX ? (uint32_t)most : 0;
	return w;
}

/* A tick in the middle of a window. False when it found something that ends the
 * window. */
static bool glance(struct recorder *r, uint64_t now)
{
	r->sampler.woke = now;
	for (uint32_t i = 0; i < r->n_targets; i++) {
		struct target *t = r->targets[i];

		clocks_peek(t);
		t->status = sampler_look(&r->sampler, t, now);
		if (t->status == 0)
			scribe_see(&r->scribe, t, now);
		if (!clocks_go_on(t))
			return false;
	}
	for (uint32_t i = 0; i < r->n_targets; i++)
		clocks_glanced(r->targets[i], now);
	return true;
}

/* The same, if all is as expected, at less than half the cost. */
static bool glimpse(struct recorder *r, uint64_t now)
{
	for (uint32_t i = 0; i < r->n_targets; i++)
		if (!clocks_glimpse(r->targets[i], now))
			return false;
	return true;
}

/* Let a window pass, but for its glances, each somewhere in its period, of
 * which `taken` are counted. Returns when it was to end: sooner if a glance
 * ends it or a signal came, or if we come too late for a glance. */
static uint64_t pass_window(struct recorder *r, const struct clock_window *w,
			    uint32_t *taken)
{
	uint64_t end = w->start + (w->ticks + 1) * w->period, now;
	uint32_t glances = clocks_glances(w);

	sampler_settle(&r->sampler, r->targets, r->n_targets);
	for (uint32_t n = 1; n <= glances; n++) {
		uint64_t due = w->start + n * w->glance - w->period / 2 +
			       map_hash(r->tick++, 0) % w->period;

		clock_sleep_until(due);
		now = clock_now();
		if (now < due)
			return now;
		if (now > due + w->period)
			return due;
		++*taken;
		if (glimpse(r, now))
			continue;
		if (!glance(r, now))
			return due;
		sampler_settle(&r->sampler, r->targets, r->n_targets);
	}
	clock_sleep_until(end);
	now = clock_now();
	return now < end ? now : end;
}

bool window_take(struct recorder *r)
{
	struct clock_window w = next_window(r);
	uint64_t end, closed, now, began = clock_thread_cpu();
	uint32_t taken = 0;

	r->window = false;
	if (w.ticks < CLOCKS_LEAST || !start_window(r, &w)) {
		rest(r);
		return false;
	}
	end = pass_window(r, &w, &taken);
	closed = clock_now();
	recorder_missed(r, closed - end, clocks_close(&w, closed));
	for (uint32_t i = 0; i < r->n_targets; i++)
		clocks_stop(r->targets[i]);
	now = clock_now();
	r->info.missed += (now - closed) / r->options.period;
	r->sampler.woke = closed;
	recorder_take(r, now);
	write_window(r, &w);
	recorder_write(r, now);
	measure_cost(r, began, 1 + taken);
	r->next = (now - end < w.period / 2 ? end : now) + r->options.period;
	window_plan(r);
	return true;
}
