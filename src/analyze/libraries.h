/* Where the time goes by library: native code by its object file, Python code
 * of libraries by its package, the user's own Python code by its file. */
#ifndef PYROMETER_ANALYZE_LIBRARIES_H
#define PYROMETER_ANALYZE_LIBRARIES_H

#include "analyze/shares.h"

struct library {
	const char *name; /* "libc.so.6", "json", "app/views.py" */
	const char *path; /* of the object or source file; "" of a package */
	enum function_kind kind;
	bool own; /* the user's */
};

struct libraries {
	struct library *items; /* a key of the shares is an index here */
	uint32_t n_items;
	struct shares shares;
};

/* Every library with samples. Lives in the arena, and as long as the reader. */
int libraries_count(struct libraries *out, struct profile *p,
		    enum share_order order, struct arena *arena,
		    struct error *err);

#endif
