/* Several looks at a target in one read.
 *
 * The problem: as fast as can be, a look is one system call, and that call is
 * nearly all it costs; most of it is spent before and after the bytes are
 * copied.
 *
 * The idea: the kernel reads the pieces of a vectored read one after the other.
 * A piece that is named again is read again, later. So a look at stacks that
 * are expected to stay as they are asks for their leaf ends a few times more,
 * with the thread state behind each, as the look itself does. Each such copy is
 * a look of its own, with its own leaf's instruction and holder of the GIL.
 *
 * The proof: the copies are held against the look that they follow, as a second
 * copy is (stack.h): the same leaf, and the same bytes below it for the frames
 * that a proof compares. The first that differs ends the burst: it and what is
 * behind it never become samples, and the next look is an ordinary one. So is
 * every look that is not one of the quick way (see stack.c).
 *
 * The shares: what moves is looked at less often than what stands still, the
 * more so with bursts. So there are none in a program of whose looks, in the
 * last second or so, more than one in two hundred found another stack. */
#ifndef PYROMETER_SAMPLE_BURST_H
#define PYROMETER_SAMPLE_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BURST_LOOKS 8 /* at most, beyond the look itself */

struct target;

struct burst {
	bool wanted; /* set by who samples: ticks are as dense as can be */

	/* Of the last look. */
	uint32_t planned;    /* further looks that were asked for */
	uint32_t proven;     /* of these, as good as the look itself */
	uint32_t shown;	     /* of these, gone through */
	size_t first;	     /* piece of the target's plan */
	uint64_t begin, end; /* clock_now() around the read */

	/* Private. */
	uint32_t restless; /* moving average of looks that found another stack;
			    * 1 is BURST_ONE */
	unsigned char *bytes;
	size_t capacity;
};

void burst_release(struct burst *b);

/* Add further looks to the plan of one that is taken now, if the threads are
 * such that they are likely to hold. */
void burst_plan(struct target *t, uint64_t now);

/* After the walk: see how many of them hold. */
void burst_check(struct target *t);

/* Let the threads be as the next look of the burst found them, and tell when
 * that was. False when there is none. */
bool burst_next(struct target *t, uint64_t *when);

#endif
