/* Rules from the code itself, where no table has one.
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

/* The function that the pc is in, as far as it is known: nothing outside of it
 * is read, a jump out of it is its last call, and running off its end shows
 * that the call before did not return. */
struct epilogue_bounds {
	uint64_t start, end;
};

/* False when no return was found. */
bool epilogue_rule(struct window *code, const struct unwind_machine *machine,
		   uint64_t pc, const struct epilogue_bounds *bounds,
		   struct unwind_rule *out);

/* The same by what leads from the function's start to the pc. False when
 * nothing does. */
bool prologue_rule(struct window *code, const struct unwind_machine *machine,
		   uint64_t pc, const struct epilogue_bounds *bounds,
		   struct unwind_rule *out);

#define EPILOGUE_CALL_BYTES 8 /* that may hold a call, at their end */

/* Whether a call is at the end of these bytes, or before an address. */
bool epilogue_ends_in_call(const struct unwind_machine *machine,
			   const unsigned char bytes[EPILOGUE_CALL_BYTES]);
bool epilogue_after_call(struct memory *memory,
			 const struct unwind_machine *machine, uint64_t pc);

#endif
