/* The tables of src/python/layouts: for layout.c alone.
 *
 * Each table is what tools/offsets prints for that version's headers, and
 * tests/e2e/test_layouts.py holds it to them. */
#ifndef PYROMETER_PYTHON_LAYOUTS_LAYOUTS_H
#define PYROMETER_PYTHON_LAYOUTS_LAYOUTS_H

#include <stddef.h>

#include "python/layout.h"

/* A pthread_mutex_t takes 40 bytes on x86-64 and 48 on aarch64; two of them (of
 * the GIL) lie before the current thread state in 3.7 to 3.11. */
#ifdef __aarch64__
#define LAYOUT_TWO_MUTEXES 16
#else
#define LAYOUT_TWO_MUTEXES 0
#endif

extern const struct layout layout_2_7, layout_2_7d;
extern const struct layout layout_3_6, layout_3_6d;
extern const struct layout layout_3_7, layout_3_7d; /* 3.7.4 and later */
extern const struct layout layout_3_7_0, layout_3_7_0d;
extern const struct layout layout_3_8, layout_3_9, layout_3_10;
extern const struct layout layout_3_11, layout_3_12;
extern const struct layout layout_3_13, layout_3_13t;
extern const struct layout layout_3_14, layout_3_14t;
extern const struct layout layout_3_15, layout_3_15t;

/* What one 64-bit word of a _Py_DebugOffsets means. The words are in order, so
 * a row's index is the word's. */
enum told_kind {
	TOLD_END,
	TOLD_UNUSED,
	TOLD_SIZE,   /* the size of the struct that the next rows are about */
	TOLD_OFFSET, /* in that struct */
	TOLD_IN_GIL, /* in the interpreter; we keep it from gil_state on */
	TOLD_IN_GC,  /* in the collector; we keep it from the interpreter on */
};

struct layout_told {
	uint8_t kind;
	uint8_t align;	/* of what lies there */
	uint8_t width;	/* of the field of struct layout; 0: none */
	uint16_t field; /* its offset in struct layout */
};

#define TOLD_ROW(kind, align, f)                              \
	{                                                     \
		kind, align, sizeof(((struct layout *)0)->f), \
			offsetof(struct layout, f)            \
	}
#define SIZE                       \
	{                          \
		TOLD_SIZE, 1, 0, 0 \
	}
#define SIZE_OF(f) TOLD_ROW(TOLD_SIZE, 1, f)
#define POINTER(f) TOLD_ROW(TOLD_OFFSET, 8, f)
#define INT(f)	   TOLD_ROW(TOLD_OFFSET, 4, f)
#define BYTE(f)	   TOLD_ROW(TOLD_OFFSET, 1, f)
#define IN_GIL(f)  TOLD_ROW(TOLD_IN_GIL, 4, f)
#define IN_GC(f)   TOLD_ROW(TOLD_IN_GC, 4, f)
#define UNUSED                       \
	{                            \
		TOLD_UNUSED, 1, 0, 0 \
	}
#define TOLD_LAST                 \
	{                         \
		TOLD_END, 0, 0, 0 \
	}

extern const struct layout_told layout_told_3_13[];
extern const struct layout_told layout_told_3_14[];
extern const struct layout_told layout_told_3_15[];

#endif
