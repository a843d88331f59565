/* The program of a function, run once: rows of rules. */
#ifndef PYROMETER_ELF_EH_FRAME_ROWS_H
#define PYROMETER_ELF_EH_FRAME_ROWS_H

#include "elf/eh_frame.h"
#include "elf/unwind_rule.h"

struct eh_row {
	uint32_t offset; /* from the function's start: valid from here on */
	struct unwind_rule rule;
};

struct eh_rows {
	struct eh_row *items;
	size_t count, capacity;
};

/* Run the program and add its rows, then one without a rule where the function
 * ends. Returns how many were added, at least 1; what is broken or not
 * understood gives rows without a rule. */
size_t eh_rows_run(struct eh_rows *rows, const struct eh_frame *e,
		   const struct eh_fde *fde,
		   const struct unwind_machine *machine);
void eh_rows_release(struct eh_rows *rows);

#endif
