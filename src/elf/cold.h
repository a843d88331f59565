/* The other part of a function.
 *
 * Compilers put what they take for unlikely into a part of its own, far away,
 * which only the full symbol table names (`f.cold`). Of the eval function of a
 * stripped Python that may be nearly all. The part is found by the jumps that
 * lead to it: they go from inside one function to the inside of another, which
 * jumps otherwise never do. */
#ifndef PYROMETER_ELF_COLD_H
#define PYROMETER_ELF_COLD_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/module.h"

/* Addresses are those of the file. False when the function has no other part.
 */
bool cold_part(const struct module *m, uint64_t function, uint64_t size,
	       uint64_t *start, uint64_t *end);

#endif
