#include "elf/walk.h"

#include <string.h>

bool walk_read(struct walk_stack *s, uint64_t address, uint64_t *value)
{
	uint64_t into = address - s->copy.address;
	const unsigned char *from;
	size_t got;

	if (s->copy.size >= sizeof(*value) &&
	    into <= s->copy.size - sizeof(*value))
		from = s->copy.bytes + into;
	else
		from = window_at(&s->beyond, address, sizeof(*value), &got);
	if (from)
		memcpy(value, from, sizeof(*value));
	return from;
}

static uint64_t anchor_of(const struct walk_frame *f, uint8_t anchor)
{
	switch (anchor) {
	case ANCHOR_SP:
		return f->sp;
	case ANCHOR_FP:
		return f->fp;
	case ANCHOR_BASE:
		return f->base;
	default:
		return f->scratch;
	}
}

uint64_t walk_cfa(struct walk_stack *s, const struct walk_frame *f,
		  const struct unwind_rule *rule)
{
	uint64_t anchor = anchor_of(f, rule->anchor), value;

	if (!anchor)
		return 0;
	switch (rule->cfa) {
	case CFA_IS:
		return anchor + (uint64_t)(int64_t)rule->cfa_offset;
	case CFA_AT:
	case CFA_AFTER:
		anchor += (uint64_t)(int64_t)rule->cfa_offset;
		if (!walk_read(s, anchor, &value))
			return 0;
		return rule->cfa == CFA_AT ? value : value + 8;
	case CFA_PLT:
		return anchor + 8 +
		       (((f->pc & 15) >= (uint64_t)rule->cfa_offset) << 3);
	default:
		return 0;
	}
}

/* A register of the caller, which is `now` in the callee. */
static bool recover(struct walk_stack *s, const struct walk_frame *f,
		    uint8_t kind, int64_t offset, uint64_t cfa, uint64_t now,
		    uint64_t *value)
{
	switch (kind) {
	case SAVED_SAME:
		*value = now;
		return true;
	case SAVED_AT_CFA:
		return walk_read(s, cfa + (uint64_t)offset, value);
	case SAVED_AT_SP:
		return walk_read(s, f->sp + (uint64_t)offset, value);
	case SAVED_AT_FP:
		return walk_read(s, f->fp + (uint64_t)offset, value);
	case SAVED_IS_CFA:
		*value = cfa + (uint64_t)offset;
		return true;
	case SAVED_IN_ARGUMENT:
		*value = f->argument;
		return f->argument;
	default: /* SAVED_UNDEFINED */
		*value = 0;
		return true;
	}
}

/* A frame pointer that was saved where the frame pointer points, as realigned
 * frames do it. gcc says so also of the last instructions of such a function,
 * when the register is the caller's again: it does not point into the frame. */
static bool is_outside(const struct walk_frame *f,
		       const struct unwind_rule *rule, uint64_t cfa)
{
	return rule->fp == SAVED_AT_FP &&
	       f->fp + (uint64_t)(int64_t)rule->fp_offset - f->sp >=
		       cfa - f->sp;
}

/* Only the return address must be found; what else cannot be is not known. */
bool walk_step(struct walk_stack *s, struct walk_frame *f,
	       const struct unwind_rule *rule, uint64_t cfa,
	       const struct unwind_machine *machine)
{
	struct walk_frame to = { .sp = cfa };
	bool has_base = !machine->ra_in_register || rule->flags & RULE_SIGNAL;

	if (!recover(s, f, rule->ra, rule->ra_offset, cfa,
		     machine->ra_in_register ? f->base : 0, &to.pc))
		return false;
	if (is_outside(f, rule, cfa))
		to.fp = f->fp;
	else if (!recover(s, f, rule->fp, rule->fp_offset, cfa, f->fp, &to.fp))
		to.fp = 0;
	if (!has_base || !recover(s, f, rule->base, rule->base_offset_words * 8,
				  cfa, f->base, &to.base))
		to.base = 0;
	to.pc &= machine->address_mask;
	*f = to;
	return true;
}
