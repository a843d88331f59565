/* Names of signals. */
#ifndef PYROMETER_OS_SIGNALS_H
#define PYROMETER_OS_SIGNALS_H

#include <stdbool.h>

/* "SIGSEGV"; "signal 42" for one without a name of its own. */
void signal_name(int number, char name[32]);

/* Whether a signal ends a program with a core file; others only stop it, say
 * for a debugger that writes one. */
bool signal_dumps_core(int number);

#endif
