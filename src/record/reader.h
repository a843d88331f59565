/* Read a recording, from memory (a mapped file, or bytes in WebAssembly).
 *
 * Opening reads block headers and definitions, never the samples: runs are
 * decoded block by block when asked for, so that a window of a recording of
 * any size costs only its own blocks. All bytes are untrusted: checksums, ids,
 * lengths and counts are checked here, once, and what is handed out is sound
 * (every id in range, every parent smaller than its child).
 *
 * A file that ends in the middle, or has a broken block, opens up to there;
 * reader_notice() says what is missing. */
#ifndef PYROMETER_RECORD_READER_H
#define PYROMETER_RECORD_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/model.h"

struct reader;

/* Open the bytes at `data`, which must outlive the reader. */
int reader_open_memory(struct reader **out, const void *data, size_t size,
		       struct error *err);
/* Open a file ("-" is standard input). Fails with one clear sentence when it
 * is not a recording. */
int reader_open(struct reader **out, const char *path, struct error *err);
void reader_free(struct reader *r);

/* NULL, or one sentence about what is missing or damaged. */
const char *reader_notice(const struct reader *r);
const struct recording_info *reader_info(const struct reader *r);

uint32_t reader_processes(const struct reader *r);
uint32_t reader_threads(const struct reader *r);
uint32_t reader_functions(const struct reader *r);
uint32_t reader_frames(const struct reader *r);
uint32_t reader_nodes(const struct reader *r);
uint32_t reader_markers(const struct reader *r);

/* The thing with this id, which must be below the count. Valid until free. */
const struct process_info *reader_process(const struct reader *r, uint32_t id);
const struct thread_info *reader_thread(const struct reader *r, uint32_t id);
const struct function_info *reader_function(const struct reader *r,
					    uint32_t id);
struct frame_info reader_frame(const struct reader *r, uint32_t id);
struct node_info reader_node(const struct reader *r, uint32_t id);
const struct marker_info *reader_marker(const struct reader *r, uint32_t id);
/* Native code. A frame with a site is the innermost function at its address;
 * calls that were inlined around it are frames of their own without a site, and
 * nodes of their own: reader_site_depth() of them belong to the address, the
 * node itself included. */
uint32_t reader_modules(const struct reader *r);
uint32_t reader_sites(const struct reader *r);
const struct module_info *reader_module(const struct reader *r, uint32_t id);
struct site_info reader_site(const struct reader *r, uint32_t id);
uint32_t reader_site_depth(const struct reader *r, uint32_t id);
/* The i-th function of a site that has symbols, 0 being the innermost, and the
 * line that is executed in it. */
uint32_t reader_site_function(const struct reader *r, uint32_t id, uint32_t i,
			      uint32_t *line);
/* Whether it is known what is at a site. */
bool reader_site_named(const struct reader *r, uint32_t id);

/* Sites without a symbol: all of them when a recording broke off before their
 * names were looked up. Visit them, say what is there as to writer_symbol(),
 * then resolve: functions, frames and nodes are then others than before, so do
 * it before anything is computed. */
uint32_t reader_unnamed_sites(const struct reader *r);
void reader_each_site(struct reader *r, site_visitor *visit, void *context);
void reader_set_symbols(struct reader *r, uint32_t site,
			const struct function_info *functions,
			const uint32_t *lines, uint32_t n);
void reader_resolve(struct reader *r);

/* ns since the start at which it ended; UINT64_MAX: not seen to end. */
uint64_t reader_process_end(const struct reader *r, uint32_t id, int *status);
uint64_t reader_thread_end(const struct reader *r, uint32_t id);
/* The last that was said of them. */
struct thread_times reader_thread_times(const struct reader *r, uint32_t id);
/* The source text of a file, or NULL. */
const char *reader_source(const struct reader *r, const char *file,
			  size_t *size);

/* Sample blocks, in order of time. */
struct sample_block {
	uint64_t first, last; /* ns since the start of first and last tick */
	uint32_t n_ticks;
	const uint64_t *ticks; /* ns since the start, ascending */
	uint32_t n_runs;
	const struct run *runs; /* by first_tick, ascending */
};

size_t reader_blocks(const struct reader *r);
/* The time of a block's first and last tick, without decoding it. */
void reader_block_times(const struct reader *r, size_t block, uint64_t *first,
			uint64_t *last);
/* Decode a block. *out stays valid until the next call or reader_free. A block
 * that turns out to be damaged is given without ticks and runs, and
 * reader_notice says so from then on: ask it again after the last block. */
int reader_block(struct reader *r, size_t block, struct sample_block *out,
		 struct error *err);

#endif
