/* Made-up native code for synthetic recordings: libraries, addresses in them,
 * and what is there, with inlined calls, kernel frames and code that nobody has
 * symbols for. */
#ifndef PYROMETER_TESTS_MAKE_NATIVE_H
#define PYROMETER_TESTS_MAKE_NATIVE_H

#include "record/writer.h"

struct native_code;

/* Of `unnamed` percent of the addresses no symbols will be given. */
struct native_code *native_code_new(struct writer *w, uint32_t unnamed);
void native_code_free(struct native_code *n); /* NULL-safe */

/* A stack of native frames called from `parent`; any number will do for
 * `which`, and picks the stack and the addresses in it. */
uint32_t native_stack(struct native_code *n, uint32_t parent, uint32_t which);
/* One frame that calls back into Python. */
uint32_t native_callback(struct native_code *n, uint32_t parent,
			 uint32_t which);
/* The stack of a thread that never ran Python. */
uint32_t native_thread(struct native_code *n, uint32_t which);

/* Look up what is at the addresses that were used, as a recorder does at the
 * end, and give the source text of the program's own C file. */
void native_symbols(struct native_code *n);

#endif
