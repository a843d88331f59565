/* Attributes of instances, and items of dicts whose keys are names. Inside
 * src/python only. */
#ifndef PYROMETER_PYTHON_ATTRIBUTE_H
#define PYROMETER_PYTHON_ATTRIBUTE_H

#include "python/object.h"

/* The value of an ASCII name in a dict. 0, -ERR_NOT_FOUND, or why it cannot be
 * read. */
int dict_find(const struct target *t, uint64_t dict, const char *name,
	      uint64_t *value);

/* The value of an ASCII name among the attributes of the instance itself, not
 * of its type. Returns as dict_find(). */
int attribute_find(const struct target *t, uint64_t object, const char *name,
		   uint64_t *value);

#endif
