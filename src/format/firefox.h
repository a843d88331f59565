/* What the parts of the Firefox format share: firefox.c writes threads,
 * firefox_tables.c the tables that threads refer to, firefox_native.c knows
 * about libraries. Private to them. */
#ifndef PYROMETER_FORMAT_FIREFOX_H
#define PYROMETER_FORMAT_FIREFOX_H

#include <stdint.h>

#include "analyze/profile.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "format/sink.h"

enum firefox_category {
	CATEGORY_OTHER,
	CATEGORY_PYTHON,
	CATEGORY_NATIVE,
	CATEGORY_KERNEL,
	CATEGORY_UNLOCKED,
	CATEGORY_GC,
	CATEGORY_GIL_WAIT,
	CATEGORY_IDLE,
	CATEGORIES,
};

/* A stack or a frame once more, in another category. */
struct twin {
	uint32_t of; /* node or frame; ID_NONE: the one without a stack */
	enum firefox_category category;
	uint32_t frame; /* stacks: which of the twins of frames it ends in */
};

struct twins {
	struct map index;
	struct twin *items;
	uint32_t count, capacity;
};

/* A native function, as the profiler knows them. */
struct firefox_symbol {
	uint32_t function, lib;
	uint64_t address;
};

struct firefox_native {
	uint32_t *lib_of;    /* by function: its module, or ID_NONE */
	uint32_t *symbol_of; /* by function: its symbol, or ID_NONE */
	struct firefox_symbol *symbols;
	uint32_t n_symbols, capacity;
};

struct firefox {
	struct profile *profile;
	struct sink *sink;
	struct json json;
	struct intern strings, sources;
	struct twins stacks, frames;
	struct firefox_native native;
	uint32_t *tids;
	uint64_t sample_ns;
	uint32_t n_threads; /* written so far */
};

/* The row of the stack table for a stack seen in a state of enum sample_state;
 * a twin when its own category does not say so. */
uint32_t firefox_stack(struct firefox *w, uint32_t node, uint32_t state);

void firefox_native_init(struct firefox_native *n, const struct reader *r);
void firefox_native_release(struct firefox_native *n);
/* The symbol of the code that a frame is in, or ID_NONE. */
uint32_t firefox_symbol(const struct firefox *w, uint32_t frame);
/* "libs": the recording's modules. */
void firefox_add_libs(struct firefox *w);

/* "shared": all tables and strings that were referred to. Comes last. */
void firefox_add_shared(struct firefox *w);

#endif
