/* The native side of a target's threads: registers, stacks, and the frames that
 * come of them.
 *
 * Python's frames lie on the heap and native ones on the C stack; a stack of
 * both is true only if both are of one moment. What is needed is a moment at
 * which a thread does not run, the registers that it stopped with, and a proof
 * that it did not run until all was read. Three sources give that:
 *
 *   switch  The kernel writes a thread's registers into a ring whenever it
 *           leaves its CPU. So a thread that sleeps has left them there, for
 *           good, and costs nothing until it runs again. One that runs is
 *           visited where that is permitted (os/visit.h): registers and both
 *           stacks are taken at once. Otherwise it is made to leave: we wake up
 *           on its core (see ride.h), which is what switches it out. The proof
 *           is then the ring's head, see perf_event.h.
 *   clock   Without privilege the kernel tells of switches, but not with which
 *           registers. A clock of the thread's CPU time takes them by its
 *           interrupt and wakes us on the same core, before the thread goes
 *           on. The interrupt also copies the top of the stack: if that is what
 *           we read, the thread did nothing in between. Where a sleeper stands
 *           is known from /proc.
 *   stop    No perf events at all: the one running thread is stopped for the
 *           length of a read. Its proof is the stop; that of a sleeper is its
 *           run time and its turns in /proc.
 *
 * A sleeper that has not run since it was last read is not read again. The top
 * of the stack is read together with Python's parts in one vectored read, as
 * much of it as the last walk needed. The walk and the merge come after. */
#ifndef PYROMETER_SAMPLE_NATIVE_H
#define PYROMETER_SAMPLE_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "elf/unwind.h"
#include "os/perf_event.h"
#include "os/stop.h"
#include "os/thread.h"
#include "os/visit.h"
#include "python/eval.h"
#include "sample/merge.h"
#include "sample/nodes.h"
#include "sample/pieces.h"

struct clock_track;
struct native_kernel;

struct native_options {
	enum register_source source; /* REGISTERS_NONE: no native stacks */
	bool refused;		     /* they were asked for */
	bool kernel;		     /* the kernel's frames too */
	bool internals;		     /* fold nothing */
	pid_t own;		     /* a child of ours; see struct stop */
};

/* One thread of the process, as the kernel counts them. */
struct native_thread {
	pid_t tid;
	bool present;	 /* still there (used while listing) */
	bool refused;	 /* no event could be opened: no native stack */
	bool ended;	 /* and is still in our list */
	bool python;	 /* this time, Python knows it too */
	uint32_t record; /* id in the recording, of one that Python does not
			  * know; ID_NONE */
	bool left_out;
	bool seen; /* Python does not know it, and it is to be written */
	struct os_thread os;
	struct perf_event event;

	/* The last look. */
	uint64_t head;	 /* moves when the thread runs */
	bool running;	 /* on a CPU, or wants to be on one */
	int core;	 /* that it is or was on; -1: unknown */
	uint64_t left;	 /* when it left its CPU, if it is not on one */
	uint64_t rested; /* head when we last went to sleep */
	bool standing;	 /* does not run, and the registers are known */
	bool known;	 /* and it has been read since it came to stand */
	bool ready;	 /* others have its CPU, and not because of us */
	long call;	 /* system call that it sleeps in; -1: none, unknown */
	uint64_t argument; /* first one of the call */
	bool looked;	   /* has been looked at before */
	bool gil_wait;	   /* that call is for the GIL */
	struct cpu_registers registers;
	uint32_t n_kernel;
	uint64_t kernel[PERF_KERNEL_MAX];
	uint32_t n_proof; /* the stack as it must be; 0: anything is right */
	unsigned char proof[PERF_STACK_MAX];

	/* The top of the stack, with the red zone: our copy, or for the moment
	 * that of a visit. */
	const unsigned char *stack;
	uint64_t stack_at; /* where it lies */
	size_t size;
	unsigned char *copy;
	size_t capacity;
	uint64_t top; /* where the stack begins, as far as is known; 0 */
	size_t piece; /* in the plan */
	bool planned; /* it is, or was, read */
	bool whole;   /* and reaches to the top */

	uint32_t unvisited;	   /* looks for which no visit is tried */
	struct clock_track *track; /* see clocks.h; NULL: it has none */
	bool good; /* this look has a picture of it, new or as it was */

	/* The last stack that was read and proven. */
	uint64_t pictured; /* head of that moment */
	bool has_picture;
	uint64_t partner; /* thread state that it was taken together with; 0 */
	struct merged merged;
	uint32_t state; /* STATE_NATIVE, _BROKEN, _UNMERGED */
	struct merged_path path;
	uint32_t node; /* of the picture; ID_NONE: not yet looked up */
	uint64_t epoch;
};

struct native {
	struct node_namer namer; /* first: found again from it */
	struct native_options options;
	pid_t pid;
	struct memory *memory;
	struct writer *writer; /* NULL: nothing is recorded */
	struct unwinder *unwinder;
	struct python_eval eval;
	bool has_eval;
	struct stop stop;
	struct native_kernel *kernel; /* NULL: without its frames */
	struct native_thread **threads;
	uint32_t n_threads, threads_capacity;
	struct native_thread **dead; /* ended since native_bury() */
	uint32_t n_dead, dead_capacity;
	struct map by_tid;
	uint64_t listed, counted; /* when the threads were, last */
	uint64_t links;		  /* of the list of threads then */
	int task_fd;		  /* /proc/PID/task */
	int files_end;		  /* files of ours have smaller numbers */
	pid_t *tids;
	int tids_capacity;
	uint8_t *classes;  /* enum module_class of modules */
	uint32_t *modules; /* their ids in the recording, ID_NONE */
	uint32_t n_modules, modules_capacity;
	struct native_frame *frames; /* of the walk that is going on */
	struct raw_frame *thrown;    /* Python frames, put right */
	size_t thrown_capacity;
	struct native_thread *armed; /* whose clock was set; NULL: nobody's */
	uint32_t n_refused;	     /* threads without native stacks */
	struct error refusal;	     /* why */
};

/* What to say when no source is permitted. */
#define NATIVE_REFUSED                                                    \
	"native stacks are not permitted here, only Python's are taken; " \
	"'pyrometer doctor' tells what to change"

/* The best source that is permitted, by trying; REGISTERS_NONE: none is. */
enum register_source native_best_source(void);
/* Whether a source is permitted; -ERR_PERMISSION with what to change. */
int native_check_source(enum register_source source, struct error *err);

/* For a live process and its Python. */
int native_new(struct native **out, pid_t pid, struct memory *memory,
	       const struct python *python,
	       const struct native_options *options, struct error *err);
/* For any memory in which nothing moves (a core file): threads are told of by
 * native_stand(). */
int native_new_over(struct native **out, struct memory *memory,
		    const struct python *python, const struct maps *maps,
		    const struct opener *opener,
		    const struct native_options *options, struct error *err);
void native_free(struct native *n); /* NULL-safe */

/* A thread that stands for good, with its registers; `call`: the system call
 * that it is in, -1: none. It belongs to `n`. */
struct native_thread *native_stand(struct native *n, pid_t tid,
				   const struct cpu_registers *registers,
				   long call, uint64_t argument);

/* Make the list of threads agree with the kernel's, if it may have changed.
 * Those that ended are told to the recording. */
void native_list(struct native *n, uint64_t now, bool force);
struct native_thread *native_find(const struct native *n, pid_t tid);
/* Forget those that ended: nothing is to be written of them any more. */
void native_bury(struct native *n);

/* Look at a thread: does it run, where does it stand. No system call when it
 * has not run since the last look. */
void native_look(struct native *n, struct native_thread *t);
/* After a look: is it ready? We have been awake since `woke` (0: for long, and
 * nobody knows). */
void native_judge(struct native_thread *t, uint64_t woke);
/* Ask for the top of its stack. */
void native_plan(struct native_thread *t, struct pieces *pieces);
/* Right after the read: note whether the copy is there. */
void native_copied(struct native_thread *t, const struct pieces *pieces);
/* Whether a walk finds all of the stack in the copy. */
static inline bool native_is_whole(const struct native_thread *t)
{
	return t->planned && t->whole;
}
/* After the read: whether it stood still until now. */
bool native_held(const struct native *n, struct native_thread *t);

/* Sleep until a moment; with clocks, be woken by that of a thread which runs on
 * this core, if it goes off about then. */
void native_sleep(struct native *n, int core, uint64_t until);

/* What a visit found of a thread that runs: its registers and stack, to be
 * walked. -ERR_LIMIT when that is not all of the stack. */
int native_take_visit(struct native_thread *t, const struct visit *visit);

/* Whether nothing has to be read: it has not run since it was. */
static inline bool native_is_settled(const struct native_thread *t)
{
	return t->standing && t->known;
}

/* Make a thread that runs stand still (we are on its core, unless it will be
 * stopped), and look. native_release() must follow. */
bool native_catch(struct native *n, struct native_thread *t);
void native_release(struct native *n);

/* Walk the stack that was read, and merge it with Python's frames (NULL: none),
 * `below` which are those of another interpreter that the thread came from
 * (NULL: it did not). */
void native_walk(struct native *n, struct native_thread *t,
		 const struct stack *python, const struct stack *below);

/* What is to be recorded: the node of the last walk. */
uint32_t native_node(struct native *n, struct native_thread *t,
		     struct node_table *table, uint64_t generation);

/* Where in the process a frame's code is named; for dump. */
const struct unwind_module_info *native_module(const struct native *n,
					       uint32_t module);

/* Whether it was on a CPU; one that we took the CPU from was. */
static inline bool native_on_cpu(const struct native_thread *t)
{
	return t->running && !t->ready;
}

/* The node of a thread that is ready, from that of where it last ran. */
uint32_t native_ready_node(struct native *n, struct node_table *table,
			   uint32_t node);

/* What a mark says, as "<waiting: futex>". A mark is the number of a system
 * call, or one for the GIL, or one for a CPU. */
#define NATIVE_MARK_GIL	 UINT64_C(0x10000)
#define NATIVE_MARK_CPU	 UINT64_C(0x10001)
#define NATIVE_MARK_SIZE 40
void native_mark_text(uint64_t mark, char text[NATIVE_MARK_SIZE]);

#endif
