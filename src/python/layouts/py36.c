/* CPython 3.6. No runtime struct: interp_head, gil_locked and `collecting` are
 * static variables, the holder of the GIL is the exported
 * _PyThreadState_Current. A debug build links all objects, which puts two
 * pointers (H) into each. */
#include "python/layouts/layouts.h"

#define H 0
const struct layout layout_3_6 = {
#include "python/layouts/py36.inc"
};
#undef H

#define H 16
const struct layout layout_3_6d = {
	.debug = true,
#include "python/layouts/py36.inc"
};
#undef H
