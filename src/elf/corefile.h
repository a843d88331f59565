/* A core file: what is left of a process.
 *
 * It holds the memory that the program had written to, the registers of its
 * threads and the list of the files that it had mapped. What it had not written
 * to (code, constants) is mostly left out by the kernel, and is read from these
 * files; where the core file has a file's build id, another build of the file
 * is refused. So a core file is best read on the machine it comes from, or with
 * a copy of that machine's files as root.
 *
 * A core file is hostile like any file: it is checked when it is opened, only
 * object files are opened on its word, and nothing of it is executed. */
#ifndef PYROMETER_ELF_COREFILE_H
#define PYROMETER_ELF_COREFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/maps.h"
#include "os/memory.h"
#include "os/opener.h"
#include "os/registers.h"

struct corefile_thread {
	pid_t tid;  /* as the program itself saw it */
	int signal; /* that it was dealing with; 0: none */
	struct cpu_registers registers;
	uint64_t thread_pointer; /* 0: unknown */
	int64_t call; /* number of the system call it waited in; -1: in none,
		       * or unknown */
	uint64_t call_argument; /* the first one */
};

struct corefile {
	const char *path;
	struct memory *memory; /* memory_free() leaves it alone */
	struct maps maps;      /* inodes are made up: one for each path */
	const struct opener *opener;
	pid_t pid;
	const char *command, *exe;
	int signal; /* that ended it; 0: none is told */
	int signal_code;
	uint64_t signal_address; /* what was accessed (SIGSEGV, SIGBUS ...) */
	struct corefile_thread *threads; /* the one that ended it first */
	uint32_t n_threads;
	uint64_t vdso;	  /* where the kernel's own library lies; 0 */
	uint64_t lacking; /* bytes that are missing at its end */
};

/* Open a core file of this machine's kind. `root`: where the files lie that it
 * names; "" for this machine's own. -ERR_NOT_FOUND, -ERR_IO, -ERR_CORRUPT or
 * -ERR_UNSUPPORTED with a sentence. One that is cut off is opened as far as it
 * goes (see `lacking`). */
int corefile_open(struct corefile **out, const char *path, const char *root,
		  struct error *err);
void corefile_free(struct corefile *c); /* NULL-safe */

/* The i-th of the files that were needed and not to be had, or NULL. *differs:
 * there is one, but of another build. */
const char *corefile_missing(const struct corefile *c, uint32_t i,
			     bool *differs);

#endif
