/* The unwind rules of one object file. Functions are understood when they are
 * first asked for, and kept. Addresses are those of the file. */
#ifndef PYROMETER_ELF_UNWIND_TABLE_H
#define PYROMETER_ELF_UNWIND_TABLE_H

#include "elf/module.h"
#include "elf/unwind_rule.h"

struct unwind_table;

/* Copies what it needs, so that the file may be closed or change. NULL when it
 * holds no rules. */
struct unwind_table *unwind_table_new(const struct module *file,
				      const struct unwind_machine *machine);
/* The same from .debug_frame, for functions that .eh_frame leaves out. */
struct unwind_table *unwind_table_new_debug(
	const struct module *file, const struct unwind_machine *machine);
void unwind_table_free(struct unwind_table *t); /* NULL-safe */

/* The rule at an address; one of CFA_NONE when there is none. */
struct unwind_rule unwind_table_find(struct unwind_table *t, uint64_t address);

/* Where the function of an address begins; 0: unknown. */
uint64_t unwind_table_start(const struct unwind_table *t, uint64_t address);
/* Where the next function with a rule begins, behind an address without one;
 * UINT64_MAX: there is none. */
uint64_t unwind_table_next(const struct unwind_table *t, uint64_t address);

#endif
