/* The reports: each view of a profile, as text for a terminal and as JSON
 * (docs/json.md). They append to `out`; nothing is printed here. */
#ifndef PYROMETER_VIEW_VIEW_H
#define PYROMETER_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "analyze/shares.h"
#include "base/buffer.h"
#include "base/error.h"
#include "view/style.h"

struct view_request {
	struct profile *profile;
	const char *path; /* of the recording; may be NULL */
	const struct view_style *style;
	uint32_t limit; /* how many lines, functions...; 0: as suits */
	bool all;	/* leave nothing out, fold nothing */
	bool idle;	/* threads that only wait are shown like others */
	enum share_order order;
	bool by_library;      /* view_top: not functions, but libraries */
	const char *function; /* view_callers: whose */
	const char *code;     /* view_asm: whose */
};

/* Returns 0, or a negative code when the recording cannot be read. */
typedef int view_render(struct buffer *out, const struct view_request *request,
			struct error *err);

view_render view_tree, view_tree_json;
view_render view_top, view_top_json;
view_render view_lines, view_lines_json;
view_render view_threads, view_threads_json;
/* Fail with -ERR_NOT_FOUND when no function with samples has that name. */
view_render view_callers, view_callers_json;
/* The same of native functions. */
view_render view_asm, view_asm_json;

#endif
