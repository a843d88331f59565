/* Threads that run on and on, left to the timers of their cores.
 *
 * The problem: a tick costs us some tens of microseconds, of which the wake-up
 * is the larger part: the core that we wake up on was idle and has forgotten
 * everything, or there is no such core, and they are taken from the target.
 *
 * The idea: a thread that has been met running at a dozen ticks in a row will
 * most probably be met so at the next. So it is given a clock (visit_clock.h)
 * that takes its stack, and with native stacks its registers and C stack, and
 * we sleep for a window of several ticks. Then the clocks are stopped, what
 * they took is walked, and one tick is taken as usual, which finds what else
 * has changed: threads that were born or went to sleep. The ticks of the window
 * are written with what is known of each:
 *
 *   a thread that ran     what its clock took about then; if it was off CPU
 *                         from some moment to the end, from then on what the
 *                         tick at the end finds; if only for some time, what
 *                         was taken as it fell asleep, with native stacks;
 *                         while others had its CPU, what its clock took last;
 *   a thread that slept   what it slept in, if it has not run meanwhile;
 *   anything else         nothing: such samples count as lost. So do those
 *                         whose stack could not be taken.
 *
 * Which of these it is the records of switches say, with native stacks. Without
 * there are none, and none are needed: a clock goes off while its thread runs
 * and each of its rows is written once, so that there are as many of them as
 * there should be; the kernel's counts of turns and of sleeps say the rest.
 *
 * Glances. Each tick that is left to a clock spares us a wake-up, but is an
 * interrupt of a timer, which on virtual machines costs the thread twice what a
 * visit does, while being read from another core costs it nothing. Measured on
 * such a machine, at 1 kHz and with 250 of the kernel's ticks: 13 us for a
 * timer, 7 us for a visit, 2 to 3 us for the program in either. So without
 * native stacks we take some of the ticks ourselves: glances. What one finds is
 * kept as a row beside those of the clock. All else (walking what the clock
 * took, asking the kernel, writing) waits for the window's end, so that we wake
 * up to as little code and data as can be: the core was idle, and has forgotten
 * everything. Most glances are therefore glimpses: one read of a stack that is
 * as it was (glimpse.h), while its clock, which has gone off since the last
 * one, says that the thread runs; or, of a thread that is to be visited, its
 * clock struck on its core (visit_clock.h), where the interrupt finds it or
 * not. They take 6 and 18 us behind a wake-up of 15, and a whole glance 25 to
 * 40. A glimpse that finds anything else is followed by a glance, and a glance
 * that does not find threads that go on as they did ends the window. With
 * threads that sleep every third one is a glance, which asks about them.
 *
 * How many ticks are ours is a matter of budget: about one percent of a core at
 * 1 kHz, or two for visits, which the target prefers to timers, and more where
 * wake-ups and interrupts are dear.
 * What we spend in windows is measured, and from each half second to the next
 * there are as many more or fewer of them: every second to eighth tick, or up
 * to two of three of visits.
 *
 * How long a window is: up to 128 ticks with native stacks, when the kernel
 * tells who ran at each of them, else 29. It is short at first, and becomes
 * longer as all goes well: what it does not know is lost, and the names of code
 * that was not met before are read at its end, if the process is still there.
 *
 * A window is begun only when every thread of every target either runs on or
 * sleeps on, and no address of a code object has been used again for as long.
 * When windows lose samples, or addresses of code objects turn out to have been
 * used again, we become more patient: the next one wants threads that have been
 * running for several times as long. So a program that keeps changing is taken
 * tick by tick, as always.
 *
 * A clock's own period differs by up to a sixteenth and is changed now and
 * then, so that no program keeps step with it; one could with the kernel's
 * tick, which is a part of it. */
#ifndef PYROMETER_SAMPLE_CLOCKS_H
#define PYROMETER_SAMPLE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/sampler.h"

struct clocks;
struct clock_track;

/* Leave a target for good. */
void clocks_leave(struct target *t);
void clock_track_free(struct clock_track *track); /* NULL-safe */

#define CLOCKS_LEAST 2 /* ticks that make a window */

/* Whether windows are worth it, with ticks of that period. */
bool clocks_suit(uint64_t period);
/* How many make one, at most; and ns from one glance to the next, if a tick
 * that we take costs us so many of them; 0: there are none. */
uint32_t clocks_ticks(const struct target *t, uint64_t period);
uint64_t clocks_glance(const struct target *t, uint64_t period, uint64_t cost);

enum clocks_state {
	CLOCKS_NOT,  /* take the next tick */
	CLOCKS_IDLE, /* all threads sleep on */
	CLOCKS_RUN,  /* all threads sleep on or run on, and one runs */
};

/* After a tick was taken: may a window begin? */
enum clocks_state clocks_state(const struct sampler *s, struct target *t);

struct clock_window {
	uint64_t start, period; /* ns */
	uint32_t ticks;
	uint64_t glance; /* ns from one tick that we take to the next; 0: none
			  */
};

/* How many of its ticks we take, but for the one at its end. */
uint32_t clocks_glances(const struct clock_window *w);

/* The window ends now: sooner than planned, since a signal came, or later, as
 * we had to wait for our turn; the clocks go on meanwhile, for some time.
 * Returns how many ticks are missed nevertheless. */
uint32_t clocks_close(struct clock_window *w, uint64_t now);

/* Begin a window of a target in that state, and end it. False when it cannot be
 * begun; then no clock goes. A window that others could not begin is cancelled.
 * Between windows clocks go on, unless none is to follow at once. */
bool clocks_start(struct target *t, const struct clock_window *w);
void clocks_cancel(struct target *t);
void clocks_stop(struct target *t);
void clocks_rest(struct target *t);
/* Between windows: none will go for long, so let go of the kernel's timers,
 * too. That happens by itself to who has had no clock for a thousand ticks. */
void clocks_let_go(struct target *t);

/* A tick in a window, quickly. False when it was found that a glance is wanted
 * instead. */
bool clocks_glimpse(struct target *t, uint64_t now);
/* A glance: before it, tell whose clocks have gone off; after it, whether it
 * found nothing that ends the window; then keep what it found. */
void clocks_peek(struct target *t);
bool clocks_go_on(struct target *t);
void clocks_glanced(struct target *t, uint64_t now);

/* What the last tick that was taken found of a thread; the node may be ID_NONE
 * if a thread in that state is not to be written. */
void clocks_saw(struct clock_track *track, uint32_t node, uint32_t state);
void clocks_saw_nothing(struct clock_track *track);

struct clock_sample {
	uint32_t node, state;
	bool clocked; /* a clock took it; else we did, in a glance, */
	bool visited; /* or the kernel for us */
};

/* After the tick at the window's end: find out what is to be known of it. Then:
 * what the thread did at one of its ticks, 1 to w->ticks, in order. False when
 * there is nothing to write. */
void clocks_judge(struct target *t);
bool clocks_row(struct target *t, const struct clock_window *w,
		struct clock_track *track, uint32_t tick,
		struct clock_sample *sample);
/* Then: learn from the window, and forget threads that ended. Returns how many
 * rows were not known. */
uint32_t clocks_learn(struct target *t, const struct clock_window *w);

#endif
