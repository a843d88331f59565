#include "elf/epilogue_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/x86_instruction.h"

static bool is_near(int64_t offset)
{
	return offset < OFFSET_MAX && offset > -OFFSET_MAX;
}

struct value value_plus(struct value v, int64_t n)
{
	if (v.is_in_memory)
		v.plus += n;
	else
		v.offset += n;
	v.is_known = v.is_known && is_near(v.offset) && is_near(v.plus);
	return v;
}

struct value kept_value(const struct kept *k, enum unwind_anchor anchor)
{
	struct value v = k->value;

	if (k->kind == KEPT_SAME)
		return (struct value){ .is_known = true, .anchor = anchor };
	if (k->kind == KEPT_VALUE)
		return v;
	if (v.is_in_memory)
		return (struct value){ 0 };
	v.is_in_memory = true;
	return v;
}

void kept_set(struct kept *k, struct value value)
{
	k->kind = KEPT_VALUE;
	k->value = value;
}

static bool is_equal(struct value a, struct value b)
{
	return a.is_known && b.is_known && a.anchor == b.anchor &&
	       a.offset == b.offset && !a.is_in_memory && !b.is_in_memory;
}

void kept_load(struct kept *k, struct value from)
{
	k->kind = is_equal(from, k->slot) ? KEPT_SAME : KEPT_MEMORY;
	k->value = from;
}

void kept_store(struct kept *k, struct value to)
{
	if (k->kind == KEPT_SAME)
		k->slot = to;
}

static bool is_listed(const struct path *p, uint64_t pc)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->starts[i].pc == pc)
			return true;
	return false;
}

static bool is_inside(const struct path *p, uint64_t pc)
{
	return pc >= p->bounds.start && pc < p->bounds.end;
}

void path_branch(struct path *p, uint64_t pc)
{
	if (p->count < STARTS_MAX && is_inside(p, pc) && !is_listed(p, pc))
		p->starts[p->count++] = (struct path_start){ pc, p->now };
}

/* Listed, so that it is not gone to again; taken, so the list goes on behind
 * it. */
enum path_end path_jump(struct path *p, uint64_t pc)
{
	struct path_start new = { pc, p->now };

	if (!is_inside(p, pc))
		return PATH_RETURNS; /* a last call: as if it were here */
	if (p->count == STARTS_MAX || is_listed(p, pc))
		return PATH_DEAD;
	p->starts[p->count++] = p->starts[p->next];
	p->starts[p->next++] = new;
	p->pc = pc;
	return PATH_GOES_ON;
}

/* Go on with a path that branched off. */
static bool next_path(struct path *p)
{
	if (p->next == p->count)
		return false;
	p->pc = p->starts[p->next].pc;
	p->now = p->starts[p->next++].state;
	p->pushed_global = false;
	return true;
}

/* Follow one path to its end, then those that branched off, until one returns
 * or comes to `goal`. */
static bool follow(struct path *p, const struct unwind_machine *machine,
		   uint64_t goal)
{
	for (; p->left; p->left--) {
		enum path_end end = PATH_DEAD; /* a call did not return */

		if (p->pc == goal)
			return true;
		if (is_inside(p, p->pc))
			end = machine == &unwind_x86_64
				      ? epilogue_step_x86_64(p)
				      : epilogue_step_aarch64(p);
		if (end == PATH_RETURNS && !goal)
			return true;
		if (end != PATH_GOES_ON && !next_path(p))
			return false;
	}
	return false;
}

/* Where a kept register is, as a rule says it. */
static uint8_t saved_of(const struct kept *k, const struct value *cfa,
			int64_t *offset)
{
	*offset = 0;
	if (k->kind == KEPT_SAME)
		return SAVED_SAME;
	if (k->kind == KEPT_VALUE || !k->value.is_known ||
	    k->value.is_in_memory)
		return SAVED_UNDEFINED;
	*offset = k->value.offset;
	if (k->value.anchor == cfa->anchor && !cfa->is_in_memory) {
		*offset -= cfa->offset;
		return SAVED_AT_CFA;
	}
	if (k->value.anchor == ANCHOR_SP)
		return SAVED_AT_SP;
	return k->value.anchor == ANCHOR_FP ? SAVED_AT_FP : SAVED_UNDEFINED;
}

static bool make_rule(const struct path_state *s,
		      const struct unwind_machine *machine,
		      struct unwind_rule *out)
{
	/* A return takes its address off the stack. */
	struct value cfa = value_plus(s->sp, machine->ra_in_register ? 0 : 8);
	int64_t ra = -8, fp, base;

	if (!cfa.is_known || cfa.plus)
		return false;
	*out = (struct unwind_rule){ .cfa = cfa.is_in_memory ? CFA_AT : CFA_IS,
				     .anchor = cfa.anchor,
				     .cfa_offset = (int32_t)cfa.offset,
				     .ra = SAVED_AT_CFA,
				     .flags = RULE_GUESS };
	if (machine->ra_in_register)
		out->ra = saved_of(&s->base, &cfa, &ra);
	out->ra_offset = (int32_t)ra;
	out->fp = saved_of(&s->fp, &cfa, &fp);
	out->fp_offset = (int32_t)fp;
	out->base = saved_of(&s->base, &cfa, &base);
	if (base % 8 || base / 8 > INT16_MAX || base / 8 < INT16_MIN)
		out->base = SAVED_UNDEFINED;
	else
		out->base_offset_words = (int16_t)(base / 8);
	return out->ra != SAVED_UNDEFINED;
}

static struct path *new_path(struct window *code, uint64_t pc,
			     const struct epilogue_bounds *bounds)
{
	struct path *p = xcalloc(1, sizeof(*p));

	p->code = code;
	p->begin = p->pc = pc;
	p->bounds = *bounds;
	p->left = INSTRUCTIONS_MAX;
	p->now.sp = (struct value){ .is_known = true, .anchor = ANCHOR_SP };
	return p;
}

bool epilogue_rule(struct window *code, const struct unwind_machine *machine,
		   uint64_t pc, const struct epilogue_bounds *bounds,
		   struct unwind_rule *out)
{
	struct path *p = new_path(code, pc, bounds);
	bool found = follow(p, machine, 0) && make_rule(&p->now, machine, out);

	free(p);
	return found;
}

/* Where the function has put a register of its caller, counted from the CFA. */
static uint8_t stored_at(const struct kept *k, int64_t cfa, int64_t *offset)
{
	*offset = 0;
	if (k->kind == KEPT_SAME)
		return SAVED_SAME;
	if (!k->slot.is_known || k->slot.is_in_memory ||
	    k->slot.anchor != ANCHOR_SP)
		return SAVED_UNDEFINED;
	*offset = k->slot.offset - cfa;
	return SAVED_AT_CFA;
}

/* A register at the pc of which it is known how far it is from where the stack
 * pointer was in the beginning. */
static bool find_anchor(const struct path_state *s, uint8_t *anchor,
			int64_t *distance)
{
	const struct value values[] = {
		[ANCHOR_SP] = s->sp,
		[ANCHOR_FP] = s->fp.value,
		[ANCHOR_BASE] = s->base.value,
	};

	for (uint8_t i = 0; i <= ANCHOR_BASE; i++) {
		if ((i == ANCHOR_FP && s->fp.kind != KEPT_VALUE) ||
		    (i == ANCHOR_BASE && s->base.kind != KEPT_VALUE) ||
		    !values[i].is_known || values[i].is_in_memory ||
		    values[i].anchor != ANCHOR_SP)
			continue;
		*anchor = i;
		*distance = values[i].offset;
		return true;
	}
	return false;
}

static bool make_rule_from_start(const struct path_state *s,
				 const struct unwind_machine *machine,
				 struct unwind_rule *out)
{
	int64_t cfa = machine->ra_in_register ? 0 : 8, distance, ra, fp, base;

	*out = (struct unwind_rule){ .cfa = CFA_IS, .flags = RULE_GUESS };
	if (!find_anchor(s, &out->anchor, &distance))
		return false;
	out->cfa_offset = (int32_t)(cfa - distance);
	out->fp = stored_at(&s->fp, cfa, &fp);
	out->fp_offset = (int32_t)fp;
	out->base = stored_at(&s->base, cfa, &base);
	if (base % 8 || base / 8 > INT16_MAX || base / 8 < INT16_MIN)
		out->base = SAVED_UNDEFINED;
	else
		out->base_offset_words = (int16_t)(base / 8);
	out->ra = machine->ra_in_register ? stored_at(&s->base, cfa, &ra)
					  : SAVED_AT_CFA;
	out->ra_offset = machine->ra_in_register ? (int32_t)ra : -8;
	return out->ra != SAVED_UNDEFINED;
}

bool prologue_rule(struct window *code, const struct unwind_machine *machine,
		   uint64_t pc, const struct epilogue_bounds *bounds,
		   struct unwind_rule *out)
{
	struct path *p;
	bool found;

	if (!bounds->start || pc < bounds->start)
		return false;
	p = new_path(code, bounds->start, bounds);
	p->bounds.end = UINT64_MAX; /* a return address may lie at the end */
	if (bounds->end > pc)
		p->bounds.end = bounds->end;
	found = follow(p, machine, pc) &&
		make_rule_from_start(&p->now, machine, out);
	free(p);
	return found;
}

/* bl, blr and its signed forms */
static bool is_aarch64_call(uint32_t word)
{
	return (word & 0xfc000000) == 0x94000000 ||
	       (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
}

bool epilogue_ends_in_call(const struct unwind_machine *machine,
			   const unsigned char bytes[EPILOGUE_CALL_BYTES])
{
	uint32_t word;

	if (machine == &unwind_x86_64)
		return x86_ends_in_call(bytes, EPILOGUE_CALL_BYTES);
	memcpy(&word, bytes + EPILOGUE_CALL_BYTES - 4, sizeof(word));
	return is_aarch64_call(word);
}

bool epilogue_after_call(struct memory *memory,
			 const struct unwind_machine *machine, uint64_t pc)
{
	unsigned char bytes[EPILOGUE_CALL_BYTES];

	return !memory_read(memory, pc - sizeof(bytes), bytes, sizeof(bytes)) &&
	       epilogue_ends_in_call(machine, bytes);
}
