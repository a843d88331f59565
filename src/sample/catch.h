/* Samples of Python and native frames together: see native.h. */
#ifndef PYROMETER_SAMPLE_CATCH_H
#define PYROMETER_SAMPLE_CATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/sampler.h"

/* As sampler_take(), for a target with a native side. Threads that have no
 * native stack this time are proven as sampler_prove() does it. */
int catch_take(struct sampler *s, struct target *t, uint64_t now);

/* Walk and merge all threads of a target in which nothing moves, after a look.
 */
void catch_standing(struct target *t);

/* A core on which one of the target's threads runs that has to be caught there,
 * best the one we are on; -1: none. */
int catch_core(const struct sampler *s, struct target *t);

/* Whether the kernel can take the registers and the stack of a thread that
 * runs, on its core. */
bool catch_may_visit(const struct sampler *s, struct target *t,
		     const struct native_thread *native);

/* Make what a visit brought the picture of a thread; `python` as Python knows
 * it, NULL: it does not. False when it is none: it was met in the middle of a
 * change, or its stack is not all there. */
bool catch_take_visit(struct target *t, struct target_thread *python,
		      struct native_thread *native, const struct visit *visit);

#endif
