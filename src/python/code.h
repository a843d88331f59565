/* Code objects and the texts and values of a target, read through its layout.
 * Everything is bounded and validated: the target may lie. */
#ifndef PYROMETER_PYTHON_CODE_H
#define PYROMETER_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "os/memory.h"
#include "python/layout.h"

#define CODE_NAME_MAX	   4096 /* bytes of a name; longer ones are cut */
#define CODE_LINETABLE_MAX (1 << 20)
#define CODE_UNITS_MAX	   (1 << 20) /* instructions of one code object */
#define CODE_NAME_WORDS	   2

/* A code object, decoded once. Lives in the arena it was read into. */
struct code {
	uint64_t address;
	const char *name; /* qualified where the version has it, UTF-8 */
	const char *file; /* UTF-8; undecodable bytes as U+FFFD */
	bool internal;	  /* a step of the interpreter's own, between a class
			   * and its __init__ (3.13+); tracebacks leave it
			   * out, too */
	uint32_t first_line;
	uint64_t
		first_instruction; /* address of the bytecode (3.11+), else 0 */
	uint32_t n_units;      /* length of `lines`: code units (2 bytes each;
				* 2.7: bytes) */
	const uint32_t *lines; /* line of each unit; 0: none */
	/* What tells whether another code object has taken this address: raw
	 * pointers and words of the object as they were when it was read.
	 * Before 3.12 nothing in there is unique: all the texts that it points
	 * at may have taken the places of others, too. So the length and the
	 * hash of its name belong to it. */
	uint64_t fingerprint[6];
	uint64_t name_at; /* where those lie; 0: not needed */
	uint64_t name_words[CODE_NAME_WORDS];
};

/* The bytes of a code object that must be re-read to compare fingerprints:
 * offset and length from its address (one small contiguous range). */
void code_fingerprint_range(const struct layout *layout, size_t *offset,
			    size_t *size);
/* Fill fingerprint[6] from these bytes. */
void code_fingerprint(const struct layout *layout, const void *bytes,
		      uint64_t fingerprint[6]);

/* Read and decode the code object at `address`. -ERR_UNREADABLE or -ERR_CORRUPT
 * when it is no code object (its type pointer must be `code_type` when that is
 * not 0). */
int code_read(struct code *out, struct memory *memory,
	      const struct layout *layout, uint64_t address, uint64_t code_type,
	      struct arena *arena);

/* The line for an instruction. For FRAME_OBJECTS layouts `instruction` is
 * f_lasti (as an int, may be -1); for 3.11+ the raw prev_instr / instr_ptr
 * pointer. 0 when unknown. `tlbc` is the base address of the thread-local
 * bytecode when the frame runs in one (3.14t+), else 0. */
uint32_t code_line(const struct code *code, const struct layout *layout,
		   uint64_t instruction, uint64_t tlbc);

/* A str (2.7: str or unicode) as UTF-8, cut to `max` bytes, appended. */
int text_read(struct buffer *out, struct memory *memory,
	      const struct layout *layout, uint64_t address, size_t max);

/* repr-like rendering of any object from memory alone: None, bool, int, float,
 * str, bytes, list, tuple, dict, set, frozenset, ranges; instances as
 * "<Type at 0x...>" ; nested to `depth`, cut to about `max` bytes ("..."). */
int value_render(struct buffer *out, struct memory *memory,
		 const struct layout *layout, uint64_t address, int depth,
		 size_t max);

/* A local variable of a frame. */
struct local {
	char name[256];
	bool argument;
	/* Address of the object, tags removed; 0: unbound. An int that 3.14+
	 * keeps in the reference itself stays as it is: value_render knows. */
	uint64_t value;
};

/* The locals of the frame at `frame` whose code object is at `code`, arguments
 * first; cells are looked through. For modules and class bodies the names in
 * their dict, without those of two leading underscores. Returns the number
 * stored (<= max) or a negative code. */
int frame_locals(struct local *out, int max, struct memory *memory,
		 const struct layout *layout, uint64_t frame, uint64_t code);

#endif
