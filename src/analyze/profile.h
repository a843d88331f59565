/* A recording through a filter: what every view and every export starts from.
 *
 * A profile does not hold samples. It counts them per stack node, in one pass
 * over the blocks that the time window touches, and can pass over them again in
 * order of time for what needs order. Time is counted in samples; one sample
 * stands for `seconds_per_sample`. Compiles to WebAssembly: no system calls. */
#ifndef PYROMETER_ANALYZE_PROFILE_H
#define PYROMETER_ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "record/reader.h"

enum profile_mode {
	MODE_WALL, /* every sample of a thread, waiting or not */
	MODE_CPU,  /* samples on CPU */
	MODE_GIL,  /* samples that held the GIL */
};

struct profile_filter {
	enum profile_mode mode;
	const char *const *threads; /* patterns on name or tid; NULL: all */
	size_t n_threads;
	const char *const *functions; /* stacks with such a function in them */
	size_t n_functions;
	const char *const *files; /* stacks with such a file, source or object,
				   * in them */
	size_t n_files;
	const uint32_t *pids;
	size_t n_pids;
	uint64_t from, to;	    /* ns since the start; to 0: the end */
	const uint32_t *thread_ids; /* only these */
	size_t n_thread_ids;	    /* 0: all */
	/* Of a recording too large to be counted at once: look at one block of
	 * samples in so many (0, 1: at all). */
	uint32_t stride;
};

/* A stack in which a thread collected garbage. */
struct gc_count {
	uint32_t thread, node;
	uint64_t samples;
};

struct profile {
	struct reader *reader;
	struct profile_filter filter;
	uint64_t samples;     /* that passed the filter */
	uint64_t all_samples; /* in the window, before the other filters */
	uint64_t torn, unproven, unreadable; /* among `samples` */
	uint64_t ready;	   /* likewise: not running but ready; see running.h */
	uint64_t nameless; /* likewise: an UNREADABLE_FUNCTION is in the stack
			    */
	uint64_t native, broken, unmerged; /* of native stacks, likewise */
	double seconds_per_sample;
	double seconds;	 /* samples * seconds_per_sample * stride */
	double duration; /* of the window */
	uint32_t n_nodes;
	uint64_t *self;	   /* samples whose leaf is this node */
	uint64_t *total;   /* self plus descendants */
	uint64_t no_stack; /* samples without any Python frame */
	uint32_t n_threads;
	struct profile_thread {
		uint64_t samples, on_cpu, gil, gil_wait, gc;
		uint64_t ready; /* of on_cpu, about; see running.h */
	} * threads;		/* by thread id; after the filter */
	/* Of `self`, what was garbage collection: few stacks, in no order. */
	struct gc_count *gc;
	uint32_t n_gc;
	/* What the filter lets through, by id; private. */
	bool *thread_passes, *node_passes;
	struct map gc_by_stack; /* (thread, node) to its place in `gc` */
	uint32_t gc_capacity;
};

/* Count the samples of `reader` that pass `filter` (NULL: all). The reader and
 * the filter's arrays must outlive the profile. */
int profile_new(struct profile **out, struct reader *reader,
		const struct profile_filter *filter, struct error *err);
/* The same without counting, for who only wants profile_each_run: samples,
 * seconds, self and total stay 0 or NULL. */
struct profile *profile_uncounted(struct reader *reader,
				  const struct profile_filter *filter);
void profile_free(struct profile *p);

/* The length of a recording, ns: what its recorder said, unless the samples go
 * on after that (it was killed before it could say so again). */
uint64_t profile_recorded_until(const struct reader *reader);

/* Every run that passes, in order of its first tick, with the times of its
 * first tick and of its last, ns since the start. A non-zero return ends it. */
typedef int profile_visit(void *context, const struct run *run, uint64_t first,
			  uint64_t last);
int profile_each_run(struct profile *p, profile_visit *visit, void *context,
		     struct error *err);

/* The frames of a node, outermost first, into frames[0..max); returns how many
 * there are (maybe more than max: then the outermost are left out). */
uint32_t profile_stack(const struct profile *p, uint32_t node, uint32_t *frames,
		       uint32_t max);

#endif
