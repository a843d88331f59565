/* A process of our own that looks addresses up in debug information.
 *
 * libdw and libiberty are made for what compilers write; the files belong to
 * the target, and a profiler that dies of its target has lost the recording.
 * How they behave (elfutils 0.188, binutils 2.40): of 120,000 small files with
 * a few bytes of their debug sections changed none crashed libdw or kept it
 * busy for two seconds. But it maps files, and one that shrinks while it is
 * read ends the reader by SIGBUS; a section may unpack to a thousand times its
 * size; it opens whatever path a file names, FIFOs and devices too; and a
 * mangled name of 279 bytes took libiberty 2.9 s and 570 MB, each ten more
 * bytes twice that.
 *
 * So both run in a child that can do no harm: it has no files but the module's,
 * may open none, may not grow without end, is the first to go when memory is
 * short, and ends with us. Whoever asks waits for a limited time, and treats
 * the answer as foreign bytes too. A child that died or hung is replaced a few
 * times; after that, names come from symbol tables alone. All of
 * it takes some 60 us per address (libpython, libc; half is libdw's). */
#ifndef PYROMETER_ELF_LOOKUP_H
#define PYROMETER_ELF_LOOKUP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "elf/debugfile.h"

struct lookup;

/* All of it must outlive the lookup. */
struct lookup_files {
	int object, debug; /* either may be -1 */
	struct debug_roots roots;
	const char *path, *build_id; /* of the object */
	bool host_files;	     /* the target's root is ours */
};

/* What the symbol table says of an address. */
struct lookup_hint {
	const char *symbol; /* as it stands there; "": nothing */
	bool sure;	    /* DWARF's own name counts for less */
};

/* Nothing is started before the first question. */
struct lookup *lookup_new(const struct lookup_files *files);
void lookup_free(struct lookup *l); /* NULL-safe */

/* How long to wait for an answer, in ns (0: as long as is usual), and a flag
 * (or NULL) that ends the waiting. */
void lookup_limit(struct lookup *l, uint64_t patience,
		  const volatile sig_atomic_t *stop);

struct lookup_frame {
	const char *name, *file; /* not terminated, inside the answer */
	size_t name_size, file_size;
	uint32_t line, first_line;
	bool inlined;
};

/* The frames at an address, innermost first, at most `max`; they point into
 * `answer`. 0 when there is no answer. */
uint32_t lookup_ask(struct lookup *l, uint64_t address,
		    const struct lookup_hint *hint, struct buffer *answer,
		    struct lookup_frame *frames, uint32_t max);

#endif
