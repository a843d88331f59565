/* Names as people wrote them, from those that compilers made of them. */
#ifndef PYROMETER_ELF_DEMANGLE_H
#define PYROMETER_ELF_DEMANGLE_H

#include <stdbool.h>

/* The name to show for a symbol: without what a compiler appends to the parts
 * and copies of a function (.cold, .lto_priv.0, .isra.0, .constprop.1 ...) or
 * a linker (a version behind @; @plt stays, it is another place), and demangled
 * if C++, Rust or gfortran (a module's procedure) made it; C++ without its
 * parameters, Rust without its hash. Never NULL; free() it.
 *
 * A made-up name can keep libiberty busy for long: names out of foreign files
 * are demangled by lookup.h's process only. */
char *demangle(const char *name);

/* The same without libiberty, for any name from anywhere: cut, and demangled
 * only if gfortran made it. */
char *demangle_cut(const char *name);

/* Whether a name looks as if it says more once it is demangled. */
bool demangle_is_mangled(const char *name);

#endif
