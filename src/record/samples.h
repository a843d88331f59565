/* Ticks and runs, into the bytes of a sample block and back. */
#ifndef PYROMETER_RECORD_SAMPLES_H
#define PYROMETER_RECORD_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "record/model.h"
#include "record/reader.h"

/* ---- writing ---- */

struct open_run {
	uint32_t thread, node, state;
	uint32_t first, end; /* ticks; `end` is one past the last */
	uint32_t next;	     /* the same thread's next run, or ID_NONE */
};

struct thread_runs {
	uint32_t first, last; /* its runs in this block, or ID_NONE */
};

enum sample_column {
	COLUMN_HEAD,
	COLUMN_TICKS,
	COLUMN_THREADS,
	COLUMN_GAPS,
	COLUMN_LENGTHS,
	COLUMN_STATES,
	COLUMN_NODES,
	SAMPLE_COLUMNS,
};

struct samples {
	unsigned shift;	      /* a unit is 1 << shift ns */
	uint64_t first, last; /* ns of the first and last tick, whole units */
	uint32_t n_ticks;
	uint32_t *deltas; /* units since the tick before; deltas[0] unused */
	struct open_run *runs;
	uint32_t n_runs, runs_capacity;
	struct thread_runs *threads; /* by id */
	uint32_t n_threads, threads_capacity;
	uint32_t *seen; /* ids of threads with runs in this block */
	uint32_t n_seen;
	uint32_t highest; /* node so far, plus one, while encoding */
	struct buffer column[SAMPLE_COLUMNS];
};

void samples_init(struct samples *s, uint64_t period);
void samples_release(struct samples *s);
/* A thread was defined: there is now one more. */
void samples_thread(struct samples *s);
/* Whether a tick at `when` needs a new block first: this one is full, or the
 * time since its last tick too long to be stored. */
bool samples_full(const struct samples *s, uint64_t when);
void samples_tick(struct samples *s, uint64_t when);
void samples_add(struct samples *s, uint32_t thread, uint32_t node,
		 uint32_t state);
/* Fill s->column from the ticks and runs. */
void samples_encode(struct samples *s);
void samples_clear(struct samples *s); /* begin the next block */

/* ---- reading ---- */

struct sample_arrays {
	uint64_t *ticks;
	struct run *runs, *sorted;
	uint32_t *starts; /* scratch for sorting */
	uint32_t ticks_capacity, runs_capacity, sorted_capacity,
		starts_capacity;
};

/* Decode the payload of a block that spans first..last into `out`, which
 * points into `arrays`. Threads and nodes must be below these counts. False
 * when anything is out of bounds. */
bool samples_decode(struct sample_arrays *arrays, const void *data, size_t size,
		    uint64_t first, uint64_t last, uint32_t n_threads,
		    uint32_t n_nodes, struct sample_block *out);
void sample_arrays_release(struct sample_arrays *arrays);

#endif
