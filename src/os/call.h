/* System calls in which threads wait. */
#ifndef PYROMETER_OS_CALL_H
#define PYROMETER_OS_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a system call in which a thread may wait; NULL for others. */
const char *call_name(int64_t number);
/* Whether it waits on a futex, whose address is the first argument. */
bool call_is_futex(int64_t number);

#endif
