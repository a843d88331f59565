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
	unsigned reads_left; /* of code, in this search */
};

/* The caller of the frame: its pc and stack pointer, the frame pointer as it
 * is. False when there is none near. *is_root: it is the first frame. */
bool scan_find(struct scan *s, const struct walk_frame *frame,
	       struct walk_frame *caller, bool *is_root);
/* The frame pointer of a frame that is found by it and in which it is not
 * known: a thread that sleeps may tell its pc and stack pointer only. It is
 * where the rule finds a return address that proves itself, or else the first
 * place with one and a frame pointer that leads on. 0 when there is none. */
uint64_t scan_frame_pointer(struct scan *s, const struct walk_frame *frame,
			    const struct unwind_rule *rule);
void scan_release(struct scan *s);

#endif
