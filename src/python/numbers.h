/* Numbers of a target as Python would write them. For values.c. */
#ifndef PYROMETER_PYTHON_NUMBERS_H
#define PYROMETER_PYTHON_NUMBERS_H

#include "base/buffer.h"
#include "python/object.h"

/* An int (2.7: long, without the L). Ones of thousands of digits are told by
 * their size. */
int number_add_int(struct buffer *out, const struct target *t, uint64_t object);
/* The shortest text that gives the same double back. */
void number_add_double(struct buffer *out, double value);

#endif
