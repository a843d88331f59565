/* Every stack of a process, or of its core file, at one moment, as text: what
 * `dump` shows.
 *
 * It is a sample like any other, proven or marked, and the process is not
 * stopped for it. Variables are read a moment later: a frame that did not stay
 * where it was until they were read is marked. */
#ifndef PYROMETER_SAMPLE_SNAPSHOT_H
#define PYROMETER_SAMPLE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "elf/corefile.h"
#include "python/names.h"
#include "record/model.h"
#include "sample/target.h"

struct snapshot_options {
	bool locals; /* read the variables of each frame */
	/* Native frames too, unless its source is REGISTERS_NONE; a core file
	 * has the registers, whatever the source. */
	struct native_options native;
	const char *root; /* where a core file's files are; NULL or "": ours */
	uint32_t ends; /* of a deep stack, keep so many frames at each end; 0:
			* keep all */
};

struct snapshot_local {
	const char *name;
	const char *value; /* as repr() writes it, cut; NULL: unbound */
	bool argument;
};

struct snapshot_frame {
	const char *function, *file;
	uint32_t line;	    /* 0: unknown */
	const char *module; /* native: the file that the code is from, or "";
			     * NULL: Python */
	bool inlined;	    /* into the frame that follows */
	struct snapshot_local *locals;
	uint32_t n_locals;
	bool more_locals; /* than are kept */
	bool moved;	  /* went on before its variables had been read */
	bool internal;	  /* see struct code; none is left in a snapshot */
};

struct snapshot_thread {
	char name[THREAD_NAME_SIZE];
	pid_t tid;	/* 0: unknown */
	uint64_t ident; /* as Python knows it */
	uint32_t interpreter;
	bool main;
	uint32_t state;	  /* enum sample_state */
	char os_state;	  /* R S D T ..., 0: unknown */
	const char *call; /* of a core file: what it waited in; NULL
			   */
	bool culprit;	  /* of a core file: the signal was this thread's */
	bool readable;	  /* the thread state could be read */
	struct snapshot_frame *frames; /* innermost first */
	uint32_t n_frames;	       /* that are kept */
	uint32_t depth;		       /* that there are */
	uint32_t cut;		       /* the depth - n_frames ones that are
					* not kept stood in front of this one */
};

struct snapshot {
	struct arena arena;
	pid_t pid;
	const char *command, *exe;
	const char *python; /* "3.12.1" */
	const char *module; /* file in which the interpreter was found */
	bool free_threaded;
	const char *core;   /* path of the core file; NULL: a live process */
	int signal;	    /* of a core file: what ended the program; 0 */
	uint64_t address;   /* at which it was not permitted to do so; 0 */
	const char **notes; /* what the reader of the core file should know */
	uint32_t n_notes;
	bool with_locals;		 /* they were asked for */
	bool with_native;		 /* there are native frames */
	struct snapshot_thread *threads; /* the main thread first */
	uint32_t n_threads;
};

/* Look at a process. Errors as target_new(), and -ERR_NO_PROCESS. */
int snapshot_take(struct snapshot **out, pid_t pid,
		  const struct snapshot_options *options, struct error *err);
/* Look at a core file: as above, but nothing moves. Errors as
 * python_open_in(). */
int snapshot_take_core(struct snapshot **out, struct corefile *core,
		       const struct snapshot_options *options,
		       struct error *err);
/* What snapshot_take() does once it has looked: stacks and names of a target
 * that stands still. All but the process itself (pid, command, exe) is filled
 * in. */
struct snapshot *snapshot_read(struct target *t,
			       const struct snapshot_options *options);
void snapshot_free(struct snapshot *s); /* NULL-safe */

#endif
