/* Native stacks of a process, by its unwind tables.
 *
 * The unwinder knows which files are mapped where, reads the tables of a file
 * when the first address in it is met, and remembers the rule of every address
 * that it was asked for. A walk over known code reads the stack and a cache and
 * nothing else: no allocation, no system call as long as the copy of the stack
 * reaches. Not for several threads at once. */
#ifndef PYROMETER_ELF_UNWIND_H
#define PYROMETER_ELF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "elf/module.h"
#include "os/maps.h"
#include "os/memory.h"
#include "os/opener.h"

/* Of the frame that the walk begins with. */
struct unwind_registers {
	uint64_t pc, sp, fp;
	uint64_t lr; /* aarch64 only */
	/* x86-64 only: by these some frames are found, of hand-written and of
	 * realigned code. 0: not known. */
	uint64_t rbx, r10;
	/* The same, and known of a thread that is in a system call only. */
	uint64_t rdi;
};

/* A copy of the stack around sp and upwards; what lies beyond is read through
 * the memory. */
struct unwind_stack {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
};

enum unwind_end {
	UNWIND_ROOT,	   /* the thread's first frame was reached */
	UNWIND_NO_RULE,	   /* code without rules, and no frame pointer */
	UNWIND_UNREADABLE, /* the stack could not be read */
	UNWIND_LOOP,	   /* the next frame would not lie above this one */
	UNWIND_FULL,	   /* more frames than there was room for */
};

#define UNWIND_NO_MODULE UINT32_MAX

struct native_frame {
	uint64_t pc;
	uint64_t sp;	 /* CFA of the frame: orders it against others; where it
			  * is not known, the stack pointer in the frame */
	uint32_t module; /* for unwinder_module; UNWIND_NO_MODULE: none */
	bool is_return;	 /* pc follows a call: subtract one to look it up */
	bool is_signal;	 /* the kernel's frame, in which a handler returns */
};

struct unwind_module_info {
	const char *path; /* as the target sees it; "[vdso]" */
	char build_id[MODULE_BUILD_ID_MAX];
	uint64_t bias; /* add to an address in the file to get one in memory */
	uint64_t start, end; /* of its code, in memory */
};

struct unwinder;

/* For a live process. Its maps are read now, and again (at most every so often)
 * when an address lies in no known module. The memory must outlive it. */
int unwinder_new(struct unwinder **out, pid_t pid, struct memory *memory,
		 struct error *err);
/* For any memory with these mappings, which are copied, and this way to open
 * their files: a core file. The memory and the opener must outlive it. */
int unwinder_new_over(struct unwinder **out, const struct maps *maps,
		      struct memory *memory, const struct opener *opener,
		      struct error *err);
void unwinder_free(struct unwinder *u); /* NULL-safe */

/* Walk a stack from its registers: frames leaf first, at most `max` (which is
 * at least 1); frames[0].pc is regs->pc. `stack` may be NULL. Returns their
 * number and says why it ended. */
uint32_t unwinder_walk(struct unwinder *u, const struct unwind_registers *regs,
		       const struct unwind_stack *stack,
		       struct native_frame *frames, uint32_t max,
		       enum unwind_end *why);

/* A module, by the index in a frame; it stays valid as long as the unwinder.
 * NULL for UNWIND_NO_MODULE. */
const struct unwind_module_info *unwinder_module(const struct unwinder *u,
						 uint32_t module);
/* Modules so far; those that no address was met in have no build id yet. */
uint32_t unwinder_module_count(const struct unwinder *u);

#endif
