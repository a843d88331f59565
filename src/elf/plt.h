/* The stubs through which an object file calls functions of others: code that
 * no symbol table names. A stub jumps to where a slot points; the relocation of
 * the slot tells whose address the dynamic linker puts there. */
#ifndef PYROMETER_ELF_PLT_H
#define PYROMETER_ELF_PLT_H

#include "elf/symbol_table.h"

/* Add a symbol "NAME@plt" for each stub of `elf` to the table. */
void plt_add(struct symbol_table *t, struct Elf *elf);

#endif
