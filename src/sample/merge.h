/* Native and Python frames of one moment, put together into one stack.
 *
 * The native stack has a frame of the eval function for each time that bytecode
 * began to be run from C. It stands for the Python frames from one `entry` (see
 * struct raw_frame) up to the next: one frame up to 3.10; since 3.11 a Python
 * function that calls another does not enter the eval function again.
 *
 * Both are counted from the leaf. When the native walk came to the thread's
 * first frame, the two counts must agree; the eval function may have one more
 * at the leaf, which has not yet, or no longer, a Python frame. A walk that
 * broke off has fewer, and then the outer Python frames stand alone at the
 * root. What does not fit is not guessed: all Python frames, then the native
 * frames above the last run of the eval function.
 *
 * Folded, unless internals are asked for: how the program and the thread
 * started, the eval function, and the machinery through which the interpreter
 * calls. What it does otherwise (sorts, matches, imports) stays, since that is
 * where the time goes, and who called a key function of a sort; so does
 * everybody else's code. In a stripped interpreter the machinery has no names:
 * there all of its code between two Python frames, or between one and an
 * extension's, is folded. */
#ifndef PYROMETER_SAMPLE_MERGE_H
#define PYROMETER_SAMPLE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/unwind.h"
#include "python/eval.h"
#include "sample/stack.h"

enum merged_kind {
	MERGED_PYTHON,
	MERGED_NATIVE,
	MERGED_KERNEL,
	MERGED_MARK, /* what it waits in */
};

struct merged_frame {
	enum merged_kind kind;
	uint32_t module;  /* MERGED_NATIVE: as in struct native_frame */
	uint64_t address; /* native, kernel: of the code, or of the call; mark:
			   * its number */
	struct raw_frame python; /* MERGED_PYTHON */
};

/* A stack, root first. */
struct merged {
	struct merged_frame *frames;
	uint32_t count, capacity;
};

#define MERGED_INIT \
	{           \
		0   \
	}

/* Whose code a module is. */
enum module_class {
	MODULE_OTHER,
	MODULE_INTERPRETER, /* libpython, or the program that Python is in */
	MODULE_START,	    /* the C library, which starts threads */
};

struct merge_input {
	const struct python_eval *eval; /* NULL: not found */
	const struct raw_frame *python; /* leaf first */
	uint32_t n_python;
	bool entered;			   /* see struct stack */
	const struct native_frame *native; /* leaf first */
	uint32_t n_native;
	bool complete; /* the native walk came to the first frame */
	bool internals;
	const uint8_t *classes; /* enum module_class, by module */
	uint32_t n_classes;
};

/* Make *out the stack. Returns STATE_NATIVE, and STATE_BROKEN or
 * STATE_UNMERGED when it is so. */
uint32_t merge_stacks(struct merged *out, const struct merge_input *in);

/* How many Python frames say that they begin a run and cannot; see
 * native_walk(). */
uint32_t merge_surplus(const struct merge_input *in);

/* One more frame at the leaf. */
void merged_push(struct merged *m, enum merged_kind kind, uint64_t address,
		 uint32_t module);
void merged_release(struct merged *m);

#endif
