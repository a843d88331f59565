/* The machinery of the interpreter, folded where a compiler inlined it.
 *
 * Stacks are folded by the addresses of functions (merge.h). What was inlined
 * has none: that `sorted` called through _PyObject_VectorcallTstate comes to
 * light only when the code gets its names. The function around stays, on the
 * line of that call. Extensions are folded too, as they get such functions from
 * Python's headers. */
#ifndef PYROMETER_SAMPLE_INLINED_H
#define PYROMETER_SAMPLE_INLINED_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/symbols.h"

/* Whether a file has an interpreter in it. */
bool inlined_is_interpreter(struct symbols *s);

/* Leave out what is machinery and inlined, of functions as symbols_find() gives
 * them; how many remain. */
uint32_t inlined_fold(struct symbol *found, uint32_t n, bool interpreter);

#endif
