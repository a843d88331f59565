/* DWARF: which function, which line, and what was inlined there.
 *
 * Only lookup.h's process uses this: libdw is made for files that compilers
 * wrote, and can be crashed and hung by others. */
#ifndef PYROMETER_ELF_DEBUGINFO_H
#define PYROMETER_ELF_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "elf/debugfile.h"

struct debuginfo;

/* The debug information in the object file `fd`, which must stay open, whose
 * path is `path`. `host_files` permits libdw to open the files that split
 * debug information names. NULL when there is none. */
struct debuginfo *debuginfo_open(int fd, const char *path,
				 const struct debug_roots *roots,
				 bool host_files);

/* A function that the address is in, or was inlined there. */
struct debuginfo_frame {
	char *name;	     /* to show; NULL: not known */
	char *file;	     /* that the line is in; NULL: not known */
	uint32_t line;	     /* 0: not known */
	uint32_t first_line; /* where the function begins in that file, or 0 */
	bool inlined;
};

/* Up to `max` frames, innermost first; the last one is the function itself
 * unless there were more. Strings are to be free()d. Returns how many. */
uint32_t debuginfo_find(struct debuginfo *d, uint64_t address,
			struct debuginfo_frame *frames, uint32_t max);

#endif
