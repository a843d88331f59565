/* What debuginfo.c and unit.c share. */
#ifndef PYROMETER_ELF_DEBUGINFO_PRIVATE_H
#define PYROMETER_ELF_DEBUGINFO_PRIVATE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAIN_MAX                                                  \
	64 /* functions inlined into each other, and the outermost \
	    */

struct range {
	uint64_t low, high;
	uint32_t owner; /* the unit, or the function */
};

/* A function, or a call that was inlined. */
struct scope {
	Dwarf_Die die;
	uint32_t end; /* of a function: the index behind what is inside it */
	uint32_t first_range, n_ranges; /* of an inlined call */
};

struct unit {
	Dwarf_Die die, split; /* `split` once indexed, if there is one */
	Dwarf_CU *cu;
	bool indexed, is_split;
	struct range *functions; /* by address; owner: index into scopes */
	size_t n_functions, functions_capacity;
	struct scope *scopes; /* in the order of the tree */
	uint32_t n_scopes, scopes_capacity;
	struct range *inlined; /* ranges of inlined calls */
	uint32_t n_inlined, inlined_capacity;
};

struct debuginfo {
	Dwarf *dwarf;
	bool host_files;
	int host; /* our root */
	struct unit *units;
	uint32_t n_units, units_capacity;
	struct range *ranges; /* by address; owner: the unit */
	size_t n_ranges, ranges_capacity;
	char empty[512];
};

const struct range *range_find(const struct range *ranges, size_t n,
			       uint64_t address);

/* The function at an address and what was inlined there, outermost first. */
uint32_t unit_chain(struct debuginfo *d, struct unit *unit, uint64_t address,
		    Dwarf_Die chain[CHAIN_MAX]);

/* The DIE below which a unit's functions are. */
Dwarf_Die *unit_body(struct unit *unit);

#endif
