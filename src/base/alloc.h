/* Allocation that does not return on failure: a profiler without memory has
 * nothing left to say. Nothing here is called inside a target. */
#ifndef PYROMETER_BASE_ALLOC_H
#define PYROMETER_BASE_ALLOC_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
/* Resize to count elements of size bytes; the product is checked. */
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Make room for `need` elements in `array`, whose capacity is `capacity`. */
#define ALLOC_GROW(array, need, capacity)                            \
	do {                                                         \
		if ((size_t)(need) > (size_t)(capacity)) {           \
			(capacity) = (need) + (need) / 2 + 16;       \
			(array) = xreallocarray((array), (capacity), \
						sizeof(*(array)));   \
		}                                                    \
	} while (0)

#endif
