/* Names of native code: the bar that is shown while they are looked up, and
 * recordings that have none yet. */
#ifndef PYROMETER_CMD_NAMES_H
#define PYROMETER_CMD_NAMES_H

#include <stdint.h>

#include "record/reader.h"

/* Draw the bar on standard error, if it has taken longer than a second since
 * *since, which is set by the first call (0). */
void names_bar(uint64_t *since, uint64_t done, uint64_t total);

/* Look names up that the recorder did not get to, as far as the files are here.
 * Ctrl-C skips the rest. */
void names_complete(struct reader *reader);

#endif
