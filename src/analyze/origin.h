/* Whose code a function is: the user's own, or that of a library. */
#ifndef PYROMETER_ANALYZE_ORIGIN_H
#define PYROMETER_ANALYZE_ORIGIN_H

#include <stdbool.h>

#include <stddef.h>

#include "base/buffer.h"
#include "record/reader.h"

/* Whether it is library code: installed packages, the standard library, frozen
 * modules, the little scripts that installers put into bin/, the kernel. What
 * has no file to tell by (exec'd code, "<stdin>") is the user's. Native code is
 * the user's unless its object file is the interpreter's, the system's (below
 * /usr/lib and the like) or a package's, or its source is (a header in
 * /usr/include). */
bool origin_is_library(const struct function_info *function);

/* Append the package or module of a library function: "json", "numpy", of
 * native code the library's name: "libc", "libpython3.12"; nothing of code that
 * is in no file. */
void origin_package(const struct function_info *function, struct buffer *out);

/* The length of the directory (with its slash) that all files of the user's own
 * code in the recording have in common. */
size_t origin_base(const struct reader *reader);

/* The part of a function's file that tells people most: of Python code as
 * origin_short_path has it, of native code the last directory and the name,
 * since where a library was compiled tells nobody anything. Points into it. */
const char *origin_short_file(const struct function_info *function,
			      size_t base);

/* The part of a path that tells people most: from the package on for library
 * code, the last folder and the name for files that compilers read, without the
 * first `base` bytes for the rest. Points into `file`. */
const char *origin_short_path(const char *file, size_t base);

/* The same of an object file: from the package on, else its name. */
const char *origin_short_module(const char *module);

#endif
