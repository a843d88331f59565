/* jit-PID.dump: what perf maps tell, with the code's bytes and lines, in
 * binary. A program maps the file, so that its mappings name it. Only names and
 * addresses are taken. */
#ifndef PYROMETER_ELF_JITDUMP_H
#define PYROMETER_ELF_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/code_names.h"

struct jitdump {
	struct code_names names;
	int fd;
	uint64_t read; /* bytes of the file that have been taken */
};

/* The dump at `path` below the root, if `owner`, root or we own it. False when
 * there is none. */
bool jitdump_open(struct jitdump *j, const char *root, const char *path,
		  uid_t owner);
/* Over a file that is open; takes the descriptor. False when it is none. */
bool jitdump_open_fd(struct jitdump *j, int fd);
void jitdump_release(struct jitdump *j);

/* Take the whole records that have been added since. */
void jitdump_update(struct jitdump *j);

#endif
