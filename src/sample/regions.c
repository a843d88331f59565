/* Where the parts of a stack lay, so that they can be asked for all at once. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sample/stack_private.h"

#define SLACK	     768u	 /* bytes read beyond the last leaf */
#define CHUNK_MAX    (1u << 20)	 /* bytes kept of one chunk */
#define CHUNKS_MAX   (64u << 20) /* bytes kept of all chunks of a thread */
#define SEARCH_MAX   1000000	 /* regions looked at in one walk */
#define FORGET_AFTER 32		 /* walks after which an unseen region goes */
#define LOOSE_MAX    48		 /* frames outside chunks kept, 3.11+ */
#define NOT_READ     SIZE_MAX

static struct stack_region *region_add(struct stack *s, enum region_kind kind,
				       uint64_t address, uint32_t full)
{
	struct stack_region *r;

	ALLOC_GROW(s->regions, s->n_regions + 1, s->regions_capacity);
	r = &s->regions[s->n_regions++];
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->address = address;
	r->full = full;
	r->seen = s->walk;
	r->piece = r->again_piece = NOT_READ;
	return r;
}

static void region_reserve(struct stack_region *r, uint32_t size)
{
	if (size <= r->capacity)
		return;
	r->capacity = size + size / 2;
	if (r->capacity > r->full)
		r->capacity = r->full;
	r->copy = xrealloc(r->copy, r->capacity);
	if (r->kind == REGION_CHUNK)
		r->last = xrealloc(r->last, r->capacity);
}

static void region_release(struct stack_region *r)
{
	free(r->copy);
	free(r->again);
	free(r->last);
}

void stack_release(struct stack *s)
{
	for (uint32_t i = 0; i < s->n_regions; i++)
		region_release(&s->regions[i]);
	free(s->regions);
	free(s->frames);
	free(s->before);
	free(s->state);
	free(s->scratch);
	pieces_release(&s->repair);
	memset(s, 0, sizeof(*s));
}

static void region_drop(struct stack *s, uint32_t i)
{
	region_release(&s->regions[i]);
	s->regions[i] = s->regions[--s->n_regions];
}

/* Regions stand in the order root to leaf, so that a walk finds each next frame
 * one place further down. New ones were added while walking from the leaf. */
static void reverse_new(struct stack *s)
{
	uint32_t i = s->known, k = s->n_regions;

	while (i + 1 < k) {
		struct stack_region swap = s->regions[i];

		s->regions[i++] = s->regions[--k];
		s->regions[k] = swap;
	}
}

/* Frames outside the chunks come and go, and so do the chunks above the first:
 * forget those not met for a while. A frame object (up to 3.10) that is not in
 * the stack now is not worth a try. */
static void forget_old(struct stack *s)
{
	bool objects = s->python->layout.frames == FRAME_OBJECTS;
	uint64_t keep = objects ? 0 : FORGET_AFTER;
	uint32_t kept = 0, loose = 0;

	for (uint32_t i = 0; i < s->n_regions; i++) {
		struct stack_region *r = &s->regions[i];
		bool old = s->walk - r->seen > keep;

		if (r->kind != REGION_CHUNK && !old && !objects)
			old = ++loose > LOOSE_MAX;
		if (old)
			region_release(r);
		else
			s->regions[kept++] = *r;
	}
	s->n_regions = kept;
}

static void plan_region(struct stack_region *r, struct pieces *pieces)
{
	region_reserve(r, r->size);
	if (r->kind == REGION_CHUNK) {
		unsigned char *swap = r->last;

		r->last = r->copy;
		r->last_have = r->have;
		r->copy = swap;
	}
	r->have = r->again_have = 0;
	r->piece = pieces_add(pieces, r->address, r->copy, r->size);
}

static void plan_again(struct stack_region *r, struct pieces *pieces)
{
	uint32_t n = r->size;

	r->again_at = 0;
	if (r->kind == REGION_CHUNK && n > VERIFY_BYTES + SLACK)
		r->again_at = n - VERIFY_BYTES - SLACK;
	n -= r->again_at;
	if (!r->again)
		r->again = xmalloc(VERIFY_BYTES + SLACK);
	if (n > VERIFY_BYTES + SLACK)
		n = VERIFY_BYTES + SLACK;
	r->again_piece =
		pieces_add(pieces, r->address + r->again_at, r->again, n);
}

/* A shim that the last walk came by: the copy is what it was then. One that was
 * not in the stack may be gone, and its place on the C stack in other use. */
static bool is_standing_shim(const struct stack *s,
			     const struct stack_region *r)
{
	return r->kind == REGION_SHIM && r->seen == s->walk;
}

void stack_plan(struct stack *s, struct pieces *pieces, bool prove, bool shims)
{
	const struct layout *l = &s->python->layout;

	s->twice = prove;
	s->quick = !prove && !shims && s->plain;
	for (uint32_t i = 0; i < s->n_regions; i++)
		if (shims || !is_standing_shim(s, &s->regions[i]))
			plan_region(&s->regions[i], pieces);
	if (s->cframe)
		s->cframe_piece =
			pieces_add(pieces, s->cframe + l->cframe.current_frame,
				   &s->cframe_copy, sizeof(s->cframe_copy));
	s->state_piece = pieces_add(pieces, s->tstate, s->state, s->state_size);
	for (uint32_t i = 0; prove && i < s->n_regions; i++)
		if (s->regions[i].near_leaf)
			plan_again(&s->regions[i], pieces);
}

void stack_plan_state(struct stack *s, struct pieces *pieces)
{
	s->state_piece = pieces_add(pieces, s->tstate, s->state, s->state_size);
}

void regions_take(struct stack *s, const struct pieces *pieces)
{
	for (uint32_t i = 0; i < s->n_regions; i++) {
		struct stack_region *r = &s->regions[i];

		if (r->piece != NOT_READ && pieces->good[r->piece])
			r->have = r->size;
		if (r->again_piece != NOT_READ && pieces->good[r->again_piece])
			r->again_have =
				(uint32_t)pieces->items[r->again_piece].size;
		r->piece = r->again_piece = NOT_READ;
		r->near_leaf = false;
	}
}

static struct stack_region *chunk_at(struct stack *s, uint64_t address)
{
	for (uint32_t i = 0; i < s->n_regions; i++)
		if (s->regions[i].kind == REGION_CHUNK &&
		    s->regions[i].address == address)
			return &s->regions[i];
	return NULL;
}

static struct stack_region *add_chunk(struct stack *s, uint64_t address,
				      uint64_t bytes)
{
	uint32_t full = bytes < CHUNK_MAX ? (uint32_t)bytes : CHUNK_MAX;
	struct stack_region *r = region_add(s, REGION_CHUNK, address, full);

	r->size = full < SLACK ? full : SLACK;
	r->seen = 0;
	return r;
}

/* Follow the chain of chunks and make the regions agree with it. Header of a
 * chunk: previous, size in bytes, top. A chain that comes back to where it has
 * been ends there. */
static void refresh_chunks(struct stack *s, uint64_t youngest)
{
	uint64_t address = youngest, total = 0, header[3];

	while (address && total < CHUNKS_MAX) {
		struct stack_region *r = chunk_at(s, address);

		if (memory_read(s->python->memory, address, header,
				sizeof(header)) ||
		    header[1] < sizeof(header))
			break;
		if (!r)
			r = add_chunk(s, address, header[1]);
		if (r->seen == s->walk)
			break;
		r->seen = s->walk;
		total += r->full;
		address = header[0];
	}
	for (uint32_t i = 0; i < s->n_regions;)
		if (s->regions[i].kind == REGION_CHUNK &&
		    s->regions[i].seen != s->walk)
			region_drop(s, i);
		else
			i++;
}

static void follow_chunks(struct stack *s)
{
	uint16_t field = s->python->layout.thread.datastack_chunk;
	uint64_t youngest = stack_field(s, field);

	if (youngest && !chunk_at(s, youngest))
		refresh_chunks(s, youngest);
}

/* Whether the region's copy holds the frame; reads more of a chunk when the
 * frame lies beyond what was predicted. */
static bool region_holds(struct stack *s, struct stack_region *r,
			 uint64_t frame)
{
	uint64_t end = frame - r->address + s->frame_size;
	uint32_t want;

	if (frame < r->address || end > r->full)
		return false;
	if (end <= r->have)
		return true;
	want = (uint32_t)end + SLACK;
	if (want > r->full)
		want = r->full;
	region_reserve(r, want);
	s->missed = true;
	if (memory_read(s->python->memory, r->address + r->have,
			r->copy + r->have, want - r->have))
		return false;
	r->have = want;
	return true;
}

/* Among the regions that were known before this walk: it meets none twice.
 * Mostly the next frame is in the same chunk or in the region before; a long
 * list is not searched for each of many frames that are not in it. */
static struct stack_region *find_region(struct stack *s, uint64_t frame)
{
	for (uint32_t k = 0; k < s->known; k++) {
		uint32_t i =
			s->hint >= k ? s->hint - k : s->hint + s->known - k;
		struct stack_region *r = &s->regions[i];

		if (k > 1 && ++s->searched > SEARCH_MAX)
			break;
		if (r->kind != REGION_CHUNK && r->address != frame)
			continue;
		if (region_holds(s, r, frame)) {
			s->hint = i;
			return r;
		}
	}
	return NULL;
}

/* A frame that nobody predicted: read it, and predict it from now on. */
static struct stack_region *read_frame(struct stack *s, uint64_t frame)
{
	uint32_t size = s->frame_size;
	struct stack_region *r = region_add(s, REGION_FRAME, frame, size);

	s->missed = true;
	r->size = size;
	region_reserve(r, size);
	if (memory_read(s->python->memory, frame, r->copy, size)) {
		region_drop(s, s->n_regions - 1);
		return NULL;
	}
	r->have = size;
	return r;
}

/* The copy of a frame, or NULL when it cannot be read. */
const unsigned char *regions_frame(struct stack *s, uint64_t frame)
{
	struct stack_region *r = find_region(s, frame);
	const unsigned char *copy;

	if (!r)
		r = read_frame(s, frame);
	if (!r)
		return NULL;
	copy = r->copy + (frame - r->address);
	r->seen = s->walk;
	r->near_leaf |= s->n_frames < VERIFY_FRAMES;
	if (r->kind == REGION_FRAME && frame_is_shim(&s->python->layout, copy))
		r->kind = REGION_SHIM;
	return copy;
}

/* What of each chunk to ask for next time: up to the highest frame in it. */
static void predict_sizes(struct stack *s)
{
	for (uint32_t i = 0; i < s->n_regions; i++) {
		struct stack_region *r = &s->regions[i];
		uint64_t highest = 0;

		if (r->kind != REGION_CHUNK || r->seen != s->walk)
			continue;
		for (uint32_t k = 0; k < s->n_frames && !highest; k++)
			if (s->frames[k].frame - r->address < r->full)
				highest = s->frames[k].frame - r->address;
		highest += s->frame_size + SLACK;
		r->size = highest < r->full ? (uint32_t)highest : r->full;
	}
}

void regions_begin(struct stack *s)
{
	follow_chunks(s);
	s->known = s->n_regions;
	s->hint = s->known ? s->known - 1 : 0;
	s->searched = 0;
}

void regions_predict(struct stack *s)
{
	reverse_new(s);
	predict_sizes(s);
	forget_old(s);
}
