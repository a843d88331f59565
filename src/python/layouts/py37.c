/* CPython 3.7, the first with _PyRuntime. The collector's list heads grew by
 * the alignment of long double in 3.7.4, and all behind them moved (GC). A
 * debug build links all objects, which puts two pointers (H) into each; the
 * last version whose debug builds do. */
#include "python/layouts/layouts.h"

#define H  0
#define GC 88
const struct layout layout_3_7 = {
#include "python/layouts/py37.inc"
};
#undef H
#undef GC

#define H  16
#define GC 88
const struct layout layout_3_7d = {
	.debug = true,
#include "python/layouts/py37.inc"
};
#undef H
#undef GC

#define H  0
#define GC 0
const struct layout layout_3_7_0 = {
#include "python/layouts/py37.inc"
};
#undef H
#undef GC

#define H  16
#define GC 0
const struct layout layout_3_7_0d = {
	.debug = true,
#include "python/layouts/py37.inc"
};
#undef H
#undef GC
