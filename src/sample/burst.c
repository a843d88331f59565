#include "sample/burst.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "sample/stack_private.h"
#include "sample/target.h"

/* Each thread is two pieces more, and with many threads what a call costs
 * beyond its pieces is little. */
#define THREADS_MAX    8
#define BURST_ONE      (1u << 30)
#define RESTLESS_SHIFT 16		 /* looks that the average is over */
#define RESTLESS_MAX   (BURST_ONE / 200) /* above, the shares would bend */

void burst_release(struct burst *b)
{
	free(b->bytes);
}

/* ---- the plan ---- */

/* Whether the thread state alone says who holds the GIL. */
static bool state_is_enough(const struct layout *l)
{
	return l->frames == FRAME_CURRENT &&
	       (l->free_threaded || l->thread.holds_gil != LAYOUT_NONE);
}

static const struct stack_region *chunk_of(const struct stack *s)
{
	return &s->regions[s->plain_chunk];
}

static bool thread_suits(const struct target_thread *thread)
{
	const struct stack *s = &thread->stack;
	const struct stack_region *r;
	uint64_t at;

	if (thread->to_visit || !s->quick)
		return false;
	r = chunk_of(s);
	at = s->frames[0].frame - r->address;
	return at < r->size && at + s->frame_size <= r->size;
}

static bool target_suits(const struct target *t)
{
	if (!t->burst.wanted || t->burst.restless > RESTLESS_MAX || t->native ||
	    t->ridden || !t->n_threads || t->n_threads > THREADS_MAX ||
	    !state_is_enough(&t->python.layout))
		return false;
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!thread_suits(t->threads[i]))
			return false;
	return true;
}

/* The bytes below the leaf that a proof compares: of the top frames, as far as
 * they are near. */
static uint32_t bytes_below(const struct stack *s)
{
	uint64_t leaf = s->frames[0].frame, below = 0;
	uint64_t most = leaf - chunk_of(s)->address;

	if (most > VERIFY_BYTES)
		most = VERIFY_BYTES;
	for (uint32_t i = 1; i < s->n_frames && i < VERIFY_FRAMES; i++)
		if (s->frames[i].frame < leaf &&
		    leaf - s->frames[i].frame > below)
			below = leaf - s->frames[i].frame;
	return (uint32_t)(below < most ? below : most);
}

static void make_room(struct target *t)
{
	struct burst *b = &t->burst;
	size_t need = 0;

	for (uint32_t i = 0; i < t->n_threads; i++)
		need += VERIFY_BYTES + t->threads[i]->stack.frame_size +
			t->threads[i]->stack.state_size;
	need *= BURST_LOOKS;
	if (need > b->capacity) {
		b->capacity = need;
		b->bytes = xrealloc(b->bytes, need);
	}
}

/* The leaf end, then the thread state, which must still name the leaf. */
static unsigned char *plan_stack(const struct stack *s, struct pieces *pieces,
				 unsigned char *into)
{
	uint32_t below = bytes_below(s), size = below + s->frame_size;

	pieces_add(pieces, s->frames[0].frame - below, into, size);
	into += size;
	pieces_add(pieces, s->tstate, into, s->state_size);
	return into + s->state_size;
}

void burst_plan(struct target *t, uint64_t now)
{
	struct burst *b = &t->burst;
	unsigned char *into;

	b->planned = b->proven = b->shown = 0;
	if (!target_suits(t))
		return;
	make_room(t);
	into = b->bytes;
	b->begin = now;
	b->first = t->pieces.count;
	for (; b->planned < BURST_LOOKS; b->planned++)
		for (uint32_t i = 0; i < t->n_threads; i++)
			into = plan_stack(&t->threads[i]->stack, &t->pieces,
					  into);
}

/* ---- what came of it ---- */

/* The pieces of a thread in one of the looks: the leaf end, and behind it the
 * state. */
static size_t piece_of(const struct target *t, uint32_t look, uint32_t thread)
{
	return t->burst.first + 2 * ((size_t)look * t->n_threads + thread);
}

static const unsigned char *leaf_of(const struct stack *s,
				    const struct memory_piece *end)
{
	return (const unsigned char *)end->into + end->size - s->frame_size;
}

/* Whether a copy of the stack is as the one that was walked. */
static bool is_alike(const struct stack *s, const struct memory_piece *end,
		     const unsigned char *state)
{
	const struct layout *l = &s->python->layout;
	const struct stack_region *r = chunk_of(s);
	const unsigned char *leaf = leaf_of(s, end);
	size_t below = end->size - s->frame_size;

	return word_at(state, l->thread.frame) == s->frames[0].frame &&
	       !memcmp(end->into, r->copy + (end->address - r->address),
		       below) &&
	       word_at(leaf, l->frame.previous) == s->frames[0].previous &&
	       (word_at(leaf, l->frame.code) & ~(uint64_t)l->object_tag_bits) ==
		       s->frames[0].code &&
	       stack_same_ids(s, state);
}

static bool look_holds(const struct target *t, uint32_t look)
{
	const struct pieces *p = &t->pieces;

	for (uint32_t i = 0; i < t->n_threads; i++) {
		size_t at = piece_of(t, look, i);

		if (!p->good[at] || !p->good[at + 1] ||
		    !is_alike(&t->threads[i]->stack, &p->items[at],
			      p->items[at + 1].into))
			return false;
	}
	return true;
}

/* Whether every stack was found as it was before, by the quick way. */
static bool all_same(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!t->threads[i]->good || !t->threads[i]->stack.same)
			return false;
	return true;
}

static void learn_restless(struct burst *b, bool same)
{
	b->restless -= b->restless >> RESTLESS_SHIFT;
	if (!same)
		b->restless += BURST_ONE >> RESTLESS_SHIFT;
}

void burst_check(struct target *t)
{
	struct burst *b = &t->burst;
	bool same;

	if (!b->wanted)
		return;
	same = all_same(t);
	learn_restless(b, same);
	if (!same || !b->planned)
		return;
	b->end = clock_now();
	while (b->proven < b->planned && look_holds(t, b->proven))
		b->proven++;
}

bool burst_next(struct target *t, uint64_t *when)
{
	struct burst *b = &t->burst;
	const struct pieces *p = &t->pieces;

	if (b->shown == b->proven)
		return false;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];
		size_t at = piece_of(t, b->shown, i);

		stack_take_copy(&thread->stack,
				leaf_of(&thread->stack, &p->items[at]),
				p->items[at + 1].into);
		thread->state = target_thread_state(t, thread);
	}
	b->shown++;
	*when = b->begin + (b->end - b->begin) * b->shown / (b->planned + 1);
	return true;
}
