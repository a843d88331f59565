/* The caller of a function that never returns, found on the stack.
 *
 * The functions that musl starts and ends a program and its threads with have
 * no tables, and they never return, so their code does not tell where they were
 * called from either. The caller is looked for on the stack, and has to prove
 * itself: it is the first frame (a return address into the first instructions
 * of the program, or behind a clone into code that ends the thread), or it has
 * just called, by name as it were, the place that the callee is in. */
#ifndef PYROMETER_ELF_UNWIND_SCAN_H
#define PYROMETER_ELF_UNWIND_SCAN_H

#include "base/map.h"
#include "elf/unwind_code.h"
#include "elf/walk.h"

struct scan {
	const struct code *code;
	struct memory *memory;
	const struct opener *opener;
	struct walk_stack *stack;
	/* (pc, stack pointer) -> words to the return address */
	struct map known;
};

/* The caller of the frame: its pc and stack pointer, the frame pointer as it
 * is. False when there is none near. *is_root: it is the first frame. */
bool scan_find(struct scan *s, const struct walk_frame *frame,
	       struct walk_frame *caller, bool *is_root);
void scan_release(struct scan *s);

#endif
