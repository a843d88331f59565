/* Memory to read: a live process, a core file, a made-up one in tests.
 *
 * A reader of CPython sees only this. Every read is bounded and may fail; a
 * failed read is ordinary (the target moved on), so it carries no text. */
#ifndef PYROMETER_OS_MEMORY_H
#define PYROMETER_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* One piece of a vectored read: `size` bytes at `address` to `into`. */
struct memory_piece {
	uint64_t address;
	void *into;
	size_t size;
};

#define MEMORY_PIECES_MAX 1024 /* the kernel's IOV_MAX */

struct memory;

struct memory_ops {
	/* Read the pieces in order. Returns the number of bytes read from the
	 * start (short where a piece could not be read), or a negative error
	 * code when nothing could be read. Never blocks for long. */
	ssize_t (*read)(struct memory *m, const struct memory_piece *pieces,
			size_t n);
	void (*free)(struct memory *m); /* may be NULL */
};

struct memory {
	const struct memory_ops *ops;
	uint64_t reads; /* calls of ops->read: tests hold readers to few */
};

/* The memory of a live process; reads through process_vm_readv, through
 * /proc/PID/mem where that is forbidden. Checks nothing about permission: the
 * first read tells. */
int memory_open_process(struct memory **out, pid_t pid, struct error *err);
void memory_free(struct memory *m); /* NULL-safe */

static inline ssize_t memory_readv(struct memory *m,
				   const struct memory_piece *pieces, size_t n)
{
	m->reads++;
	return m->ops->read(m, pieces, n);
}

/* Read exactly `size` bytes. Returns 0, -ERR_UNREADABLE or -ERR_GONE or
 * -ERR_PERMISSION. */
int memory_read(struct memory *m, uint64_t address, void *into, size_t size);
int memory_read_u64(struct memory *m, uint64_t address, uint64_t *value);
int memory_read_u32(struct memory *m, uint64_t address, uint32_t *value);
/* A NUL-terminated string of at most size - 1 bytes. -ERR_LIMIT when no NUL is
 * found in that many. */
int memory_read_string(struct memory *m, uint64_t address, char *into,
		       size_t size);

#endif
