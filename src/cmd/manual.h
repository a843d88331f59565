/* What the tables of commands and options make besides --help. */
#ifndef PYROMETER_CMD_MANUAL_H
#define PYROMETER_CMD_MANUAL_H

#include <stddef.h>

#include "base/buffer.h"
#include "cmd/cmd.h"

/* The man page, in roff. */
void manual_roff(struct buffer *out, const struct command *const *commands,
		 size_t n);

/* The completion of command lines, for bash (and zsh's bashcompinit). */
void manual_completion(struct buffer *out,
		       const struct command *const *commands, size_t n);

#endif
