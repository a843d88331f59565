/* The unwind rules of one object file. Functions are understood when they are
 * first asked for, and kept. Addresses are those of the file. */
#ifndef PYROMETER_ELF_UNWIND_MODULE_H
#define PYROMETER_ELF_UNWIND_MODULE_H

#include "elf/module.h"
#include "elf/unwind_rule.h"

struct unwind_table;

/* Copies what it needs, so that the file may be closed or change. NULL when it
 * holds no rules. */
struct unwind_table *unwind_table_new(const struct module *file,
				      const struct unwind_machine *machine);
void unwind_table_free(struct unwind_table *t); /* NULL-safe */

/* The rule at an address; false when there is none. */
bool unwind_table_find(struct unwind_table *t, uint64_t address,
		       struct unwind_rule *out);

#endif
