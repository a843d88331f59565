/* Names of native code: the bar that is shown while they are looked up, and
 * recordings that have none yet. */
#ifndef PYROMETER_CMD_NAMES_H
#define PYROMETER_CMD_NAMES_H

#include <stdint.h>

#include "base/error.h"
#include "record/reader.h"

/* Draw the bar on standard error, if it has taken longer than a second since
 * *since, which is set by the first call (0). */
void names_bar(uint64_t *since, uint64_t done, uint64_t total);

/* reader_open() for commands: names that the recorder did not get to are looked
 * up, as far as the files are here. Ctrl-C skips the rest. */
int names_open(struct reader **out, const char *path, struct error *err);

#endif
