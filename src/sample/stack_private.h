/* The inside of struct stack: for stack.c, regions.c, proof.c, burst.c
 * and glimpse.c alone. */
#ifndef PYROMETER_SAMPLE_STACK_PRIVATE_H
#define PYROMETER_SAMPLE_STACK_PRIVATE_H

#include <string.h>

#include "sample/stack.h"

/* What of the leaf end is compared in two copies. */
#define VERIFY_FRAMES 12
#define VERIFY_BYTES  3072u /* of the youngest chunk, below the leaf */

enum region_kind {
	REGION_CHUNK, /* a data-stack chunk, from its start on */
	REGION_FRAME, /* one frame outside the chunks */
	REGION_SHIM,  /* the same, of an entry into the interpreter: holds no
		       * code and leads to the frame below it in the chunk */
};

/* A part of the target's memory, with one or two copies of it. */
struct stack_region {
	enum region_kind kind;
	uint64_t address;
	uint32_t size;	   /* bytes wanted next time */
	uint32_t have;	   /* bytes that the copy holds now */
	uint32_t full;	   /* bytes of the whole chunk */
	uint32_t capacity; /* of `copy` */
	uint32_t again_at; /* offset in the region where the second copy starts
			    */
	uint32_t again_have;
	unsigned char *copy, *again;
	unsigned char *last; /* the copy before, of a chunk */
	uint32_t last_have;
	size_t piece, again_piece;
	bool near_leaf; /* had one of the top frames in the last walk */
	uint64_t seen;	/* number of the walk that used it last */
};

static inline uint64_t word_at(const unsigned char *bytes, uint16_t offset)
{
	uint64_t v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

/* Whether the frame is an entry into the interpreter: no code of its own. */
bool frame_is_shim(const struct layout *l, const unsigned char *frame);
/* What a frame says; `copy` are its bytes, `address` where they lie. */
void frame_decode(const struct layout *l, const unsigned char *copy,
		  uint64_t address, struct raw_frame *out);

/* Let the leaf and the thread state be those of another copy of the stack,
 * which is the same otherwise. */
void stack_take_copy(struct stack *s, const unsigned char *leaf,
		     const unsigned char *state);

/* Whether another copy of the thread state is of the same thread. */
bool stack_same_ids(const struct stack *s, const unsigned char *state);
/* Whether another copy of the frames, which begins at the address `from` and
 * holds all of them, says what the walk found, the leaf's own instruction
 * aside. */
bool stack_same_frames(const struct stack *s, const unsigned char *copy,
		       uint64_t from);

/* After the read: take note of which regions were read. */
void regions_take(struct stack *s, const struct pieces *pieces);
/* Before a walk: follow the chunks when the thread has another youngest one. */
void regions_begin(struct stack *s);
/* The copy of a frame, read now if nobody predicted it; NULL when it cannot be
 * read. */
const unsigned char *regions_frame(struct stack *s, uint64_t frame);
/* After a walk: what to ask for next time. */
void regions_predict(struct stack *s);

#endif
