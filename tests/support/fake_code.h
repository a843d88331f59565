/* A code object in a fake memory. */
#ifndef PYROMETER_TESTS_FAKE_CODE_H
#define PYROMETER_TESTS_FAKE_CODE_H

#include "fake_memory.h"

struct fake_code {
	const char *name, *file;
	uint32_t first_line;
	const void *lines;
	size_t lines_size;
	size_t units; /* code units (2.7: bytes) */
	uint32_t flags, arguments;
	/* 3.11+: names and kinds of all variables; before: names alone, of
	 * locals, cells and free variables. */
	const uint64_t *names[3];
	size_t n_names[3];
	const char *kinds;
};

uint64_t fake_code(struct fake_python *p, const struct fake_code *code);

#endif
