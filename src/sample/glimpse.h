/* Glimpses: looks at a thread that runs on, for as little as can be.
 *
 * The problem: a look that we wake up for costs twice what the wake-up does,
 * though it is one system call, like the wake-up. The core was idle, so each
 * line of code and data that the look touches is fetched from far away: those
 * of the plan, the lists, the walk, the names.
 *
 * The idea: most looks in a window (clocks.h) find the stack as the one before
 * found it, but for the leaf's instruction. So the pieces to read are put
 * together once; a glimpse reads them, holds each frame against the stack that
 * is known, and keeps the leaf, the thread state and a few fields, some hundred
 * bytes. They become samples later, when the core is warm and several can be
 * named at once, but before the stack is walked again. A glimpse that finds
 * anything else (another stack, other threads beside this one) keeps nothing:
 * then a look is taken as always.
 *
 * The proof is that of two looks in a row that found the same (stack.h), of all
 * frames. It wants frames that lie near each other, as they do in a chunk of
 * the data stack, so there are none up to 3.10. */
#ifndef PYROMETER_SAMPLE_GLIMPSE_H
#define PYROMETER_SAMPLE_GLIMPSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"
#include "os/visit.h"

#define GLIMPSES_MAX   64
#define GLIMPSE_PIECES (3 + VISIT_FIELDS)

struct target;
struct target_thread;

struct glimpses {
	uint32_t n; /* that are kept, */
	uint64_t times[GLIMPSES_MAX];

	/* Private: what is read, */
	struct target_thread *thread; /* NULL: nothing */
	uint64_t walk;		      /* its last one: see stack.h */
	struct memory_piece pieces[GLIMPSE_PIECES];
	size_t n_pieces, total;
	uint64_t from;	    /* address of the lowest frame */
	uint64_t leaf;	    /* what the C frame says is the leaf's */
	struct visit asked; /* the fields */
	unsigned char *bytes, *state;
	/* and what is kept of it. */
	uint64_t values[GLIMPSES_MAX][VISIT_FIELDS];
	unsigned char *kept;
	/* After one that found something else: how many are not tried. */
	uint32_t pause, next_pause;
};

void glimpses_release(struct glimpses *g);

/* Glimpses at a thread as the last look found it, if it runs and holds the GIL:
 * one without may fall asleep where it is. Those that were kept must have been
 * shown. */
void glimpses_plan(struct glimpses *g, const struct target *t,
		   struct target_thread *thread);
/* Take one. False when it is not to be had, or not as it was. */
bool glimpses_take(struct glimpses *g, struct target *t, uint64_t now);
/* Let the thread be as one of those that were kept found it. */
void glimpses_show(const struct glimpses *g, uint32_t i, struct target *t);

#endif
