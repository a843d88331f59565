/* A CPython in a process: where its runtime is, which version, which layout. */
#ifndef PYROMETER_PYTHON_PYTHON_H
#define PYROMETER_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/maps.h"
#include "os/memory.h"
#include "os/opener.h"
#include "python/layout.h"

/* What a Python is looked for in: a live process, or what a core file has of
 * one. */
struct python_host {
	const char *name; /* "process 12": what sentences call it */
	pid_t pid;	  /* 0: no live process */
	struct memory *memory;
	const struct maps *maps;
	const struct opener *opener; /* of the mapped files */
	const char *exe; /* path as the program saw it; "": unknown */
};

struct python {
	pid_t pid;	       /* 0: of no live process */
	struct memory *memory; /* not owned */
	struct layout layout;
	uint32_t version; /* as PY_VERSION_HEX: 0x030c01f0 */
	uint64_t runtime; /* _PyRuntime; 0 before 3.7 */
	uint64_t
		interpreters; /* where the first interpreter's address stands */
	uint64_t current;    /* where the address of the thread state that holds
			      * the GIL stands (up to 3.11); 0 */
	uint64_t collecting; /* int: garbage is being collected (2.7, 3.6); 0 */
	uint64_t gil_lock;   /* where the address of the GIL stands (2.7); 0 */
	uint64_t gil_start, gil_end; /* what a thread that waits for the GIL
				      * waits on, where there is one GIL; 0 */
	uint64_t code_type; /* PyCode_Type; 0 when its name is stripped */
	char module[256];   /* file name of the module it was found in */

	/* The C library's side of a thread. */
	bool knows_libc; /* what follows has been looked for */
	bool has_rseq;	 /* threads tell their core in memory */
	int64_t rseq;	 /* from the thread pointer to struct rseq */
	uint64_t
		thread_pointer; /* add to pthread_t to get the thread pointer */
	uint16_t pthread_tid;	/* where struct pthread has the kernel's id, or
				 * LAYOUT_NONE */
};

/* Find the Python of a process. -ERR_NOT_PYTHON when there is none (yet: a
 * process that has just started may get one), -ERR_UNSUPPORTED for a version
 * that is not known, -ERR_PERMISSION, -ERR_GONE, each with its sentence. */
int python_open(struct python *out, pid_t pid, struct memory *memory,
		struct error *err);

/* The same in any host. Of the host only the memory is kept. */
int python_open_in(struct python *out, const struct python_host *host,
		   struct error *err);

/* Find the C library's side. python_open() does it, unless the Python had not
 * started yet: then the C library may not have either. */
void python_learn_libc(struct python *p);

/* Find the GIL, if this Python has none before its second thread begins. */
void python_learn_gil(struct python *p);

/* "3.12.1", "3.13.0 free-threading". */
void python_version_text(const struct python *p, char *into, size_t size);

/* What the thread with this pthread_t calls itself towards the kernel (in its
 * own pid namespace); 0 when it cannot be told. */
pid_t python_tid_of(const struct python *p, uint64_t pthread);

#endif
