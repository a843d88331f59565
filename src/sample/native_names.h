/* Names of native code for those who want them at once (dump); a recording gets
 * its names at its end, see symbolise.h. */
#ifndef PYROMETER_SAMPLE_NATIVE_NAMES_H
#define PYROMETER_SAMPLE_NATIVE_NAMES_H

#include <stdint.h>

#include "elf/symbols.h"
#include "sample/native.h"

struct native_names;

/* Files are looked for below `root` ("": ours). */
struct native_names *native_names_new(const struct native *n, const char *root);
void native_names_free(struct native_names *names); /* NULL-safe */

/* What a native frame or a mark is called: inlined calls first, at least one.
 * `texts` keeps what is in no file; the rest lives as long as `names`. */
uint32_t native_names_find(struct native_names *names,
			   const struct merged_frame *f, struct arena *texts,
			   struct symbol *out, uint32_t max);
/* The file that a frame's code is from; "" when it is from none. */
const char *native_names_module(const struct native_names *names,
				const struct merged_frame *f);

#endif
