/* The lists of a target's interpreters and threads.
 *
 * Both are linked lists that change while they are read: a thread that ends is
 * freed, and what its `next` says then is anything. So a list ends where it
 * leads to an address that it has been at, and a thread that a walk did not
 * come by is only dropped when its neighbours do not know it any more either.
 */
#ifndef PYROMETER_SAMPLE_LISTS_H
#define PYROMETER_SAMPLE_LISTS_H

#include <stdbool.h>

#include "sample/target.h"

/* Whether the lists, as the last look read them, are as we know them. */
bool lists_agree(const struct target *t);

/* Follow the lists and make target->interpreters and ->threads agree. */
void lists_follow(struct target *t);

#endif
