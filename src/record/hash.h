/* The checksum of blocks: XXH32 with seed 0.
 *
 * Chosen because it needs no tables and no CPU extension, runs at several
 * bytes a cycle in plain C and in WebAssembly, and fits on a page; damage in
 * a file is found just as surely as by a CRC of the same width. */
#ifndef PYROMETER_RECORD_HASH_H
#define PYROMETER_RECORD_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t hash32(const void *data, size_t size);

#endif
