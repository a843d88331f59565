/* What an object file calls the code at its addresses: functions, source lines
 * and inlined calls.
 *
 * Names come from its symbol tables (.symtab, .dynsym, .gnu_debugdata, those
 * of its debug file), lines and inlined calls from debug information in the
 * file itself or in its debug file, found by build id or .gnu_debuglink, below
 * the target's root and then on this machine, at last by debuginfod where
 * DEBUGINFOD_URLS is set. Files may be missing, foreign or malicious.
 *
 * Addresses are those of the file. A return address names the instruction
 * behind the call, which may be another line or even another function: who
 * looks up a caller subtracts one first. */
#ifndef PYROMETER_ELF_SYMBOLS_H
#define PYROMETER_ELF_SYMBOLS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct symbol {
	const char *name; /* to show: demangled, without .cold and the like */
	const char *file; /* of the line; "" when it is not known */
	uint32_t line;	  /* 0: not known */
	/* Where the function begins. 0 when it is not known, or not in `file`
	 * (code that was included into a function). */
	uint32_t first_line;
	bool inlined; /* into the one that follows */
};

#define SYMBOLS_DEPTH_MAX 64 /* inlined into each other */

struct symbols;

/* Open the object file `path` below `root` ("/proc/PID/root"; NULL: ours).
 * "[vdso]" is the kernel's. With a `build_id` (hexadecimal, NULL or "": any)
 * another file that has taken its place since is not believed; its debug file
 * alone will do then. -ERR_NOT_FOUND with a sentence when there is nothing. */
int symbols_open(struct symbols **out, const char *root, const char *path,
		 const char *build_id, struct error *err);
/* The same for a file that is open already; the descriptor stays the caller's.
 */
int symbols_open_fd(struct symbols **out, int fd, const char *root,
		    const char *path, const char *build_id, struct error *err);
void symbols_free(struct symbols *s); /* NULL-safe */

/* What is at an address, innermost first; at most `max`. The last one is the
 * function itself. 0: nothing is known. Texts live as long as `s`. */
uint32_t symbols_find(struct symbols *s, uint64_t address, struct symbol *out,
		      uint32_t max);

/* Give up a lookup in debug information after `patience` ns (0: the usual
 * time), or when *stop is set (may be NULL). */
void symbols_limit(struct symbols *s, uint64_t patience,
		   const volatile sig_atomic_t *stop);

/* Every function whose name in the symbol tables begins with `prefix`, by
 * address: mangled, with its suffix (.cold), aliases each for themselves, no
 * stubs (@plt). Size 0 does not occur. No debug information is read for this.
 * The visitor returns false to stop; so does symbols_range when it was stopped.
 */
bool symbols_range(struct symbols *s, const char *prefix,
		   bool (*visit)(void *context, const char *name,
				 uint64_t address, uint64_t size),
		   void *context);

/* Bytes of the loaded file at an address; how many were there. */
size_t symbols_read(struct symbols *s, uint64_t address, void *into,
		    size_t size);

const char *symbols_build_id(const struct symbols *s); /* "" when it has none */
/* Whether there is debug information on this machine, and so lines. */
bool symbols_has_lines(const struct symbols *s);

#endif
