/* The call trees of a profile, one per thread or pool of threads; what
 * view_tree draws and view_summary shortens. */
#ifndef PYROMETER_VIEW_TREE_H
#define PYROMETER_VIEW_TREE_H

#include "analyze/outline.h"
#include "analyze/threads.h"
#include "base/json.h"
#include "view/place.h"
#include "view/view.h"

struct tree_data {
	struct arena arena;
	struct profile *profile;
	struct tally tally;
	struct threads threads;
	struct thread_groups groups;
	struct places places;
	const char *self_text; /* what lines of OUTLINE_SELF are called */
	uint32_t n_open; /* groups that get a tree; those after it only wait */
};

/* Free with tree_data_release, whether it fails or not. */
int tree_data_init(struct tree_data *d, const struct view_request *r,
		   struct error *err);
void tree_data_release(struct tree_data *d);

/* How much of a group's tree the request wants to see: of a thread that does
 * less, less. */
struct outline_options tree_options(const struct view_request *r,
				    const struct tree_data *d,
				    const struct thread_group *group);
/* The outline of a group's tree; lives in the arena of `d`. */
void tree_outline(struct outline *out, struct tree_data *d,
		  const struct thread_group *group,
		  const struct outline_options *options);

/* Write the lines [from, to) of an outline, those of depth `depth` outermost.
 * Shares are of the outline's samples. */
void tree_lines(struct buffer *out, const struct view_style *style,
		const struct tree_data *d, const struct outline *outline,
		uint32_t from, uint32_t to, uint32_t depth);

/* The same as an array of objects, one per line. */
void tree_outline_json(struct json *j, const char *key, const struct profile *p,
		       const struct outline *outline);

/* "MainThread  tid 12  9.81 s, 96% on CPU": the line above a group's tree.
 * `name_top` adds the function that most of its time ends in. */
void tree_group_line(struct buffer *out, const struct view_style *style,
		     const struct tree_data *d,
		     const struct thread_group *group, bool name_top);
/* The line about the threads that only wait; nothing if there are none. */
void tree_idle_line(struct buffer *out, const struct view_style *style,
		    const struct tree_data *d);
/* Plus-minus of shares within the group, at their widest. */
double tree_group_half(const struct thread_group *group);

#endif
