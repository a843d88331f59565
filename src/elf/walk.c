#include "elf/walk.h"

#include <string.h>

#define PAGE 4096

/* Pages are pieces of their own: behind a stack's last one nothing can be
 * read, and what lies before it still counts. */
static bool read_window(struct walk_stack *s, uint64_t address)
{
	struct memory_piece pieces[WALK_WINDOW / PAGE + 1];
	size_t n = 0, size = 0;
	ssize_t got;

	s->window_at = address;
	s->window_size = 0;
	while (size < WALK_WINDOW) {
		size_t part = PAGE - ((address + size) & (PAGE - 1));

		if (part > WALK_WINDOW - size)
			part = WALK_WINDOW - size;
		if (address + size + part < address)
			break;
		pieces[n++] = (struct memory_piece){ address + size,
						     s->window + size, part };
		size += part;
	}
	got = n ? memory_readv(s->memory, pieces, n) : 0;
	s->window_size = got > 0 ? (size_t)got : 0;
	return s->window_size >= sizeof(uint64_t);
}

static bool take(const unsigned char *bytes, size_t size, uint64_t from,
		 uint64_t address, uint64_t *value)
{
	uint64_t into = address - from;

	if (size < sizeof(*value) || into > size - sizeof(*value))
		return false;
	memcpy(value, bytes + into, sizeof(*value));
	return true;
}

bool walk_read(struct walk_stack *s, uint64_t address, uint64_t *value)
{
	if (take(s->copy.bytes, s->copy.size, s->copy.address, address, value))
		return true;
	if (take(s->window, s->window_size, s->window_at, address, value))
		return true;
	return s->memory && read_window(s, address) &&
	       take(s->window, s->window_size, s->window_at, address, value);
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
		anchor += (uint64_t)(int64_t)rule->cfa_offset;
		return walk_read(s, anchor, &value) ? value : 0;
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
	default: /* SAVED_UNDEFINED */
		*value = 0;
		return true;
	}
}

bool walk_step(struct walk_stack *s, struct walk_frame *f,
	       const struct unwind_rule *rule, uint64_t cfa,
	       const struct unwind_machine *machine)
{
	struct walk_frame to = { .sp = cfa };

	if (!recover(s, f, rule->ra, rule->ra_offset, cfa,
		     machine->ra_in_register ? f->base : 0, &to.pc) ||
	    !recover(s, f, rule->fp, rule->fp_offset, cfa, f->fp, &to.fp))
		return false;
	if ((!machine->ra_in_register || rule->signal) &&
	    !recover(s, f, rule->base, rule->base_offset_words * 8, cfa,
		     f->base, &to.base))
		return false;
	to.pc &= machine->address_mask;
	*f = to;
	return true;
}
