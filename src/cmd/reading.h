/* Opening the recordings that a command is given. */
#ifndef PYROMETER_CMD_READING_H
#define PYROMETER_CMD_READING_H

#include <stdbool.h>

#include "record/reader.h"

/* Open a recording; one of which nothing is left is an error. What is missing
 * of another is said on standard error, if `loud`. Free it by reader_free(). */
int reading_open(struct reader **out, const char *path, bool loud,
		 struct error *err);

#endif
