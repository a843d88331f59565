/* What a recording says: the things every instrument shares.
 *
 * Each kind of thing has small ids that count from 0 in the order in which it
 * was first seen; a thing is written once, before the first use of its id.
 *
 *   process   a program under observation, from its start (or our attach) to
 *             its end; an exec in the middle makes a new process
 *   thread    of one process
 *   function  name, file, first line, and of what kind it is
 *   module    an object file that native code was mapped from
 *   site      an address in native code
 *   frame     a function at a line, or a site
 *   node      a stack: a frame called from a parent node (or from none)
 *   tick      a moment at which threads were looked at
 *   run       a thread seen with the same stack in the same state at each of
 *             a number of consecutive ticks
 *
 * A sample is one tick of a run. Runs make an idle thread nearly free, on disk
 * and in every analysis.
 *
 * While a program is watched, native code is written down as sites. What they
 * are called is looked up later, once for each, and written as symbols of the
 * sites; the reader puts the two together. */
#ifndef PYROMETER_RECORD_MODEL_H
#define PYROMETER_RECORD_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX /* no process, no parent, no stack */

/* What a sampled thread was doing; kept with every sample. */
enum sample_state {
	STATE_ON_CPU = 1 << 0, /* running; or ready to run, where the kernel
				* does not tell one from the other */
	STATE_GIL = 1 << 1,    /* held the GIL (or was attached, without GIL) */
	STATE_GIL_WAIT = 1 << 2, /* was waiting for the GIL */
	STATE_GC = 1 << 3,	 /* was collecting garbage */
	STATE_TORN = 1 << 4,	 /* the stack moved while it was read: its root
				  * part is good, frames at the leaf are missing */
	STATE_UNPROVEN = 1 << 5, /* read without a proof that it stood still */
	STATE_UNREADABLE = 1 << 6, /* part of the stack could not be read */
	STATE_RIDDEN = 1 << 7,	   /* read from the thread's own core */
	STATE_TRUNCATED = 1
			  << 8, /* deeper than the limit; the root is missing */
	STATE_NATIVE = 1 << 9,	/* native frames were taken */
	STATE_BROKEN = 1 << 10, /* the walk of native frames did not reach the
				 * thread's first */
	STATE_UNMERGED = 1 << 11, /* native and Python frames do not fit
				   * together */
	/* bits up to 15 are free for other instruments */
};

enum function_kind {
	FUNCTION_PYTHON,
	FUNCTION_NATIVE,
	FUNCTION_KERNEL,
	FUNCTION_MARK, /* not code: "<torn>", "<unreadable>" and the like */
};

/* The mark in place of a function whose code object could not be read. */
#define UNREADABLE_FUNCTION "<unreadable>"

struct process_info {
	uint32_t pid;	     /* as the recorder sees it */
	uint32_t parent;     /* process id of the parent, or ID_NONE */
	uint64_t start;	     /* ns since the recording began */
	const char *command; /* command line, arguments separated by spaces */
	const char *exe;     /* path of the executable */
	const char
		*python; /* "3.12.1", "3.13.0 free-threading", "" if unknown */
};

struct thread_info {
	uint32_t process;
	uint32_t tid;	  /* as the recorder sees it; 0 if unknown */
	uint64_t start;	  /* ns since the recording began, when first seen */
	const char *name; /* the Python name, else the kernel's, else "" */
	uint32_t interpreter; /* 0 is the main interpreter */
	bool main;	      /* the main thread of its process */
};

/* What the kernel says of a thread, beside what samples say of the same time.
 * Both 0: it said nothing. */
struct thread_times {
	uint64_t ran;	 /* ns on a CPU */
	uint64_t on_cpu; /* samples STATE_ON_CPU */
};

struct function_info {
	const char *name; /* qualified name where the version has one */
	const char *file; /* as the code object says */
	uint32_t line;	  /* first line */
	enum function_kind kind;
	const char *module; /* native: library path; Python: "" */
};

/* An object file in the memory of a program. The same file in several
 * processes is one module, with the place where it was first seen. */
struct module_info {
	const char *path;     /* in the target's root; "[vdso]" and the like */
	const char *build_id; /* hexadecimal; "": unknown */
	uint64_t bias;	      /* address in memory minus address in the file */
	uint64_t start, end;  /* where it was mapped; both 0: unknown */
};

/* An address in native code: of the instruction that is executed, or, of a
 * caller, the return address minus one, which lies in the call. */
struct site_info {
	uint32_t module;	 /* or ID_NONE: the address is one in memory */
	uint64_t address;	 /* as the module's file counts */
	enum function_kind kind; /* FUNCTION_NATIVE or FUNCTION_KERNEL */
};

/* Is told of a site, and of its module or NULL. */
typedef void site_visitor(void *context, uint32_t site,
			  const struct site_info *info,
			  const struct module_info *module);

struct frame_info {
	uint32_t function;
	uint32_t line; /* 0: none */
	uint32_t site; /* or ID_NONE: Python, or no address is known */
};

struct node_info {
	uint32_t parent; /* ID_NONE: outermost; otherwise smaller than its own
			    id */
	uint32_t frame;
};

/* An instant or a span that an instrument wants to be seen in time. */
struct marker_info {
	uint64_t start,
		end;	 /* ns since the recording began; equal: an instant */
	uint32_t thread; /* or ID_NONE */
	const char *name;
	const char *text;
};

/* How the recording was made and what it cost; written at the start, again
 * while it grows and at the end, the last one counts. */
struct recording_info {
	uint64_t wall_start; /* CLOCK_REALTIME at the start, ns */
	uint64_t period; /* ns between ticks as asked for; 0: as fast as can be
			  */
	uint64_t duration; /* ns, so far */
	uint64_t watched;  /* ns of these in which there was a Python */
	uint64_t ticks;	   /* moments looked at */
	uint64_t drawn;	 /* of these that stand for a look that went on for long
			  */
	uint64_t missed; /* ticks that were due and could not be kept */
	uint64_t samples;    /* thread samples taken */
	uint64_t torn;	     /* of these STATE_TORN */
	uint64_t unproven;   /* of these STATE_UNPROVEN */
	uint64_t unreadable; /* of these STATE_UNREADABLE */
	uint64_t lost;	     /* samples of which nothing could be kept */
	uint64_t retried;    /* samples that needed a second read */
	uint64_t ridden;     /* of these STATE_RIDDEN */
	uint64_t visited;    /* of these by the kernel; see os/visit.h */
	uint64_t clocked;    /* of these by the program behind its core's timers
			      */
	uint64_t native;     /* of these STATE_NATIVE */
	uint64_t broken;     /* of these STATE_BROKEN */
	uint64_t unmerged;   /* of these STATE_UNMERGED */
	uint32_t registers;  /* enum register_source: how native stacks began */
	uint64_t recorder_cpu; /* ns of CPU time used by the recorder */
	uint32_t filter;       /* enum sample_filter: what was left out */
	bool complete;	       /* the recorder ended in order */
	const char *version;   /* of Pyrometer */
	const char *host;
	const char *command; /* the pyrometer command line */
	const char *note;    /* free text: why something is missing; "" */
};

/* What was left out while recording (-g, --mode), so that a report can say it.
 */
enum sample_filter {
	FILTER_NONE = 0,
	FILTER_CPU = 1 << 0,	 /* only samples on CPU */
	FILTER_GIL = 1 << 1,	 /* only samples that held the GIL */
	FILTER_THREADS = 1 << 2, /* only threads that matched --thread */
};

/* Where the registers that a native stack begins with came from. */
enum register_source {
	REGISTERS_NONE,	  /* no native stacks were taken */
	REGISTERS_SWITCH, /* the kernel's record of a context switch */
	REGISTERS_CLOCK,  /* the interrupt of a clock of the thread's own */
	REGISTERS_STOP,	  /* the thread was stopped for a moment */
};

/* One block's worth of consecutive ticks of one thread. */
struct run {
	uint32_t thread;
	uint32_t node;	     /* ID_NONE: no Python stack */
	uint32_t state;	     /* enum sample_state */
	uint32_t first_tick; /* index into the block's ticks */
	uint32_t ticks;	     /* at least 1 */
};

#endif
