/* How many files this process may have open. A watched thread costs three, and
 * the usual limit of 1024 is reached with some hundred threads. */
#ifndef PYROMETER_OS_DESCRIPTORS_H
#define PYROMETER_OS_DESCRIPTORS_H

#include <stdbool.h>

/* Raise the limit as far as it may be raised, and return it. A program that is
 * started later would inherit that: start it first. */
int descriptors_raise(void);

/* Whether few are left after this one. What can do without a file leaves the
 * last ones to what cannot. */
bool descriptors_scarce(int fd);

#endif
