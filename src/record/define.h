/* Give ids to things, each once, and keep the rows that are not written yet. */
#ifndef PYROMETER_RECORD_DEFINE_H
#define PYROMETER_RECORD_DEFINE_H

#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "record/edges.h"
#include "record/model.h"
#include "record/table.h"

struct known_site {
	struct site_info info;
	uint32_t frame; /* or ID_NONE: not defined yet */
	bool named;	/* its symbols are known */
};

struct definer {
	struct intern strings;
	struct map functions, frames, nodes;
	struct edges edges;
	uint32_t *node_frames; /* by node */
	uint32_t node_frames_capacity;
	uint32_t n_processes, n_threads, n_functions, n_frames, n_nodes;
	struct map module_ids, site_ids;
	struct module_info *modules; /* texts are those of `strings` */
	uint32_t n_modules, modules_capacity;
	struct known_site *sites;
	uint32_t n_sites, sites_capacity;
	struct table_writer tables[TABLE_TAGS];
	size_t pending; /* about as many bytes wait to be written */
};

#define DEFINER_INIT                   \
	{                              \
		.strings = INTERN_INIT \
	}

void definer_release(struct definer *d);

/* Each gives the id of the thing, new or known. Times are ns since the
 * recording began. */
uint32_t define_string(struct definer *d, const char *text);
uint32_t define_process(struct definer *d, const struct process_info *info);
uint32_t define_thread(struct definer *d, const struct thread_info *info);
uint32_t define_function(struct definer *d, const struct function_info *info);
uint32_t define_frame(struct definer *d, uint32_t function, uint32_t line);
uint32_t define_node(struct definer *d, uint32_t parent, uint32_t frame);
uint32_t define_module(struct definer *d, const struct module_info *info);
uint32_t define_site(struct definer *d, const struct site_info *info);
uint32_t define_site_frame(struct definer *d, uint32_t site);
/* The functions at a site, innermost first; the first word on a site counts. */
void define_symbol(struct definer *d, uint32_t site,
		   const struct function_info *functions, const uint32_t *lines,
		   uint32_t n);

void define_thread_name(struct definer *d, uint32_t thread, const char *name);
void define_process_end(struct definer *d, uint32_t process, uint64_t when,
			int status);
void define_thread_end(struct definer *d, uint32_t thread, uint64_t when);
void define_thread_times(struct definer *d, uint32_t thread,
			 const struct thread_times *times);
void define_marker(struct definer *d, const struct marker_info *info);

/* Visit the files that functions of this kind are in, each file and module
 * once, until the visitor says that it has done with the file. `done` is by
 * string. */
void define_each_file(struct definer *d, enum function_kind kind, bool *done,
		      bool (*visit)(void *context,
				    const struct function_info *function),
		      void *context);

/* Append the rows that wait to be written; markers go by themselves. */
void definer_flush(struct definer *d, struct buffer *out);
void definer_flush_markers(struct definer *d, struct buffer *out);

#endif
