/* Core files made of what a test says, as the kernel would write them. */
#ifndef PYROMETER_TESTS_FAKE_CORE_H
#define PYROMETER_TESTS_FAKE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct fake_core_thread {
	int tid;
	uint64_t pc, sp, fp, thread_pointer;
	int64_t call; /* -1: in no system call */
	uint64_t call_argument;
};

struct fake_core_mapped {
	uint64_t start, end, offset; /* the offset in pages */
	const char *path;
};

struct fake_core_segment {
	uint64_t start, size;
	const void *bytes; /* the first `kept` ones of it */
	size_t kept;
};

struct fake_core {
	int pid, signal;
	uint64_t fault; /* address that a SIGSEGV names */
	const char *command;
	const struct fake_core_thread *threads;
	size_t n_threads;
	const struct fake_core_mapped *files;
	size_t n_files;
	const struct fake_core_segment *segments;
	size_t n_segments;
	const uint64_t *auxv; /* pairs */
	size_t n_auxv;	      /* words */
};

/* Append the file. */
void fake_core_write(const struct fake_core *core, struct buffer *out);

/* A file with a bit of everything, for seeds and for tests that break it: the
 * memory of a small program whose mapped file is `path`. */
void fake_core_sample(const char *path, struct buffer *out);

#endif
