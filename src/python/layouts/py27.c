/* CPython 2.7. No runtime struct: interp_head is static, the holder of the GIL
 * is the exported _PyThreadState_Current, `collecting` a static of gcmodule.c.
 * A debug build links all objects, which puts two pointers (H) into each. */
#include "python/layouts/layouts.h"

#define H 0
const struct layout layout_2_7 = {
#include "python/layouts/py27.inc"
};
#undef H

#define H 16
const struct layout layout_2_7d = {
	.debug = true,
#include "python/layouts/py27.inc"
};
#undef H
