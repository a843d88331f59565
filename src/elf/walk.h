/* One step from a frame to its caller. */
#ifndef PYROMETER_ELF_WALK_H
#define PYROMETER_ELF_WALK_H

#include "elf/unwind.h"
#include "elf/unwind_rule.h"
#include "elf/window.h"

/* The stack that is walked: a copy of its top, and what is read beyond it. */
struct walk_stack {
	struct unwind_stack copy;
	struct window beyond;
};

/* A frame on the way: the registers as they were in it. `base` is rbx or, on
 * aarch64, lr; `scratch` r10, `argument` rdi. Zero: not known. */
struct walk_frame {
	uint64_t pc, sp, fp, base, scratch, argument;
};

/* The word at an address; false when it cannot be read. */
bool walk_read(struct walk_stack *s, uint64_t address, uint64_t *value);

/* The frame's CFA by a rule; 0 when it cannot be told. */
uint64_t walk_cfa(struct walk_stack *s, const struct walk_frame *f,
		  const struct unwind_rule *rule);

/* Make f the caller's frame, given the CFA. False when the stack cannot be
 * read; f is then not changed. A pc of 0 means that there is no caller. */
bool walk_step(struct walk_stack *s, struct walk_frame *f,
	       const struct unwind_rule *rule, uint64_t cfa,
	       const struct unwind_machine *machine);

#endif
