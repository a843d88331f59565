#include "sample/glimpse.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sample/stack_private.h"
#include "sample/target.h"

#define BYTES_MAX  16384u /* from the outermost frame to the leaf's end */
#define FRAMES_MAX 128
#define PAUSE_MAX  16

void glimpses_release(struct glimpses *g)
{
	free(g->bytes);
	free(g->kept);
}

/* ---- what is read ---- */

/* Whether the frames are such that they can be compared where they lie: then
 * where the lowest of them is, and their size. */
static bool find_frames(const struct stack *s, uint64_t *from, uint64_t *size)
{
	uint64_t low = UINT64_MAX, high = 0;

	if (!s->rooted || s->entered || !s->n_frames ||
	    s->n_frames > FRAMES_MAX)
		return false;
	for (uint32_t i = 0; i < s->n_frames; i++) {
		if (s->frames[i].frame < low)
			low = s->frames[i].frame;
		if (s->frames[i].frame > high)
			high = s->frames[i].frame;
	}
	*from = low;
	*size = high - low + s->frame_size;
	return high - low <= BYTES_MAX && *size <= BYTES_MAX;
}

static void ask(struct glimpses *g, uint64_t address, void *into, size_t size)
{
	g->pieces[g->n_pieces++] = (struct memory_piece){ address, into, size };
	g->total += size;
}

static void make_room(struct glimpses *g, const struct stack *s)
{
	if (g->bytes)
		return;
	g->bytes = xmalloc(BYTES_MAX + s->state_size);
	g->state = g->bytes + BYTES_MAX;
	g->kept =
		xmalloc((size_t)GLIMPSES_MAX * (s->frame_size + s->state_size));
}

/* The frames, then the thread state, which must still name the leaf. */
static void plan_pieces(struct glimpses *g, const struct stack *s,
			uint64_t size)
{
	const struct layout *l = &s->python->layout;

	g->n_pieces = g->total = 0;
	for (size_t i = 0; i < VISIT_FIELDS; i++)
		if (g->asked.fields[i])
			ask(g, g->asked.fields[i], &g->asked.values[i], 8);
	ask(g, g->from, g->bytes, size);
	ask(g, s->tstate, g->state, s->state_size);
	if (l->frames == FRAME_CFRAME)
		ask(g, s->cframe + l->cframe.current_frame, &g->leaf, 8);
}

static bool suits(const struct target *t, const struct target_thread *thread)
{
	const uint32_t runs = STATE_ON_CPU | STATE_GIL;

	return thread->good && !thread->to_visit &&
	       (thread->state & runs) == runs &&
	       t->python.layout.frames != FRAME_OBJECTS;
}

void glimpses_plan(struct glimpses *g, const struct target *t,
		   struct target_thread *thread)
{
	uint64_t size;

	g->n = 0;
	g->thread = NULL;
	if (!suits(t, thread) || !find_frames(&thread->stack, &g->from, &size))
		return;
	g->thread = thread;
	g->walk = thread->stack.walk;
	g->asked = (struct visit){ 0 };
	target_plan_fields(t, thread, &g->asked);
	make_room(g, &thread->stack);
	plan_pieces(g, &thread->stack, size);
}

/* ---- what is found ---- */

static const unsigned char *leaf_of(const struct glimpses *g)
{
	return g->bytes + (g->thread->stack.frames[0].frame - g->from);
}

static bool is_alike(const struct glimpses *g)
{
	const struct stack *s = &g->thread->stack;
	const struct layout *l = &s->python->layout;
	uint64_t leaf = word_at(g->state, l->thread.frame);

	if (l->frames == FRAME_CFRAME) {
		if (leaf != s->cframe)
			return false;
		leaf = g->leaf;
	}
	return leaf == s->frames[0].frame && stack_same_ids(s, g->state) &&
	       stack_same_neighbours(s, g->state) &&
	       stack_same_frames(s, g->bytes, g->from);
}

static unsigned char *kept_at(const struct glimpses *g, const struct stack *s,
			      uint32_t i)
{
	return g->kept + (size_t)i * (s->frame_size + s->state_size);
}

static void keep(struct glimpses *g, uint64_t now)
{
	const struct stack *s = &g->thread->stack;
	unsigned char *into = kept_at(g, s, g->n);

	memcpy(into, leaf_of(g), s->frame_size);
	memcpy(into + s->frame_size, g->state, s->state_size);
	memcpy(g->values[g->n], g->asked.values, sizeof(g->asked.values));
	g->times[g->n++] = now;
}

/* Whether it found the stack as it was, and the GIL. */
static bool look(struct glimpses *g, struct target *t, uint64_t now)
{
	if (memory_readv(t->memory, g->pieces, g->n_pieces) !=
		    (ssize_t)g->total ||
	    !is_alike(g))
		return false;
	keep(g, now);
	glimpses_show(g, g->n - 1, t);
	if (g->thread->state & STATE_GIL) {
		g->thread->unasked++; /* whether it runs */
		return true;
	}
	g->n--;
	return false;
}

bool glimpses_take(struct glimpses *g, struct target *t, uint64_t now)
{
	if (!g->thread || g->n == GLIMPSES_MAX ||
	    g->thread->stack.walk != g->walk)
		return false;
	if (g->pause) {
		g->pause--;
		return false;
	}
	if (look(g, t, now)) {
		g->next_pause = 0;
		return true;
	}
	g->next_pause = g->next_pause ? 2 * g->next_pause : 1;
	if (g->next_pause > PAUSE_MAX)
		g->next_pause = PAUSE_MAX;
	g->pause = g->next_pause;
	return false;
}

void glimpses_show(const struct glimpses *g, uint32_t i, struct target *t)
{
	struct stack *s = &g->thread->stack;
	const unsigned char *kept = kept_at(g, s, i);
	struct visit visit = g->asked;

	memcpy(visit.values, g->values[i], sizeof(visit.values));
	stack_take_copy(s, kept, kept + s->frame_size);
	target_take_fields(t, g->thread, &visit);
	g->thread->state = target_thread_state(t, g->thread);
}
