/* What the files of the engine share. */
#ifndef PYROMETER_ANALYZE_ENGINE_PRIVATE_H
#define PYROMETER_ANALYZE_ENGINE_PRIVATE_H

#include <stdbool.h>

#include "analyze/engine.h"
#include "analyze/flame.h"
#include "analyze/lines.h"
#include "analyze/profile.h"
#include "analyze/query.h"
#include "analyze/shares.h"
#include "analyze/tally.h"
#include "base/json.h"

/* A recording with what was counted last. */
struct recording_view {
	struct reader *reader;
	char *name;
	size_t base;	  /* length of the directory that user's files share */
	char *filter_key; /* of `profile`; NULL: nothing was counted yet */
	struct profile *profile;
	struct arena arena; /* of what follows, and of the filter */
	bool tallied, topped, lined;
	struct tally tally;
	struct shares top;
	struct lines lines;
	char *flame_key;
	struct flame flame;
};

struct engine {
	uint64_t budget;
	uint32_t n_recordings;
	struct recording_view recordings[ENGINE_RECORDINGS];
};

/* A request being answered. */
struct request {
	struct engine *engine;
	struct query query;
	struct recording_view *view; /* of field "file" */
	struct arena *arena;	     /* until the answer is there */
	struct json *json;	     /* inside the answer's outer object */
	bool *named;		     /* by function: is in the answer */
	struct recording_view *named_of;
	/* By function, how sure its shares are; NULL: nobody asked. */
	const struct key_share **sure;
};

/* The profile of the request's filter, counted now or before. */
int counted_profile(struct request *r, struct recording_view *v,
		    struct profile **out, struct error *err);
int counted_tally(struct recording_view *v, struct error *err);
/* Functions by self samples, with intervals. */
int counted_top(struct request *r, struct recording_view *v, struct error *err);
/* Lines by file. */
int counted_lines(struct request *r, struct recording_view *v,
		  struct error *err);
/* What time counts, as the field "mode" says. */
enum profile_mode request_mode(const struct request *r);
/* A filter that is only a window of time, from the fields from and to, and its
 * stride; it always ends. */
void window_filter(const struct request *r, const struct recording_view *v,
		   struct profile_filter *out);

/* Say in the answer how much was counted. */
void answer_counts(struct request *r, const struct profile *p);
/* An interval as its ends, in millionths. */
void answer_interval(struct json *j, struct interval i);
/* How sure `part` samples are, which are among those that are `whole`: the
 * binomial interval, as much wider as that of the latter is for its phases. */
struct interval part_interval(uint64_t part, const struct share_count *whole,
			      uint64_t samples);
/* The node that a path as the page writes it ("f12.f7.t0.n0") leads to: the
 * deepest there is, since what is gone with another filter is no reason to show
 * nothing. *depth becomes how far it leads. */
uint32_t flame_at_path(const struct flame *f, const char *text, size_t *depth);
/* Remember that the answer mentions a function of its recording. */
uint32_t mention(struct request *r, uint32_t function);

/* Arrays of numbers, for the thousands of them. */
void json_numbers(struct json *j, const char *key);
void json_number(struct json *j, uint64_t v);

typedef int answer_fn(struct request *r, struct error *err);
answer_fn answer_info, answer_timeline, answer_moment, answer_chrono,
	answer_flame, answer_waits, answer_sandwich, answer_top, answer_files,
	answer_source, answer_search, answer_compare;

#endif
