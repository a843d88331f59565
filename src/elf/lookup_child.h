/* The other side of lookup.h: what happens inside the child. */
#ifndef PYROMETER_ELF_LOOKUP_CHILD_H
#define PYROMETER_ELF_LOOKUP_CHILD_H

#include "elf/lookup.h"

/* Followed by the symbol. The answer is a u32 with its size, then per frame:
 * line and first line (u32), whether it is inlined (a byte), name and file
 * (blobs). */
struct lookup_question {
	uint64_t address;
	uint32_t size; /* of the symbol */
	uint32_t sure;
};

/* Answer questions from `in` on `out` until there are no more. */
void lookup_serve(const struct lookup_files *files, int in, int out);

#endif
