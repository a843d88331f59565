/* Names of code that programs made at run time: perf maps and jitdumps of the
 * targets. Such code is in no file; the module of a site in it is called
 * "[jit PID]", or there is none. */
#ifndef PYROMETER_SAMPLE_JIT_H
#define PYROMETER_SAMPLE_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/symbolise.h"

struct jit;

/* Reads nothing before the first question; NULL: no targets. */
struct jit *jit_new(const struct symbolise_targets *targets);
void jit_free(struct jit *j); /* NULL-safe */

bool jit_is_module(const char *path);

/* The name of the code at an address in memory, or NULL. `module` names the
 * process; "": any of them. */
const char *jit_find(struct jit *j, const char *module, uint64_t address);

#endif
