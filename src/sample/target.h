/* One Python process under observation: its interpreters, its threads, and what
 * each thread was doing at a moment.
 *
 * A look at the target is one vectored read: the GIL and every thread's
 * predicted stack; every half millisecond it is a whole one, with the heads of
 * the interpreter and thread lists and a second copy of the stacks of threads
 * that run. The lists are checked against what is known (each `next` must lead
 * to the thread that is expected); only when they differ are they followed
 * again. Nothing is ever written into the target and it is never stopped. */
#ifndef PYROMETER_SAMPLE_TARGET_H
#define PYROMETER_SAMPLE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/process.h"
#include "os/thread.h"
#include "python/names.h"
#include "python/python.h"
#include "record/writer.h"
#include "sample/burst.h"
#include "sample/native.h"
#include "sample/nodes.h"
#include "sample/stack.h"

/* Looks for which a thread is not visited again that cannot be: its stack is
 * too deep, or its id is not known. */
#define VISIT_PAUSE 256

struct clock_track;

struct target_thread {
	struct stack stack;
	struct node_path path;
	struct os_thread os;
	struct native_thread *native; /* for the look that is going on; NULL */
	bool below; /* it is in another interpreter, whose native stack has
		     * this one's frames, too */
	uint32_t interpreter; /* index in target->interpreters */
	uint64_t pthread;     /* the C library's id; 0: not started yet */
	uint64_t kernel_id;   /* the kernel's, as Python noted it; 0: not */
	uint64_t serial;      /* CPython's count of threads, where it has one */
	pid_t tid;	      /* as we see it; 0: unknown */
	uint32_t record;      /* id in the recording; ID_NONE: left out */
	bool present;	      /* still in the list (used while following it) */
	bool ended;	      /* Python has it no more; see target_bury() */
	bool named;	      /* has got its Python name; see naming.h */
	char name[THREAD_NAME_SIZE];
	bool left_out; /* --thread does not want it */
	bool seen;     /* the last look is to be written, as this: */
	uint32_t node;

	bool to_visit;		   /* its stack is to be taken by a visit */
	uint32_t unvisited;	   /* looks for which that is not tried */
	struct clock_track *track; /* without native stacks; see clocks.h */

	/* The last look. */
	bool left_alone; /* it did not ask for the stack */
	bool good;	 /* the walk gave something */
	uint32_t state;	 /* enum sample_state */
	char os_state;	 /* R S as os_thread_look() says; 0: gone */
	uint32_t core;	 /* where it runs, from its rseq area or /proc */
	bool gil_wait;
	bool went_on; /* is at another place than at the look before */
	bool ticked;  /* its clock has gone off since; see clocks.h */
	bool visited; /* its stack is what a visit of this look brought */
	int calm;     /* looks in a row that found its stack as it was; below 0:
		       * looks     for which it is not expected to be */
	uint32_t unasked; /* looks since the kernel was asked about it */

	/* How often its stack moved while it was read from another core, a
	 * moving average from 0 to 1; see ride.h. */
	double moving;
};

struct target_interpreter {
	uint64_t address;
	uint32_t number; /* 0 is the main one */
	/* Copies of its fields. */
	uint64_t next, threads_head, gil, code_generation;
	uint32_t collecting;
	uint64_t holder; /* thread state that holds the GIL, or held it last */
	uint32_t locked;
};

struct target {
	pid_t pid;	     /* 0: no live process */
	pid_t main_tid;	     /* of its main thread */
	uint64_t start_time; /* tells a reused pid */
	struct memory *memory;
	struct python python;
	struct writer *writer; /* NULL: nothing is recorded (dump) */
	struct native *native; /* NULL: no native stacks */
	struct codes *codes;
	uint64_t codes_read, codes_calm; /* see target_generation() */
	uint64_t compared;
	struct node_table table;
	uint32_t record; /* id in the recording */
	int status;	 /* of the last look: 0, or why not */

	struct target_interpreter *interpreters;
	uint32_t n_interpreters, interpreters_capacity;
	struct target_thread **threads;
	uint32_t n_threads, threads_capacity;
	struct target_thread **ended; /* since target_bury() */
	uint32_t n_ended, ended_capacity;

	/* The plan of a look. */
	struct pieces pieces;
	uint64_t head, current;
	bool whole; /* this look has the lists and the proofs */
	/* A thread that this look is taken from the core of: it needs no other
	 * proof. NULL: none. */
	const struct target_thread *ridden;
	uint64_t last_whole; /* clock_now() of the last such look */
	struct burst burst;  /* further looks in the same read */

	/* Reads threads on their own cores; see target_visit(). */
	struct visitor *visitor;
	bool visitor_tried;
	struct clocks *clocks; /* of threads that run on; NULL: none yet */
	uint64_t compares; /* times that code was compared in windows (clocks.h)
			    */
	uint64_t window;   /* the number of the last one, if a window is going
			    * on or has just ended; 0: none */
	uint64_t namespace_device, namespace_inode;
	pid_t inner_pid; /* as the target sees it */

	/* What the kernel said last. */
	uint64_t last_os, last_cpu;
	uint64_t cpu;	/* CPU time used before the last whole look, if the look
			 * before that met everybody asleep; else 0 */
	uint64_t turns; /* see waiting.c, at the same moment */
	uint32_t next_idle;
	bool shared_pids; /* the target sees the same pids as we do */
	bool few_files;	  /* too few to ask about all threads */

	/* Names of threads; see naming.h. */
	struct python_thread_name *names;
	uint32_t names_capacity;
	uint64_t names_next, names_pause;
};

/* Begin to watch a process. Errors as python_open(). The interpreter may not
 * have started yet: then there are no threads for now. */
int target_new(struct target **out, pid_t pid, struct error *err);
/* The same over any memory, with what is known of the Python in it; there is no
 * process to ask about its threads when python->pid is 0. Takes the memory
 * over. */
void target_new_over(struct target **out, struct memory *memory,
		     const struct python *python);
void target_free(struct target *t);

/* Write what is seen from now on to `writer`, as a child of process `parent`
 * (ID_NONE: none). */
void target_record(struct target *t, struct writer *writer, uint32_t parent,
		   uint64_t now_since_start);

/* Whether no thread of it has been on a CPU since before the last look, so that
 * all is still as that look found it and another would find the same. Known
 * only of processes in which nobody seems to run: asking costs as much as a
 * look saves. */
bool target_rested(struct target *t, uint64_t now);
/* Whether the lists are to be looked at, too. */
bool target_whole_is_due(const struct target *t, uint64_t now);

/* Take a look: afterwards each thread's stack, state and `good` are as of now.
 * Stacks are not proven yet. -ERR_GONE when the process has ended. */
int target_look(struct target *t, uint64_t now);

/* Take a look at one thread again. When it fails, thread->good is false. */
int target_look_thread(struct target *t, struct target_thread *thread);

/* Have the kernel take the stack of a thread on the core where it runs, as of
 * target_thread_core(): nothing more is to be proven then. -ERR_GONE when it is
 * not there (the core is then known anew), -ERR_LIMIT when the stack is too
 * deep, -ERR_UNREADABLE, or -ERR_PERMISSION when that cannot be done here. */
int target_visit(struct target *t, struct target_thread *thread);
/* Whether each thread was visited the last time and is to be again, and the
 * lists were looked at a moment ago. A visit brings all that a look would, or
 * finds that the thread is not there. */
bool target_visits_suffice(const struct target *t, uint64_t now);
/* The same of a thread's native side, with Python's of the same moment; thread
 * NULL: it has none. */
int target_visit_native(struct target *t, struct target_thread *thread,
			struct native_thread *native);
/* Whether it can be done. */
bool target_has_visits(struct target *t);
/* The two halves of it, for visits that are not made here: what to ask for, and
 * what to make of the answer. */
int target_plan_visit(struct target *t, const struct target_thread *thread,
		      pid_t tid, struct visit *visit);
int target_take_visit(struct target *t, struct target_thread *thread,
		      const struct visit *visit);
/* Of both, the fields alone. */
void target_plan_fields(const struct target *t,
			const struct target_thread *thread,
			struct visit *visit);
void target_take_fields(struct target *t, const struct target_thread *thread,
			const struct visit *visit);

/* Ask the kernel what the threads do, at most every half millisecond. */
void target_look_os(struct target *t, uint64_t now);

/* Ask it of one thread. */
void target_ask(struct target *t, struct target_thread *thread);

/* For lists.c: Python has a thread no more. It stays among those that ended. */
void target_thread_end(struct target *t, struct target_thread *thread);
/* Forget those: nothing is to be written of them any more. */
void target_bury(struct target *t);

/* The count of freed code objects that nodes want (nodes.h). Where the
 * interpreter keeps none, a frame may go on with another function at the same
 * place that is called from the same place, and look as it did: while the
 * program makes code all are compared each time, else now and then, and in a
 * window at each glance, and each once when it has ended. */
uint64_t target_generation(struct target *t,
			   const struct target_thread *thread);

/* Whether, by the last look, the thread may have run since. */
bool target_thread_may_run(const struct target_thread *thread);

/* Whether the thread has ended and only its state is left: 3.15 keeps that for
 * a while. */
bool target_thread_is_left(const struct target_thread *thread);

/* A thread that has been in several interpreters has a thread state in each,
 * and runs in one of them: the one that holds a GIL, else the youngest. Whether
 * that is another one than this. */
bool target_runs_elsewhere(const struct target *t,
			   const struct target_thread *thread);

/* The state of a thread as its stack and the kernel say. */
uint32_t target_thread_state(const struct target *t,
			     const struct target_thread *thread);

/* What the thread's memory says is its id in its own pid namespace; 0: it does
 * not say. */
pid_t target_thread_inner_tid(const struct target *t,
			      const struct target_thread *thread);

/* The core the thread runs on or ran last, as of the last look; -1: unknown. */
int target_thread_core(const struct target_thread *thread);

/* Where the thread keeps its core (4 bytes), or 0. */
uint64_t target_core_address(const struct target *t,
			     const struct target_thread *thread);

/* Whether an address that a thread sleeps on is part of its GIL. */
bool target_in_gil(const struct target *t, const struct target_thread *thread,
		   uint64_t address);

/* Whether the process behind the pid is another one by now, or gone. */
bool target_is_gone(const struct target *t, const struct process_look *look);

#endif
