/* The definitions of a recording, as a reader holds them. */
#ifndef PYROMETER_RECORD_TABLES_H
#define PYROMETER_RECORD_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "record/edges.h"
#include "record/model.h"

struct process_end {
	uint64_t when; /* UINT64_MAX: not seen to end */
	int status;    /* -1: unknown */
};

/* A function at a site, with the line that is executed there. */
struct site_symbol {
	uint32_t function, line;
};

/* The symbols of a site: `count` of them from `first` on, innermost first. */
struct site_symbols {
	uint32_t first, count;
};

/* For each kind of thing an array, how many it holds, how many fit. */
#define TABLES_ARRAY(type, name) \
	type *name;              \
	uint32_t n_##name, name##_capacity

struct tables {
	struct arena arena; /* texts */
	TABLES_ARRAY(const char *, strings);
	TABLES_ARRAY(struct process_info, processes);
	TABLES_ARRAY(struct thread_info, threads);
	TABLES_ARRAY(struct function_info, functions);
	TABLES_ARRAY(struct frame_info, frames);
	TABLES_ARRAY(struct node_info, nodes);
	TABLES_ARRAY(struct marker_info, markers);
	TABLES_ARRAY(struct module_info, modules);
	TABLES_ARRAY(struct site_info, sites);
	TABLES_ARRAY(struct site_symbol, symbols);
	struct site_symbols *site_symbols; /* by site */
	uint32_t site_symbols_capacity;
	struct edges edges;
	struct process_end *process_ends; /* by process */
	uint32_t process_ends_capacity;
	uint64_t *thread_ends; /* by thread */
	uint32_t thread_ends_capacity;
	struct thread_times *thread_times; /* by thread */
	uint32_t thread_times_capacity;
};

/* Add what the payload of a DEFINITIONS or MARKERS block says. False when it
 * is broken or does not continue where the last one ended; what was sound
 * before the break is kept. */
bool tables_read(struct tables *t, const void *data, size_t size);
/* Add a symbol of a site, whose ids are good. The symbols of a site come one
 * behind the other; others that it gets later are left out, as are those beyond
 * LIMIT_INLINED. */
void tables_add_symbol(struct tables *t, uint32_t site, uint32_t function,
		       uint32_t line);
/* The text of a string id; NULL when there is none. */
const char *tables_string(const struct tables *t, uint64_t id);
void tables_release(struct tables *t);

#endif
