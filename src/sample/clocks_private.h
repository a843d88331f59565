/* Windows inside: what clocks.c, which begins and ends them, and clock_track.c,
 * which knows what each thread did in them, have in common. */
#ifndef PYROMETER_SAMPLE_CLOCKS_PRIVATE_H
#define PYROMETER_SAMPLE_CLOCKS_PRIVATE_H

#include "os/visit_clock.h"
#include "sample/clocks.h"
#include "sample/glimpse.h"

#define CLOCK_ROWS_MAX	  256 /* rows of a thread in a window */
#define CLOCK_GLANCES_MAX GLIMPSES_MAX
#define CLOCK_DOZES_MAX	  64

struct clocks {
	struct visit_clocks *visits; /* NULL: cannot be had */
	uint32_t n;
	uint32_t patience;
	uint32_t trusted, quiet; /* windows, and ticks, without loss */
	uint64_t last_read;	 /* how much code had been read, and for how */
	uint32_t calm;		 /* many ticks or windows that is the same */
	uint64_t read_before;	 /* the same as the last window began */
	uint32_t ticks;		 /* of a window, at most */
	uint32_t credit;	 /* see count_loss() */
	bool going;		 /* some clock may be */
	uint32_t idle;		 /* ticks since one was */
	/* Of the last window. */
	uint64_t epoch, pass; /* as it began; see codes_pass() */
	uint32_t rows, lost;
	uint32_t glimpses; /* that there may be until a look is taken */
};

struct clock_row {
	uint64_t time;
	uint32_t node, state;
	bool hole;	     /* the clock went off, and nothing came of it */
	bool taken, visited; /* by us or for us, in a glance */
};

/* One thread. */
struct clock_track {
	struct native_thread *native; /* NULL: there are no native stacks */
	struct target_thread *python; /* NULL: Python does not know it */
	struct visit_clocks *visits;  /* that its clock is of */
	int clock;		      /* -1: none */
	uint32_t ran; /* ticks that met it running; see count_tick() */

	/* The last tick that was taken. */
	bool seen;
	uint32_t node, state;

	/* The window, and as it began. */
	bool planned;  /* it was there */
	bool runs;     /* and was left to its clock */
	bool full;     /* there was no room for more rows */
	bool was_seen; /* and what of: */
	uint32_t first_node, first_state;
	struct clock_row *rows; /* CLOCK_ROWS_MAX */
	uint32_t n_rows, next;	/* the next one to be written */
	struct clock_row glances[CLOCK_GLANCES_MAX];
	uint32_t n_glances;
	struct glimpses glimpses; /* those not among these yet */
	uint64_t glimpsed;	  /* when the last one was taken */
	size_t position;	  /* of the clock, when it was last looked at */
	struct clock_row last; /* the one before it, or the tick before all */

	/* With native stacks. */
	uint64_t head;
	bool stood; /* it began off CPU, since: */
	uint64_t left;
	struct clock_row *dozes; /* CLOCK_DOZES_MAX: it fell asleep */
	uint32_t n_dozes;

	/* Without, of one that sleeps. */
	uint64_t mark; /* see os_thread_mark() */
	bool woke;
	/* Of one that runs. */
	uint64_t turns;	 /* on a CPU; 0: not known */
	uint64_t sleeps; /* between them */
	bool has_sleeps, judged;
	uint64_t naps; /* of these since the kernel was asked before */
};

/* All threads of a target, and those that ended in the window. */
uint32_t clock_tracks(const struct target *t);
struct clock_track *clock_track_at(struct target *t, uint32_t i);
uint32_t clock_tracks_ended(const struct target *t);
struct clock_track *clock_track_ended(const struct target *t, uint32_t i);

void clock_track_give_back(struct clock_track *track); /* NULL-safe */

/* Before a window; those that go on have rows of the one before it. */
void clock_track_plan(const struct target *t, struct clock_track *track,
		      bool goes_on);
/* Let its clock take something about every `period`. */
bool clock_track_start(struct target *t, struct clock_track *track,
		       uint64_t period);
/* The clock is stopped: name what it took, and put it among the glances. */
void clock_track_take(struct target *t, struct clock_track *track);
/* Whether not all had room, in its area and in the ring of its switches, and
 * whether there would have been some for twice as much. */
bool clock_track_was_full(const struct clock_track *track);
bool clock_track_roomy(const struct clock_track *track);
/* Without native stacks, for a glance: see clocks.h. */
bool clock_track_glimpse(struct target *t, struct clock_track *track,
			 uint64_t now);
void clock_track_peek(struct target *t, struct clock_track *track);
void clock_track_glanced(struct clock_track *track, uint64_t now);
/* Before glimpses: the thread is as the last look found it. False when there
 * are none to be had of it. */
bool clock_track_looked(struct target *t, struct clock_track *track);
/* Without native stacks, after the tick at the end: ask the kernel whether one
 * that was left asleep woke up. */
void clock_track_judge(struct target *t, struct clock_track *track);

enum clock_found {
	CLOCK_FOUND,
	CLOCK_LOST,
	CLOCK_NOBODY, /* there is no such thread any more */
};

/* What it did at a tick. */
enum clock_found clock_track_find(struct target *t,
				  const struct clock_window *w,
				  struct clock_track *track, uint64_t at,
				  struct clock_row *row);

#endif
