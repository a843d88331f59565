/* The source text of what was seen, for views that show it beside its heat. */
#ifndef PYROMETER_SAMPLE_TEXTS_H
#define PYROMETER_SAMPLE_TEXTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/writer.h"

/* Put the files of functions that `keeps` accepts (by file, kind and module)
 * into the recording, as far as they can be read: as the process `pid` sees
 * them while it is there (it may live in a container), else (pid 0) as we do.
 */
void texts_record(struct writer *w,
		  bool (*keeps)(const struct function_info *function),
		  pid_t pid);

#endif
