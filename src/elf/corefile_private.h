/* Inside a core file. */
#ifndef PYROMETER_ELF_COREFILE_PRIVATE_H
#define PYROMETER_ELF_COREFILE_PRIVATE_H

#include "base/arena.h"
#include "base/intern.h"
#include "elf/corefile.h"

#if defined(__x86_64__)
#define CORE_MACHINE	  EM_X86_64
#define CORE_MACHINE_NAME "x86-64"
#elif defined(__aarch64__)
#define CORE_MACHINE	  EM_AARCH64
#define CORE_MACHINE_NAME "aarch64"
#else
#error "Pyrometer knows x86-64 and aarch64"
#endif

#define CORE_PAGE 4096u

/* A part of the memory, and where the file has it. */
struct core_segment {
	uint64_t start, size;
	uint64_t kept; /* bytes of it that are in the file, from its start on */
	uint64_t offset;
	bool readable, executable;
};

/* A file that was mapped. */
struct core_mapped {
	int fd; /* -1: not to be had */
	bool tried, differs;
};

struct core_memory {
	struct memory memory;
	struct core *core;
};

struct core_opener {
	struct opener opener;
	struct core *core;
};

struct core {
	struct corefile file;
	int fd;
	uint64_t size; /* of the file */
	int root;      /* below which mapped files are opened */
	struct arena arena;
	struct core_segment *segments; /* by address, none overlapping */
	uint32_t n_segments, segments_capacity;
	struct intern paths;	   /* of the mapped files: inode - 1 */
	struct core_mapped *files; /* of each path */
	uint32_t threads_capacity;
	const unsigned char *auxv; /* as the kernel gave it, in the arena */
	size_t auxv_size;
	uint64_t notes; /* bytes of them so far */
	struct core_memory memory;
	struct core_opener opener;
};

/* Whether exactly `size` bytes of the file at `offset` could be read. */
bool core_pread(const struct core *c, uint64_t offset, void *into, size_t size);

/* Take one segment of notes. */
int core_take_notes(struct core *c, uint64_t offset, uint64_t size,
		    struct error *err);

/* Once notes and segments are known: the maps. */
void core_make_maps(struct core *c);

/* Once the maps are there: the memory and the opener. */
void core_make_memory(struct core *c);
void core_close_files(struct core *c);

/* The value of an entry of the auxiliary vector; 0 when there is none. */
uint64_t core_auxv(const struct core *c, uint64_t type);

/* The whole command line from the stack of the program, arguments joined by
 * spaces, in the arena; NULL when it is not found. */
const char *core_command(struct core *c);

#endif
