/* The stack of one thread, predicted, read and walked.
 *
 * The problem: a thread's frames are a linked list that changes every few tens
 * of nanoseconds, and each read of another process costs a system call.
 *
 * The idea: between two samples most of a stack stays where it was. So a stack
 * remembers where its parts lay (thread state, C frame, data-stack chunks up to
 * the leaf, entry shims and generator frames outside them), asks for all of
 * them in one vectored read, and walks the copy. What the prediction missed is
 * read on the spot, and predicted next time.
 *
 * The proof: the frames nearest to the leaf are asked for a second time in the
 * same vectored read, with the thread state (which names the leaf) in between.
 * A stack can only change at its leaf, so if the top VERIFY_FRAMES frames say
 * the same in both copies then nothing below them moved either: that many
 * returns and calls do not fit between the copies. The leaf's own instruction
 * may differ: it is running. Two looks in a row that found the same prove each
 * other in the same way, so a caller that looks often need not ask for the
 * second copy; one that holds the thread's core (see ride.h) needs no proof of
 * this kind.
 *
 * The short way: most stacks lie in one chunk, and between two looks mostly
 * nothing but the leaf's instruction has changed. Then comparing the chunk with
 * its last copy takes the place of the walk. */
#ifndef PYROMETER_SAMPLE_STACK_H
#define PYROMETER_SAMPLE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"
#include "os/visit.h"
#include "python/python.h"
#include "sample/pieces.h"

#define STACK_DEPTH_MAX 100000 /* frames; deeper ones are cut at the root */

struct raw_frame {
	uint64_t code;	      /* address of the code object */
	uint64_t instruction; /* as code_line() wants it */
	uint64_t frame;	      /* address of the frame */
	uint64_t previous;    /* address of the frame below it */
	int32_t tlbc;	      /* index of the thread-local bytecode, or 0 */
	bool entry; /* the first frame that a call of the eval function runs */
};

struct stack_region;

struct stack {
	const struct python *python;
	uint64_t tstate; /* address of the thread state */

	/* The last walk, leaf first. */
	struct raw_frame *frames;
	uint32_t n_frames, frames_capacity;
	bool entered;	 /* at the leaf code is about to be run, or has ended:
			  * the eval function has no frame yet, or no more */
	bool rooted;	 /* the walk came to the outermost frame */
	bool unreadable; /* the walk met memory that cannot be read */
	bool truncated;	 /* deeper than STACK_DEPTH_MAX */
	bool missed;	 /* the prediction did not cover the walk */
	bool twice;	 /* the plan had a second copy of the leaf end */

	bool same; /* nothing but the leaf's instruction may have changed
		    * since the walk before */

	/* A walk before that, for stack_cut_to_common(). */
	struct raw_frame *before;
	uint32_t n_before, before_capacity;
	bool before_rooted;

	/* Copies of the thread state. */
	unsigned char *state, *state_again;

	/* Private: where the parts lay, and their copies. */
	struct stack_region *regions;
	uint32_t n_regions, regions_capacity;
	uint32_t known;	   /* regions from before this walk */
	uint32_t hint;	   /* region in which the last frame was found */
	uint32_t searched; /* regions looked at for frames of this walk */
	uint64_t cframe;
	uint64_t root; /* to 3.10: a frame known to be outermost */
	uint64_t cframe_copy, cframe_again;
	uint64_t walk; /* counts walks that found another stack, or may have */
	uint32_t state_size, frame_size; /* bytes read of each */
	bool plain, quick;		 /* see walk_quickly() */
	uint32_t plain_chunk; /* index of the only chunk of a plain stack */
	struct pieces repair;
	unsigned char *scratch;
	size_t scratch_capacity;
	size_t state_piece, cframe_piece; /* where they stand in the plan */
};

void stack_init(struct stack *s, const struct python *python, uint64_t tstate);
void stack_release(struct stack *s);

/* Add what is needed for a walk to the plan; with `prove`, the leaf end twice,
 * around the thread state. Without `shims` the entries into the interpreter are
 * taken as they were read last: they seldom change, and never alone. */
void stack_plan(struct stack *s, struct pieces *pieces, bool prove, bool shims);

/* Of a stack that is known not to have changed: the thread state alone, for the
 * lists that go through it. It is not walked. */
void stack_plan_state(struct stack *s, struct pieces *pieces);

/* After the read: walk. 0, or -ERR_UNREADABLE when not even the thread state
 * could be read. */
int stack_walk(struct stack *s, const struct pieces *pieces);

/* The frames as a list that can be taken by a visit, and the walk over what one
 * took. -ERR_LIMIT when the list is longer than visits are: the stack is then
 * as it was. */
void stack_shape(const struct stack *s, struct visit_shape *shape);
int stack_walk_visited(struct stack *s, const struct visit *visit);

/* Whether the stack stood still during the read that was planned with `prove`.
 * Reads again what was not predicted. */
bool stack_stood_still(struct stack *s);

/* Whether this walk, planned without `prove`, came out as the one before it,
 * the leaf's own instruction aside. Then the frames are those of a stack that
 * was there a moment ago and is still: no mixture of two. */
bool stack_same_as_before(const struct stack *s);

/* Remember the walk; after the next one, cut the leaf off down to what both
 * have in common from the root on. Walks that did not come to the outermost
 * frame have nothing in common. */
void stack_remember(struct stack *s);
void stack_cut_to_common(struct stack *s);

/* Whether a frame of the walk is a generator's or a coroutine's; reads its code
 * object. */
bool stack_is_generator(const struct stack *s, uint32_t frame);

/* Whether, by another copy of the thread state, those before and behind it in
 * the list are the same. */
bool stack_same_neighbours(const struct stack *s, const unsigned char *state);

/* A field of the thread state as last read; 0 when the version has none. */
uint64_t stack_field(const struct stack *s, uint16_t offset);

#endif
