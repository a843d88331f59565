/* Threads that a test has stopped by ptrace. Pyrometer itself never stops a
 * whole process. */
#ifndef PYROMETER_TESTS_STOPPED_H
#define PYROMETER_TESTS_STOPPED_H

#include "elf/unwind.h"

/* Stop a thread of another process; it goes on when we detach or end. */
bool stopped_stop(pid_t tid);
/* The registers of a stopped thread. */
bool stopped_registers(pid_t tid, struct unwind_registers *out);

#endif
