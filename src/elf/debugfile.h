/* The separate files in which an object file's debug information may be.
 *
 * Each is looked for below the target's root first and on this machine next,
 * and believed only when it says itself that it belongs to the object file: by
 * its build id, or by the checksum that .gnu_debuglink names. All of it is
 * opened through rooted.h. Descriptors are the caller's to close; -1: none. */
#ifndef PYROMETER_ELF_DEBUGFILE_H
#define PYROMETER_ELF_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_TEXT 129 /* 64 bytes in hexadecimal digits, and NUL */

struct Elf; /* libelf's */

/* Where to look: the target's root and ours, both from rooted_begin. */
struct debug_roots {
	int target, host;
};

/* The build id of an object file as text; "" when it has none. */
void debugfile_build_id(struct Elf *elf, char out[BUILD_ID_TEXT]);

/* /usr/lib/debug/.build-id/xx/yyyy.debug */
int debugfile_by_build_id(const struct debug_roots *roots,
			  const char *build_id);

/* The file that .gnu_debuglink of `elf` names: beside `path` (of the object
 * file), in .debug there, and in the same folder below /usr/lib/debug. */
int debugfile_by_link(const struct debug_roots *roots, struct Elf *elf,
		      const char *path);

/* What dwz moved into a file that several share: the one that
 * .gnu_debugaltlink of `elf` names. `path` is that of the object file. */
int debugfile_shared(const struct debug_roots *roots, struct Elf *elf,
		     const char *path);

/* Ask the servers of DEBUGINFOD_URLS, if it is set and libdebuginfod is there;
 * may take as long as DEBUGINFOD_TIMEOUT says. */
int debugfile_download(const char *build_id);
bool debugfile_may_download(void); /* it is set */
bool debugfile_has_client(void);   /* libdebuginfod is there */

/* A section of an object file: its bytes (libelf's), or NULL. Asking whether
 * there is one does not read it. */
bool debugfile_has_section(struct Elf *elf, const char *name);
const void *debugfile_section(struct Elf *elf, const char *name, size_t *size);
uint64_t debugfile_section_address(struct Elf *elf, const char *name);

/* The object file inside .gnu_debugdata (xz), unpacked: free() it. NULL when
 * there is none, or it is broken or unreasonably large. */
unsigned char *debugfile_unpack(struct Elf *elf, size_t *size);

#endif
