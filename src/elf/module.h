/* An object file as the target has it mapped: sections, symbols, load address.
 * elfutils' libelf does the parsing; nothing of it shows here. */
#ifndef PYROMETER_ELF_MODULE_H
#define PYROMETER_ELF_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/maps.h"
#include "os/opener.h"

struct module;

/* Open the file behind a mapping. -ERR_NOT_FOUND when it is no ELF file of this
 * machine's kind or cannot be opened. */
int module_open_by(struct module **out, const struct opener *opener,
		   const struct mapping *mapping);
/* The same for a live process. */
int module_open_mapped(struct module **out, pid_t pid,
		       const struct mapping *mapping);
/* An object file whose bytes are at hand and stay there (the vdso's). */
int module_open_bytes(struct module **out, const void *bytes, size_t size);
void module_free(struct module *m); /* NULL-safe */

/* What to add to addresses in the file to get those in the process, given the
 * mapping of its beginning. (Others may hold parts of two segments.) */
uint64_t module_bias(const struct module *m, const struct mapping *mapping);

/* The same, given a mapping of code. */
uint64_t module_code_bias(const struct module *m,
			  const struct mapping *mapping);

#define MODULE_BUILD_ID_MAX 129 /* hexadecimal, with the NUL */

/* "" when it has none. */
void module_build_id(const struct module *m, char id[MODULE_BUILD_ID_MAX]);

/* A part of the file with its address there. The bytes belong to the module
 * and are gone with it. */
struct module_bytes {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};

/* The bytes of a section, inflated if they were compressed. */
bool module_section_bytes(const struct module *m, const char *name,
			  struct module_bytes *out);
/* Those of the first segment of a type (PT_GNU_EH_FRAME ...). */
bool module_segment_bytes(const struct module *m, uint32_t type,
			  struct module_bytes *out);
/* From an address to the end of the segment that is loaded there. */
bool module_loaded_bytes(const struct module *m, uint64_t address,
			 struct module_bytes *out);
/* The lowest address that is loaded; 0 when nothing is. */
uint64_t module_lowest(const struct module *m);

/* Where the program begins; 0 when it does not say. */
uint64_t module_entry(const struct module *m);

/* Address (in the file) and size of a section. */
bool module_section(const struct module *m, const char *name, uint64_t *address,
		    uint64_t *size);

/* Look up `n` symbols at once, in the dynamic and then the full symbol table:
 * values[i] gets the address in the file, 0 when there is no such symbol.
 * Returns how many were found. */
size_t module_symbols(const struct module *m, const char *const *names,
		      uint64_t *values, size_t n);

/* Visit every symbol that has a name, an address (in the file) and a size, in
 * both tables. */
void module_each_symbol(const struct module *m,
			void (*visit)(void *context, const char *name,
				      uint64_t address, uint64_t size),
			void *context);
/* A function as symbol tables tell of it, in addresses of the file. */
struct module_function {
	uint64_t start, end; /* end: that of the next one's start if not told */
};

/* All functions by address; *out is free()d by the caller. Returns their
 * number. */
size_t module_functions(const struct module *m, struct module_function **out);

#endif
