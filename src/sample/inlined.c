#include "sample/inlined.h"

#include <string.h>

#include "python/eval.h"

static bool stop_at(void *context, const char *name, uint64_t address,
		    uint64_t size)
{
	(void)context;
	(void)address;
	(void)size;
	return strcmp(name, PYTHON_EVAL_CODE) != 0;
}

bool inlined_is_interpreter(struct symbols *s)
{
	return !symbols_range(s, PYTHON_EVAL_CODE, stop_at, NULL);
}

uint32_t inlined_fold(struct symbol *found, uint32_t n, bool interpreter)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!found[i].inlined ||
		    !python_calls_by(found[i].name, interpreter))
			found[kept++] = found[i];
	if (n && !kept) /* so deep that the function itself is missing */
		found[kept++] = found[n - 1];
	return kept;
}
