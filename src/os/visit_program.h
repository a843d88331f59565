/* The BPF program behind visits: it reads a thread's registers, list and stack
 * where the thread is interrupted, and writes one record. Private to visits
 * (visit.c, where it is sent to a core) and their clocks (visit_clock.c, where
 * the timers of the thread's core call it). */
#ifndef PYROMETER_OS_VISIT_PROGRAM_H
#define PYROMETER_OS_VISIT_PROGRAM_H

#include <linux/bpf.h>
#include <stdint.h>

#include "os/visit.h"

/* What the program is given. */
struct visit_question {
	uint64_t device, inode; /* of the pid namespace */
	struct bpf_pidns_info thread;
	uint64_t head;
	uint64_t fields[VISIT_FIELDS];
	uint64_t stack_top;
};

/* What it writes. The record that the list begins in follows, then the items,
 * then the stack, one behind the other. */
struct visit_record {
	uint64_t there, head_error;
	uint64_t n_items;
	uint64_t rest;	/* address of an item that was not copied; 0: none */
	uint64_t first; /* behind the record between */
	uint64_t values[VISIT_FIELDS];
	uint64_t registers[REGISTERS_PERF_MAX];
	uint64_t asleep, call, argument;
	uint64_t stack_from, stack_size, stack_error;
	uint64_t time; /* as clock_now(); of a clock's visit */
	uint64_t size; /* of all of it; of a clock's visit */
};

/* Where the parts of a record lie. */
struct visit_layout {
	struct visit_shape shape;
	uint32_t items_at;
	uint32_t stride; /* from one item to the next, its address in front */
	uint32_t record_max;
};

#define VISIT_HEAD_AT ((uint32_t)sizeof(struct visit_record))

/* What the program of clocks has for each of them: the question, which nobody
 * hands to it, and its records so far. It says that it is busy before it asks
 * whether it is wanted: who no longer wants it and then finds it idle may touch
 * the rest. */
struct visit_area {
	struct visit_question question;
	uint64_t position; /* where the next record goes, in `records` */
	uint64_t lost;
	uint64_t last, least; /* when it was called, and not again before, ns */
	uint64_t dozes;	      /* records of sleep since one of a timer */
	_Atomic uint64_t wanted, busy;
};

#define VISIT_RECORDS_AT   128u	      /* from the start of the area */
#define VISIT_RECORDS_SIZE (1u << 20) /* where another record may begin */

/* -ERR_UNSUPPORTED when the shape is none that can be followed. */
int visit_layout_make(struct visit_layout *out, const struct visit_shape *shape,
		      struct error *err);

/* Load the program for visits that writes to the only entry of the map. A
 * descriptor, or -1 with errno. */
int visit_program(const struct visit_layout *layout, int map_fd);

/* The same for clocks of threads in one pid namespace: `clocks_fd` is the map
 * from a thread (struct bpf_pidns_info) to the number of its clock, `areas_fd`
 * the one of their areas. */
struct visit_clock_maps {
	uint64_t device, inode;
	int clocks_fd, areas_fd;
};

int visit_clock_program(const struct visit_layout *layout,
			const struct visit_clock_maps *maps);
/* The same, behind the tracepoint sched_switch: of a thread that falls asleep,
 * but not each time if it does so all the time. Not of one that only lets
 * others have their turn, which the tracepoint tells since Linux 5.19. */
int visit_doze_program(const struct visit_layout *layout,
		       const struct visit_clock_maps *maps);

/* Run a program on a core, with a question if it wants one. 0, or -1 with
 * errno. */
int visit_run(int program_fd, const struct visit_question *q, int core);

/* A record as the visit that it is. */
enum visit_result visit_unpack(const struct visit_layout *layout,
			       const struct visit_record *record,
			       struct visit *visit);

/* The system call, a map that can be mapped, and why one of them failed. */
int visit_bpf(enum bpf_cmd command, union bpf_attr *attributes);
int visit_map(size_t size, uint32_t n);
int visit_refuse(const char *what, int why, struct error *err);

#endif
