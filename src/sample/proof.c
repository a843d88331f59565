/* The proof that a stack stood still, and what to keep when it did not. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sample/stack_private.h"

static const unsigned char *find_again(const struct stack *s, uint64_t frame,
				       uint32_t size)
{
	for (uint32_t i = 0; i < s->n_regions; i++) {
		const struct stack_region *r = &s->regions[i];
		uint64_t start = r->address + r->again_at;

		if (r->again_have && frame >= start &&
		    frame - start + size <= r->again_have)
			return r->again + (frame - start);
	}
	return NULL;
}

/* Read the top of the walk once more, for what the prediction missed. */
static bool read_again(struct stack *s, uint32_t n)
{
	const struct layout *l = &s->python->layout;
	uint32_t size = s->frame_size;
	size_t need = (size_t)n * size;

	if (need > s->scratch_capacity) {
		s->scratch_capacity = need;
		s->scratch = xrealloc(s->scratch, need);
	}
	pieces_clear(&s->repair);
	for (uint32_t i = 0; i < n; i++)
		pieces_add(&s->repair, s->frames[i].frame,
			   s->scratch + (size_t)i * size, size);
	if (s->cframe)
		pieces_add(&s->repair, s->cframe + l->cframe.current_frame,
			   &s->cframe_again, sizeof(s->cframe_again));
	pieces_add(&s->repair, s->tstate, s->state_again, s->state_size);
	if (pieces_read(&s->repair, s->python->memory) < 0)
		return false;
	for (size_t i = 0; i < s->repair.count; i++)
		if (!s->repair.good[i])
			return false;
	return true;
}

static bool same_leaf(const struct stack *s)
{
	const struct layout *l = &s->python->layout;

	if (word_at(s->state, l->thread.frame) !=
	    word_at(s->state_again, l->thread.frame))
		return false;
	return l->frames != FRAME_CFRAME || !s->cframe ||
	       s->cframe_copy == s->cframe_again;
}

static bool same_frame(const struct stack *s, uint32_t i,
		       const unsigned char *again)
{
	const struct layout *l = &s->python->layout;
	struct raw_frame now;

	frame_decode(l, again, s->frames[i].frame, &now);
	return now.code == s->frames[i].code &&
	       now.previous == s->frames[i].previous &&
	       (i == 0 || now.instruction == s->frames[i].instruction);
}

/* Whether a field of the thread state, if the version has it, is as in the look
 * that was walked. */
static bool same_field(const struct stack *s, const unsigned char *state,
		       uint16_t offset)
{
	return offset == LAYOUT_NONE || offset + 8u > s->state_size ||
	       word_at(state, offset) == word_at(s->state, offset);
}

bool stack_same_ids(const struct stack *s, const unsigned char *state)
{
	const struct layout *l = &s->python->layout;

	return same_field(s, state, l->thread.thread_id) &&
	       same_field(s, state, l->thread.native_thread_id);
}

bool stack_same_neighbours(const struct stack *s, const unsigned char *state)
{
	const struct layout *l = &s->python->layout;

	return same_field(s, state, l->thread.previous) &&
	       same_field(s, state, l->thread.next);
}

bool stack_same_frames(const struct stack *s, const unsigned char *copy,
		       uint64_t from)
{
	for (uint32_t i = 0; i < s->n_frames; i++)
		if (!same_frame(s, i, copy + (s->frames[i].frame - from)))
			return false;
	return true;
}

/* How many of the top n frames have a second copy, when the rest lie deeper in
 * a chunk than the second copy reaches; 0 when one is missing otherwise. */
static uint32_t covered(const struct stack *s, uint32_t n)
{
	uint32_t size = s->frame_size;

	for (uint32_t i = 0; i < n; i++) {
		if (find_again(s, s->frames[i].frame, size))
			continue;
		for (uint32_t k = 0; i && k < s->n_regions; k++) {
			const struct stack_region *r = &s->regions[k];

			if (r->again_have && r->again_at &&
			    s->frames[i].frame - r->address < r->again_at)
				return i;
		}
		return 0;
	}
	return n;
}

/* Whether the two copies of the top n frames differ. */
static bool moved(struct stack *s, uint32_t n)
{
	uint32_t size = s->frame_size;
	uint32_t have = s->missed ? 0 : covered(s, n);
	bool again = !have && n;

	if (again && !read_again(s, n))
		return true;
	if (!again)
		n = have;
	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *copy =
			again ? s->scratch + (size_t)i * size
			      : find_again(s, s->frames[i].frame, size);

		if (!same_frame(s, i, copy))
			return true;
	}
	/* In the plan the thread state is read between the two copies. */
	return again && !same_leaf(s);
}

bool stack_stood_still(struct stack *s)
{
	uint32_t n = s->n_frames < VERIFY_FRAMES ? s->n_frames : VERIFY_FRAMES;

	return (s->rooted || s->truncated) && !moved(s, n);
}

void stack_remember(struct stack *s)
{
	struct raw_frame *frames = s->before;
	uint32_t capacity = s->before_capacity;

	s->before = s->frames;
	s->before_capacity = s->frames_capacity;
	s->n_before = s->n_frames;
	s->before_rooted = s->rooted;
	s->frames = frames;
	s->frames_capacity = capacity;
	s->n_frames = 0;
	s->plain = false;
}

static bool same_raw(const struct raw_frame *a, const struct raw_frame *b)
{
	return a->frame == b->frame && a->code == b->code &&
	       a->instruction == b->instruction;
}

bool stack_same_as_before(const struct stack *s)
{
	uint32_t n = s->n_frames;

	if (s->same)
		return true;
	if (s->twice || !s->rooted || n != s->n_before || !n)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (!same_raw(&s->frames[i], &s->before[i]))
			return false;
	return s->frames[0].frame == s->before[0].frame &&
	       s->frames[0].code == s->before[0].code;
}

void stack_cut_to_common(struct stack *s)
{
	uint32_t n = s->n_before < s->n_frames ? s->n_before : s->n_frames;
	uint32_t common = 0;

	while (s->rooted && s->before_rooted && common < n) {
		const struct raw_frame *a =
			&s->before[s->n_before - 1 - common];
		const struct raw_frame *b =
			&s->frames[s->n_frames - 1 - common];

		if (!same_raw(a, b))
			break;
		common++;
	}
	if (common)
		memmove(s->frames, s->frames + (s->n_frames - common),
			common * sizeof(*s->frames));
	s->n_frames = common;
	s->plain = false; /* the frames are no longer those of the walk */
}
