/* Code objects of one process, decoded once and kept.
 *
 * A code object that is freed may have its address taken by another. From 3.14
 * on the interpreter counts freed code objects, and only when the count moves
 * are known ones compared again. Before, a code object is compared (some words,
 * in one vectored read for all frames of a stack that are new since the last
 * sample) each time a thread comes to run it, and all of them now and then, or
 * each time while the program makes code (see target_generation()). */
#ifndef PYROMETER_SAMPLE_CODES_H
#define PYROMETER_SAMPLE_CODES_H

#include <stdint.h>

#include "python/code.h"
#include "python/python.h"
#include "record/writer.h"
#include "sample/stack.h"

struct codes;

struct codes *codes_new(const struct python *python, struct writer *writer);
void codes_free(struct codes *c);

/* Make sure that what is known of the code objects of these frames is true
 * now. `generation` is the interpreter's count of freed code objects, 0 when
 * it has none. True when an address was found to hold another code object, or
 * what is known was forgotten, so that what the caller derived from addresses
 * is void. */
bool codes_check(struct codes *c, const struct raw_frame *frames, uint32_t n,
		 uint64_t generation);

/* How many code objects have been read, again or for the first time. */
uint64_t codes_read(const struct codes *c);

/* The number of the last check; and whether one after that found another code
 * object where one of these frames has its own. */
uint64_t codes_pass(const struct codes *c);
bool codes_changed_since(const struct codes *c, const struct raw_frame *frames,
			 uint32_t n, uint64_t pass);

/* The recording's frame id for a raw frame; a frame named "<unreadable>" when
 * its code object makes no sense. */
uint32_t codes_frame(struct codes *c, const struct raw_frame *frame);

/* Whether the frame is one of the interpreter's own, not to be shown. */
bool codes_is_internal(struct codes *c, const struct raw_frame *frame);

/* Where the thread-local copy of the bytecode that a frame runs begins, as
 * code_line() wants it; 0 when it runs none. */
uint64_t codes_tlbc_base(const struct python *p, const struct raw_frame *frame);

#endif
