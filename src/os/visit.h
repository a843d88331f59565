/* Reading what belongs to a thread on the core that it runs on, by the kernel.
 *
 * A thread's own data change while it runs, and stand still while the kernel
 * has interrupted it. So a small BPF program is sent to its core by an
 * inter-processor interrupt: it runs there with the thread as the current one,
 * follows a linked list in the thread's memory, copies what it meets, and the
 * thread goes on. Nobody is switched out, no thread is woken there, and nothing
 * is written into the process. On virtual machines, where timers and switches
 * are dear, that costs the thread a third of what a wake-up on its core does.
 *
 * The kernel has no call for this as such; it has one that tries a program on a
 * chosen core (BPF_PROG_TEST_RUN of a raw tracepoint's program, Linux 5.10). It
 * wants CAP_BPF and CAP_PERFMON. The program is made here, instruction by
 * instruction, for the offsets that the caller names, and is checked by the
 * kernel before it may run: it ends, writes into our own buffer alone, and a
 * page that is not there fails the read instead of being fetched. It reads only
 * if the current thread is the one that is meant. */
#ifndef PYROMETER_OS_VISIT_H
#define PYROMETER_OS_VISIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/registers.h"

#define VISIT_ITEMS_MAX 256 /* longer lists are not followed to their end */
#define VISIT_FIELDS	4
#define VISIT_STACK_MAX 65536 /* bytes of a stack that are copied */
#define VISIT_DIRECT	UINT32_MAX

/* A linked list as it lies in memory. */
struct visit_shape {
	uint32_t head_size; /* bytes of the record that it begins in */
	uint32_t first;	    /* offset in there of the address of an item */
	uint32_t via;	    /* or of a record that has it at this offset;
			     * VISIT_DIRECT: no such record */
	uint32_t item_size; /* bytes of an item that are copied */
	uint32_t next;	    /* offset in there of the next one's address */
	bool registers;	    /* take those and the stack too (Linux 5.15) */
};

/* Whom to visit, and what comes of it: copies, which stay until the next
 * visit. */
struct visit {
	uint64_t namespace_device, namespace_inode; /* of its pids */
	pid_t pid, tid;		       /* as that namespace has them */
	int core;		       /* where it seems to run */
	uint64_t head;		       /* address of the record; 0: none */
	uint64_t fields[VISIT_FIELDS]; /* of 8 bytes, read too; 0: none */
	uint64_t stack_top;	       /* to which the stack is copied; 0 */

	const unsigned char *head_copy;
	uint64_t values[VISIT_FIELDS];
	const unsigned char *items; /* each with its address in front */
	uint32_t stride;	    /* from one to the next */
	uint32_t n_items;
	bool whole; /* the list was followed to its end */
	struct cpu_registers registers;
	const unsigned char *stack; /* from STACK_RED_ZONE below its pointer */
	uint32_t stack_size;	    /* 0: it was not copied */
	/* Of a clock's visit (visit_clock.h): when, as clock_now(), and whether
	 * the thread was about to sleep; then its system call. */
	uint64_t time;
	bool asleep;
	long call; /* -1: none */
	uint64_t argument;
};

enum visit_result {
	VISIT_TAKEN,
	VISIT_AWAY,	  /* the core runs another thread */
	VISIT_UNREADABLE, /* not even the record could be read */
};

struct visitor;

/* -ERR_PERMISSION or -ERR_UNSUPPORTED (kernel, shape), with a sentence. */
int visitor_new(struct visitor **out, const struct visit_shape *shape,
		struct error *err);
void visitor_free(struct visitor *v); /* NULL-safe */

enum visit_result visitor_visit(struct visitor *v, struct visit *visit);
/* The i-th item, and where it lies. */
const unsigned char *visit_item(const struct visit *visit, uint32_t i,
				uint64_t *address);

/* The pid namespace of a process, for struct visit. False when it cannot be
 * told. */
bool visit_namespace(pid_t pid, uint64_t *device, uint64_t *inode);

#endif
