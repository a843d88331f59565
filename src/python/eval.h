/* Which native code of a Python runs bytecode.
 *
 * A native frame inside the function that runs bytecode stands for the Python
 * frames that it runs; that is how the two kinds of stack are put together. It
 * is known by the addresses of its parts: the compiler puts unlikely code into
 * a part of its own (`.cold`) and makes copies (`.lto_priv.0`). The name itself
 * is exported by every Python, stripped ones too.
 *
 * 3.14 and later may be built with a function per bytecode instruction. These
 * replace each other on the stack, on top of one frame of the function that
 * began; so they need not be known by name, only by their place. */
#ifndef PYROMETER_PYTHON_EVAL_H
#define PYROMETER_PYTHON_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/maps.h"
#include "os/opener.h"
#include "python/python.h"

struct address_range {
	uint64_t start, end; /* in the process */
};

struct address_ranges {
	struct address_range *items; /* by address, apart from each other */
	size_t count, capacity;
};

struct python_eval {
	struct address_ranges entries; /* each frame here began to run code */
	/* How the interpreter calls: of no interest to anybody but its makers.
	 * Known as far as the interpreter is not stripped. */
	struct address_ranges calls;
	bool named; /* it is not stripped: all of its calls are known */
	uint64_t start, end; /* the file that the interpreter is in, mapped */
	bool handlers;	     /* a function per instruction on top of an entry */
};

#define PYTHON_EVAL_INIT \
	{                \
		0        \
	}

/* Find them. -ERR_NOT_FOUND when this Python's file cannot be read or does not
 * have the name. */
int python_eval_find(struct python_eval *out, const struct python *p,
		     const struct maps *maps, const struct opener *opener);
void python_eval_release(struct python_eval *e);

/* Whether a function of that name is how an interpreter calls. In a file that
 * is no interpreter only names that are Python's own are believed:
 * `call_function` may be anybody's. */
bool python_calls_by(const char *name, bool interpreter);
/* A function that every interpreter has, and nobody else. */
#define PYTHON_EVAL_CODE "PyEval_EvalCode"

bool address_ranges_have(const struct address_ranges *r, uint64_t address);

/* Put ranges in order and join those that touch; for tests too. */
void address_ranges_add(struct address_ranges *r, uint64_t start, uint64_t end);
void address_ranges_sort(struct address_ranges *r);

#endif
