/* A perf event on one thread of another process: its registers, and when it was
 * on a CPU.
 *
 * PERF_AT_SWITCH counts context switches: each time the thread leaves a CPU,
 * the kernel writes the user registers it leaves with. This is raised inside
 * the kernel, so it wants CAP_PERFMON or perf_event_paranoid at most 1.
 * PERF_AT_CLOCK is a timer on the thread's CPU time that may be armed: it takes
 * the registers and the top of the stack, and wakes whoever polls. It needs no
 * privilege. That the thread did nothing between its interrupt and its leaving
 * of the CPU is seen by the stack being still as the record has it.
 * Both write down when the thread comes to a CPU and leaves it.
 *
 * The ring is one page that the kernel writes from its end to its beginning,
 * over what is old: the newest record always stands at the head, nothing has to
 * be consumed, and a thread that nobody asks about costs nothing. The head is
 * at the same time the proof of a picture: the kernel moves it before a thread
 * that was off its CPU executes anything, so what was read between two looks at
 * the same head, both of which say "off CPU", was read of a thread that stood
 * still. */
#ifndef PYROMETER_OS_PERF_EVENT_H
#define PYROMETER_OS_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/registers.h"

#define PERF_KERNEL_MAX 64  /* frames of the kernel in a record */
#define PERF_STACK_MAX	512 /* bytes of the stack that a clock copies */

enum perf_kind {
	PERF_AT_SWITCH,
	PERF_AT_CLOCK,
};

struct perf_event {
	int fd;	      /* -1: not open */
	int clock_fd; /* of a clock that was armed before; -1 */
	pid_t tid;
	unsigned char *map; /* the kernel's page, then the ring */
	bool kernel;	    /* records hold the kernel's frames */
	bool stack;	    /* records hold the top of the stack */
};

#define PERF_EVENT_INIT                  \
	{                                \
		.fd = -1, .clock_fd = -1 \
	}

/* What the newest records say of a thread. */
struct perf_look {
	uint64_t head;	/* see perf_event_head() */
	bool known;	/* has been switched since the event was opened */
	bool running;	/* is on a CPU; off otherwise */
	bool preempted; /* off, and would rather run */
	uint32_t cpu;	/* of the switch */
	uint64_t time;	/* of the switch, as clock_now() */
	bool sampled;	/* registers were taken since it last came to a CPU */
	uint64_t sample_time;
	struct cpu_registers registers;
	uint32_t n_kernel;
	uint64_t kernel[PERF_KERNEL_MAX]; /* innermost first */
	uint32_t n_stack;
	unsigned char stack[PERF_STACK_MAX]; /* from registers.sp on */
};

/* Watch a thread. `kernel`: with the kernel's frames. -ERR_PERMISSION,
 * -ERR_GONE, -ERR_LIMIT (files or locked memory) or -ERR_UNSUPPORTED, with a
 * sentence. */
int perf_event_open(struct perf_event *e, pid_t tid, enum perf_kind kind,
		    bool kernel, struct error *err);
void perf_event_close(struct perf_event *e);

/* A number that changes whenever the thread comes to a CPU or leaves it. No
 * system call. */
uint64_t perf_event_head(const struct perf_event *e);
/* Read the newest records. False when the kernel wrote meanwhile more than
 * once; then nothing is known. No system call. */
bool perf_event_look(const struct perf_event *e, struct perf_look *out);

/* What the thread did at a moment of clock_now(), and since when, as far back
 * as the ring reaches: some dozens of switches. No system call. */
enum perf_doing {
	PERF_UNKNOWN,
	PERF_ON_CPU,
	PERF_READY, /* would rather have been on one */
	PERF_ASLEEP,
};
enum perf_doing perf_event_at(const struct perf_event *e, uint64_t when,
			      uint64_t *since);

/* How far the ring reaches back, as a distance of heads. */
uint64_t perf_event_reach(void);

/* Let a PERF_AT_CLOCK take the registers when the thread has run for `ns`, and
 * every `ns` from then on. A clock that is not armed costs the thread nothing.
 */
bool perf_event_arm(struct perf_event *e, uint64_t ns);
void perf_event_disarm(struct perf_event *e);

/* The newest records of a ring of `size` bytes (a power of two), with the
 * kernel's frames or the stack in them. */
void perf_records_parse(const unsigned char *ring, size_t size, uint64_t head,
			bool kernel, bool stack, struct perf_look *out);
/* perf_event_at() of such a ring. */
enum perf_doing perf_records_at(const unsigned char *ring, size_t size,
				uint64_t head, uint64_t when, uint64_t *since);

#endif
