/* What Python calls its threads: the names of threading.Thread objects. */
#ifndef PYROMETER_PYTHON_NAMES_H
#define PYROMETER_PYTHON_NAMES_H

#include <stdint.h>

#include "os/memory.h"
#include "python/layout.h"

#define THREAD_NAME_SIZE 64 /* with the NUL; longer ones are cut */

struct python_thread_name {
	uint64_t ident;		     /* pthread_t, as the thread states say */
	char name[THREAD_NAME_SIZE]; /* UTF-8 */
};

/* The names of an interpreter's threads that have one. Returns how many were
 * stored (at most `max`), or a negative code: -ERR_NOT_FOUND when the
 * interpreter has not imported threading. The target may change meanwhile: what
 * could not be read is left out, and may be there at another try. */
int names_read(struct python_thread_name *out, int max, struct memory *memory,
	       const struct layout *layout, uint64_t interpreter);

#endif
