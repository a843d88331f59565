/* The memory of a target that lies, made of a fuzzer's input.
 *
 * Every address reads from the input, wrapped around, except for one page in
 * eight. So each pointer leads somewhere, lists are cyclic and lengths are
 * whatever the bytes say. */
#ifndef PYROMETER_FUZZ_LIAR_H
#define PYROMETER_FUZZ_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"

struct liar {
	struct memory memory; /* to read it; nothing to free */
	const uint8_t *data;
	size_t size;	/* at least 1 */
	uint64_t shift; /* added to every address: move it and all changes */
	uint32_t reads; /* since the caller set it to 0 */
	uint32_t limit; /* more reads than that are a hang in the making */
};

void liar_init(struct liar *l, const uint8_t *data, size_t size,
	       uint32_t limit);

/* Abort, which is how a fuzzer reports, unless it is true. */
void require(bool truth);

#endif
