/* Names of pieces of code by address, gathered one after the other: what perf
 * maps, jitdumps and the kernel's list have in common. A piece that was named
 * later lies over those before it, since memory of dead code is used again. */
#ifndef PYROMETER_ELF_CODE_NAMES_H
#define PYROMETER_ELF_CODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

#define CODE_NAMES_MAX 5000000 /* pieces; more are not taken */

struct code_piece {
	uint64_t start, end;
	uint32_t order;	      /* counts up as pieces are added */
	uint32_t name, owner; /* in texts; owner: "" or a kernel module */
};

struct code_names {
	struct code_piece *items; /* by start once sorted */
	uint32_t count, capacity;
	uint64_t longest;
	bool sorted;
	struct intern texts;
};

#define CODE_NAMES_INIT        \
	{                      \
		.sorted = true \
	}

void code_names_release(struct code_names *c);

/* Name `size` bytes from `start`; names are cut to a few thousand bytes.
 * Pieces without bytes, or that wrap around, are not taken. */
void code_names_add(struct code_names *c, uint64_t start, uint64_t size,
		    const char *name, size_t name_size);
void code_names_add_of(struct code_names *c, uint64_t start, uint64_t size,
		       const char *name, size_t name_size, const char *owner,
		       size_t owner_size);

/* The piece at an address, or NULL; valid until the next is added. */
const struct code_piece *code_names_find(struct code_names *c,
					 uint64_t address);
const char *code_names_text(const struct code_names *c, uint32_t text);

#endif
