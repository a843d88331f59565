#include "base/alloc.h"
#include "sample/stack_private.h"

#define STEPS_MAX (2 * STACK_DEPTH_MAX) /* frames and shims of one walk */

/* The bytes of the thread state that are read: up to the last field of use. (A
 * layout bounds its fields.) */
static uint32_t state_bytes(const struct layout *l)
{
	const uint16_t fields[] = {
		l->thread.previous,
		l->thread.next,
		l->thread.interpreter,
		l->thread.frame,
		l->thread.base_frame,
		l->thread.thread_id,
		l->thread.native_thread_id,
		l->thread.datastack_chunk,
		l->thread.datastack_top,
		l->thread.status,
		l->thread.state,
		l->thread.holds_gil,
		l->thread.gil_requested,
		l->thread.id,
	};
	uint32_t end = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i] != LAYOUT_NONE && fields[i] + 8u > end)
			end = fields[i] + 8u;
	return end;
}

/* 3.11 alone marks the frames that begin a run of the eval function. */
static bool has_entry_bit(const struct layout *l)
{
	return l->frames == FRAME_CFRAME && l->frame.owner_cstack == 0xff;
}

/* The bytes of a frame that a walk needs: from its start to its last field. */
static uint32_t frame_bytes(const struct layout *l)
{
	uint32_t end = l->frame.previous;

	if (l->frame.code > end)
		end = l->frame.code;
	if (l->frame.instruction > end)
		end = l->frame.instruction;
	if (l->frame.owner != LAYOUT_NONE && l->frame.owner > end)
		end = l->frame.owner;
	if (l->frame.tlbc_index != LAYOUT_NONE && l->frame.tlbc_index > end)
		end = l->frame.tlbc_index;
	if (has_entry_bit(l) && l->frame.is_entry > end)
		end = l->frame.is_entry;
	return end + 8;
}

void stack_init(struct stack *s, const struct python *python, uint64_t tstate)
{
	memset(s, 0, sizeof(*s));
	s->python = python;
	s->tstate = tstate;
	s->state_size = state_bytes(&python->layout);
	s->frame_size = frame_bytes(&python->layout);
	s->state = xcalloc(2, s->state_size);
	s->state_again = s->state + s->state_size;
}

uint64_t stack_field(const struct stack *s, uint16_t offset)
{
	if (offset == LAYOUT_NONE || offset + 8u > s->state_size)
		return 0;
	return word_at(s->state, offset);
}

bool frame_is_shim(const struct layout *l, const unsigned char *frame)
{
	unsigned char owner;

	if (l->frame.owner == LAYOUT_NONE)
		return false;
	owner = frame[l->frame.owner];
	return (l->frame.owner_cstack != 0xff &&
		owner == l->frame.owner_cstack) ||
	       (l->frame.owner_interpreter != 0xff &&
		owner == l->frame.owner_interpreter);
}

static uint64_t instruction_of(const struct layout *l,
			       const unsigned char *frame)
{
	int32_t lasti;

	if (l->frames != FRAME_OBJECTS)
		return word_at(frame, l->frame.instruction);
	memcpy(&lasti, frame + l->frame.instruction, sizeof(lasti));
	return (uint64_t)(int64_t)lasti;
}

void frame_decode(const struct layout *l, const unsigned char *copy,
		  uint64_t address, struct raw_frame *out)
{
	out->frame = address;
	out->previous = word_at(copy, l->frame.previous);
	out->code =
		word_at(copy, l->frame.code) & ~(uint64_t)l->object_tag_bits;
	out->instruction = instruction_of(l, copy);
	out->tlbc = 0;
	if (l->frame.tlbc_index != LAYOUT_NONE)
		memcpy(&out->tlbc, copy + l->frame.tlbc_index,
		       sizeof(out->tlbc));
	out->entry = l->frames == FRAME_OBJECTS ||
		     (has_entry_bit(l) && copy[l->frame.is_entry]);
}

/* The address of the leaf frame, or UINT64_MAX when it cannot be read. */
static uint64_t leaf_frame(struct stack *s, const struct pieces *pieces)
{
	const struct layout *l = &s->python->layout;
	uint64_t frame = word_at(s->state, l->thread.frame);

	if (l->frames != FRAME_CFRAME || !frame)
		return frame;
	if (frame != s->cframe || !pieces->good[s->cframe_piece]) {
		s->missed = true;
		s->cframe = frame;
		if (memory_read_u64(s->python->memory,
				    frame + l->cframe.current_frame,
				    &s->cframe_copy))
			return UINT64_MAX;
	}
	return s->cframe_copy;
}

static bool push_frame(struct stack *s, const unsigned char *copy,
		       uint64_t address)
{
	const struct layout *l = &s->python->layout;

	if (frame_is_shim(l, copy)) {
		if (s->n_frames)
			s->frames[s->n_frames - 1].entry = true;
		else
			s->entered = true;
		return true;
	}
	if (s->n_frames == STACK_DEPTH_MAX) {
		s->truncated = true;
		return false;
	}
	ALLOC_GROW(s->frames, s->n_frames + 1, s->frames_capacity);
	frame_decode(l, copy, address, &s->frames[s->n_frames]);
	if (s->frames[s->n_frames].code)
		s->n_frames++;
	return true;
}

static bool is_generator(const struct stack *s, const struct raw_frame *frame)
{
	const uint32_t kinds = 0x20 | 0x80 | 0x100 | 0x200; /* coroutines too */
	uint32_t flags;

	return !memory_read_u32(s->python->memory,
				frame->code + s->python->layout.code.flags,
				&flags) &&
	       flags & kinds;
}

bool stack_is_generator(const struct stack *s, uint32_t frame)
{
	return is_generator(s, &s->frames[frame]);
}

/* A walk that ended at a generator has not come to the root: a generator that
 * runs has somebody who resumed it. It is met without one for an instant, while
 * it is entered or left. To 3.10 its frame does not tell, but its code. */
static bool is_root(struct stack *s, const unsigned char *frame)
{
	const struct layout *l = &s->python->layout;
	const struct raw_frame *last;

	if (l->frame.owner != LAYOUT_NONE)
		return frame[l->frame.owner] != l->frame.owner_generator;
	if (!s->n_frames)
		return true;
	last = &s->frames[s->n_frames - 1];
	if (last->frame == s->root)
		return true;
	if (is_generator(s, last))
		return false;
	s->root = last->frame;
	return true;
}

/* The copy of the i-th frame or shim of a walk, from a visit or from the
 * regions. */
static const unsigned char *frame_copy(struct stack *s, uint64_t frame,
				       const struct visit *visit, uint32_t i)
{
	const unsigned char *copy;
	uint64_t address;

	if (!visit)
		return regions_frame(s, frame);
	if (i >= visit->n_items)
		return NULL;
	copy = visit_item(visit, i, &address);
	return address == frame ? copy : NULL;
}

static void walk_from(struct stack *s, uint64_t frame, uint64_t base,
		      const struct visit *visit)
{
	const struct layout *l = &s->python->layout;
	const unsigned char *copy = NULL;
	uint64_t landmark = 0; /* met again: a ring */

	for (uint32_t steps = 1; frame && frame != base; steps++) {
		copy = frame_copy(s, frame, visit, steps - 1);
		if (!copy || frame == landmark) {
			s->unreadable = true;
			return;
		}
		if (steps > STEPS_MAX) {
			s->truncated = true;
			return;
		}
		if (!(steps & (steps - 1)))
			landmark = frame;
		if (!push_frame(s, copy, frame))
			return;
		frame = word_at(copy, l->frame.previous);
	}
	s->rooted = frame || !copy || is_root(s, copy);
}

/* Whether the stack lies in one chunk alone (and in shims). */
static bool is_plain(struct stack *s)
{
	uint32_t chunks = 0;

	for (uint32_t i = 0; i < s->n_regions; i++) {
		const struct stack_region *r = &s->regions[i];

		if (r->seen == s->walk && r->kind == REGION_FRAME)
			return false;
		if (r->kind == REGION_CHUNK) {
			s->plain_chunk = i;
			chunks++;
		}
	}
	return s->rooted && s->n_frames && chunks == 1;
}

/* Whether the chunk holds the same bytes as before, up to the leaf, and the
 * same leaf. (What a frame that waits for its callee holds does not change.) */
static bool same_chunk(const struct stack *s, const struct stack_region *r,
		       uint64_t leaf)
{
	const struct layout *l = &s->python->layout;
	uint64_t at = leaf - r->address, end = at + s->frame_size;

	return leaf >= r->address && end <= r->size && end <= r->last_have &&
	       !memcmp(r->copy, r->last, at) &&
	       word_at(r->copy + at, l->frame.previous) ==
		       word_at(r->last + at, l->frame.previous) &&
	       word_at(r->copy + at, l->frame.code) ==
		       word_at(r->last + at, l->frame.code);
}

static void take_leaf(struct stack *s, const unsigned char *copy)
{
	bool entry = s->frames[0].entry;

	frame_decode(&s->python->layout, copy, s->frames[0].frame,
		     &s->frames[0]);
	s->frames[0].entry = entry;
}

void stack_take_copy(struct stack *s, const unsigned char *leaf,
		     const unsigned char *state)
{
	take_leaf(s, leaf);
	memcpy(s->state, state, s->state_size);
}

/* The short way, for a stack that is as it was but for the leaf's instruction:
 * the thread state names the same leaf and the chunk is the same below it. */
static bool walk_quickly(struct stack *s, const struct pieces *pieces)
{
	const struct layout *l = &s->python->layout;
	struct stack_region *r;
	uint64_t leaf;

	if (!s->quick || l->frames != FRAME_CURRENT)
		return false;
	r = &s->regions[s->plain_chunk];
	leaf = s->frames[0].frame;
	if (!pieces->good[s->state_piece] || !pieces->good[r->piece] ||
	    word_at(s->state, l->thread.frame) != leaf ||
	    !same_chunk(s, r, leaf))
		return false;
	take_leaf(s, r->copy + (leaf - r->address));
	regions_take(s, pieces);
	r->near_leaf = true;
	return true;
}

static void begin_walk(struct stack *s)
{
	s->plain = false;
	s->walk++;
	s->n_frames = 0;
	s->unreadable = s->truncated = s->missed = false;
	s->rooted = s->entered = false;
}

int stack_walk(struct stack *s, const struct pieces *pieces)
{
	const struct layout *l = &s->python->layout;
	uint64_t leaf;

	s->same = walk_quickly(s, pieces);
	if (s->same)
		return 0;
	if (!s->twice)
		stack_remember(s);
	begin_walk(s);
	regions_take(s, pieces);
	if (!pieces->good[s->state_piece])
		return -ERR_UNREADABLE;
	regions_begin(s);
	leaf = leaf_frame(s, pieces);
	if (leaf == UINT64_MAX) {
		s->unreadable = true;
		return 0;
	}
	walk_from(s, leaf, stack_field(s, l->thread.base_frame), NULL);
	regions_predict(s);
	s->plain = is_plain(s);
	return 0;
}

void stack_shape(const struct stack *s, struct visit_shape *shape)
{
	const struct layout *l = &s->python->layout;

	*shape = (struct visit_shape){
		.head_size = s->state_size,
		.first = l->thread.frame,
		.via = l->frames == FRAME_CFRAME ? l->cframe.current_frame
						 : VISIT_DIRECT,
		.item_size = s->frame_size,
		.next = l->frame.previous,
	};
}

int stack_walk_visited(struct stack *s, const struct visit *visit)
{
	const struct layout *l = &s->python->layout;
	uint64_t leaf = 0;

	if (!visit->whole && visit->n_items == VISIT_ITEMS_MAX)
		return -ERR_LIMIT;
	begin_walk(s);
	s->same = s->twice = false;
	memcpy(s->state, visit->head_copy, s->state_size);
	if (visit->n_items)
		visit_item(visit, 0, &leaf);
	s->unreadable = !leaf && !visit->whole;
	if (!s->unreadable)
		walk_from(s, leaf, stack_field(s, l->thread.base_frame), visit);
	return 0;
}
