/* Machine code as text, by capstone, where it was there at build time. */
#ifndef PYROMETER_ELF_DISASSEMBLY_H
#define PYROMETER_ELF_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/symbols.h"

struct instruction {
	uint64_t address; /* as the file counts */
	uint32_t size;	  /* bytes */
	const char *text; /* "mov rax, qword ptr [rdi + 8]" */
	/* Of a direct jump or call: whither it goes; 0 otherwise. */
	uint64_t target;
	bool is_call;
};

/* Whether this build can do it; doctor says so. */
bool disassembly_available(void);

/* The instructions from `start` to `end` (in the file), in order. Bytes that
 * are no instruction come as ".byte 0x..". The visitor returns false to stop.
 * -ERR_UNSUPPORTED without capstone, -ERR_NOT_FOUND when the file does not hold
 * these addresses, -ERR_LIMIT when there are too many. */
int disassembly_visit(struct symbols *s, uint64_t start, uint64_t end,
		      bool (*visit)(void *context, const struct instruction *i),
		      void *context, struct error *err);

/* The same over bytes in memory; `address` is that of the first. */
int disassembly_visit_bytes(const void *bytes, size_t size, uint64_t address,
			    bool (*visit)(void *context,
					  const struct instruction *i),
			    void *context, struct error *err);

#endif
