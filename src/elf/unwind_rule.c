#include "elf/unwind_rule.h"

/* mov $15, %rax; syscall */
static const unsigned char sigreturn_x86_64[] = { 0x48, 0xc7, 0xc0, 15,	 0,
						  0,	0,    0x0f, 0x05 };
/* mov x8, #139; svc #0 */
static const unsigned char sigreturn_aarch64[] = { 0x68, 0x11, 0x80, 0xd2,
						   0x01, 0,    0,    0xd4 };

/* At the return from a handler the stack pointer is at the kernel's ucontext
 * (x86-64) or siginfo, which the ucontext follows (aarch64). */
const struct unwind_machine unwind_x86_64 = {
	.numbers = { 7, 6, 3, 10 },
	.ra = 16,
	.argument = 5,
	.address_mask = UINT64_MAX,
	.pointer = {
		.cfa = CFA_IS, .anchor = ANCHOR_FP, .cfa_offset = 16,
		.ra = SAVED_AT_CFA, .ra_offset = -8,
		.fp = SAVED_AT_CFA, .fp_offset = -16,
		.base = SAVED_UNDEFINED,
	},
	.signal = {
		.cfa = CFA_AT, .anchor = ANCHOR_SP, .cfa_offset = 160,
		.ra = SAVED_AT_SP, .ra_offset = 168,
		.fp = SAVED_AT_SP, .fp_offset = 120,
		.base = SAVED_AT_SP, .base_offset_words = 128 / 8,
		.flags = RULE_SIGNAL,
	},
	.sigreturn = sigreturn_x86_64,
	.sigreturn_size = sizeof(sigreturn_x86_64),
};

const struct unwind_machine unwind_aarch64 = {
	.numbers = { 31, 29, 30, NO_REGISTER },
	.ra = 30,
	.argument = NO_REGISTER,
	.ra_in_register = true,
	.address_mask = (UINT64_C(1) << 48) - 1,
	.pointer = {
		.cfa = CFA_IS, .anchor = ANCHOR_FP, .cfa_offset = 16,
		.ra = SAVED_AT_CFA, .ra_offset = -8,
		.fp = SAVED_AT_CFA, .fp_offset = -16,
		.base = SAVED_UNDEFINED,
	},
	.signal = {
		.cfa = CFA_AT, .anchor = ANCHOR_SP, .cfa_offset = 560,
		.ra = SAVED_AT_SP, .ra_offset = 568,
		.fp = SAVED_AT_SP, .fp_offset = 544,
		.base = SAVED_AT_SP, .base_offset_words = 552 / 8,
		.flags = RULE_SIGNAL,
	},
	.sigreturn = sigreturn_aarch64,
	.sigreturn_size = sizeof(sigreturn_aarch64),
};
