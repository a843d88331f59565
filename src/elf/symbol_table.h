/* The functions that the symbol tables of an object file name, by address.
 *
 * A file may have several tables that know different things: .dynsym (what it
 * exports), .symtab (all, unless stripped), those of its separate debug file,
 * and of the small object file that some distributions pack into
 * .gnu_debugdata. They are added one after the other. libelf checks every
 * offset and string; addresses and sizes are anything, and are put in order
 * here. */
#ifndef PYROMETER_ELF_SYMBOL_TABLE_H
#define PYROMETER_ELF_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct Elf; /* libelf's */

struct table_symbol {
	uint64_t address, end; /* end is greater than address once sorted */
	const char *name;      /* lives as long as the Elf, or the table */
	uint8_t rank;	       /* of two at one address the higher is shown */
	bool sized;	       /* its table tells where it ends */
	bool stub;	       /* added by symbol_table_add_named */
};

struct symbol_table {
	struct table_symbol *items; /* by address once sorted */
	size_t count, capacity, looked_at;
	uint64_t longest; /* size of the largest sized one */
	bool sorted;
	struct arena texts; /* of names that are in no table */
};

#define SYMBOL_TABLE_INIT \
	{                 \
		0         \
	}

/* Add the functions of all tables of `elf`, which must outlive the table. */
void symbol_table_add(struct symbol_table *t, struct Elf *elf);
/* Add one that is in none of them; it counts for less than those that are. */
void symbol_table_add_named(struct symbol_table *t, uint64_t address,
			    uint64_t size, const char *name);
void symbol_table_release(struct symbol_table *t);

/* Bring the items into order; finding does it as well. */
void symbol_table_sort(struct symbol_table *t);

/* The function that holds the address, or NULL. */
const struct table_symbol *symbol_table_find(struct symbol_table *t,
					     uint64_t address);

#endif
