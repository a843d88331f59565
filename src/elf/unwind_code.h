/* Where a process has code, and which object file it came from. */
#ifndef PYROMETER_ELF_UNWIND_CODE_H
#define PYROMETER_ELF_UNWIND_CODE_H

#include "elf/unwind.h"
#include "elf/unwind_table.h"

struct code_module {
	struct unwind_module_info info;
	struct mapping mapping;	    /* of its code; the path is our own */
	struct unwind_table *table; /* NULL: no rules */
	struct unwind_table *debug; /* of .debug_frame; mostly NULL */
	/* Asked for when code without rules is met. */
	struct module_function *functions;
	size_t function_count;
	bool has_functions;
	uint64_t entry; /* where a program begins; 0: unknown */
	bool is_loaded; /* all of this is as it will be */
};

struct code_region {
	uint64_t start, end;
	uint32_t module; /* UNWIND_NO_MODULE: made at run time */
};

struct code {
	struct code_region *regions; /* by address */
	size_t region_count, region_capacity;
	struct code_module **modules; /* only ever added to */
	size_t module_count, module_capacity;
};

#define CODE_INIT \
	{         \
		0 \
	}

/* Take over what is mapped now. Returns whether anything changed. */
bool code_update(struct code *c, const struct maps *maps);
void code_release(struct code *c);

/* The region that holds an address; NULL: that is no code. */
const struct code_region *code_find(const struct code *c, uint64_t address);

/* Read a module's file, once. */
void code_load(struct code_module *m, struct memory *memory,
	       const struct opener *opener,
	       const struct unwind_machine *machine);

/* The function that an address in memory is in; false when no symbol tells.
 * The module must be loaded. */
bool code_function(struct code_module *m, const struct opener *opener,
		   uint64_t address, struct module_function *out);

#endif
