/* A rule from the code itself, where no table has one.
 *
 * Hand-written code (the kernels of linear algebra libraries), C libraries
 * built without tables (musl) and code made at run time move the stack pointer
 * as they like, but each puts it back before it returns. So the code is read
 * onwards from where a thread is to the next return, and what the stack pointer
 * goes through on the way tells where the return address is. No name or
 * beginning of a function is needed for that.
 *
 * A call that does not return, or a jump through a table, can lead astray: the
 * rule is a guess (RULE_GUESS), and a return address that it finds has to be
 * looked at with epilogue_after_call. */
#ifndef PYROMETER_ELF_EPILOGUE_H
#define PYROMETER_ELF_EPILOGUE_H

#include "elf/unwind_rule.h"
#include "elf/window.h"

/* False when no return was found. */
bool epilogue_rule(struct window *code, const struct unwind_machine *machine,
		   uint64_t pc, struct unwind_rule *out);

/* Whether the instruction before an address is a call. */
bool epilogue_after_call(struct memory *memory,
			 const struct unwind_machine *machine, uint64_t pc);

#endif
