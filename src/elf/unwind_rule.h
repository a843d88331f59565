/* How to get from a frame to its caller: one rule per stretch of code.
 *
 * Only what leads on is recovered: where the caller is (pc), its stack and
 * frame pointers, and one register more (rbx on x86-64, by which a few frames
 * are found; lr on aarch64). A rule is therefore small, and one in a cache is
 * all that a step needs. */
#ifndef PYROMETER_ELF_UNWIND_RULE_H
#define PYROMETER_ELF_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* Registers from which the address of a frame is counted. */
enum unwind_anchor {
	ANCHOR_SP,
	ANCHOR_FP,
	ANCHOR_BASE,	/* rbx; lr on aarch64 */
	ANCHOR_SCRATCH, /* r10, which realigned frames begin with */
	ANCHORS,
};

/* The canonical frame address: the stack pointer before the call. */
enum unwind_cfa {
	CFA_NONE,  /* not known */
	CFA_IS,	   /* anchor + offset */
	CFA_AT,	   /* the word at anchor + offset */
	CFA_AFTER, /* that word plus 8: a stack pointer that was put away */
	CFA_PLT,   /* sp + 8, or + 16 from byte `offset` of a stub of 16 on */
};

/* Where a register of the caller is. */
enum unwind_saved {
	SAVED_SAME,	 /* as it is; the return address: in lr */
	SAVED_UNDEFINED, /* nowhere; the return address: there is no caller */
	SAVED_AT_CFA,	 /* in memory at CFA + offset */
	SAVED_AT_SP,	 /* at sp + offset, sp being this frame's */
	SAVED_AT_FP,
	SAVED_IS_CFA,	   /* it is CFA + offset */
	SAVED_IN_ARGUMENT, /* in rdi: vfork takes its return address along */
};

enum unwind_flag {
	RULE_SIGNAL = 1, /* the kernel put this frame there: its caller was
			  * interrupted anywhere */
	RULE_GUESS = 2,	 /* read out of the code: to be checked */
	RULE_LOST = 4,	 /* there is one that we do not understand */
};

struct unwind_rule {
	uint8_t cfa, anchor; /* enum unwind_cfa, enum unwind_anchor */
	uint8_t ra, fp;	     /* enum unwind_saved */
	int32_t cfa_offset, ra_offset, fp_offset;
	uint8_t base;		   /* enum unwind_saved */
	uint8_t flags;		   /* enum unwind_flag */
	int16_t base_offset_words; /* times 8 */
};

/* What a CPU's unwind tables call the registers (DWARF numbers), and how the
 * kernel's signal frame looks there. */
struct unwind_machine {
	uint8_t numbers[ANCHORS]; /* NO_REGISTER: it has none */
	uint8_t ra;
	uint8_t argument;	    /* the first of a call; NO_REGISTER */
	bool ra_in_register;	    /* a call leaves it in lr, not in memory */
	uint64_t address_mask;	    /* of a return address: without its
				     * signature */
	struct unwind_rule pointer; /* by the frame pointer alone */
	struct unwind_rule signal;  /* of the code that returns from a signal */
	const unsigned char *sigreturn; /* that code */
	uint8_t sigreturn_size;
};

#define NO_REGISTER 255

extern const struct unwind_machine unwind_x86_64, unwind_aarch64;

#if defined(__aarch64__)
#define UNWIND_NATIVE (&unwind_aarch64)
#else
#define UNWIND_NATIVE (&unwind_x86_64)
#endif

#endif
