/* Two recordings of the same program, side by side: which functions take
 * another share of the time than before, and whether that is more than noise.
 *
 * A function is the same in both when its name and its file are, the file
 * without the directory that the recording's own files share, so that another
 * checkout or another virtual environment does not matter. Native functions are
 * the same when their names and libraries' names are. */
#ifndef PYROMETER_ANALYZE_COMPARE_H
#define PYROMETER_ANALYZE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/flame.h"
#include "analyze/profile.h"
#include "analyze/shares.h"
#include "base/arena.h"

enum { COMPARE_BASE, COMPARE_NEW, COMPARE_SIDES };

/* One of the two. */
struct compare_side {
	const struct profile *profile;
	const struct shares *top;
	const struct flame *flame;
};

struct compare_function {
	uint32_t function[COMPARE_SIDES]; /* or ID_NONE */
	struct share_count self[COMPARE_SIDES], total[COMPARE_SIDES];
	/* How large a difference of the shares may be by chance, 95% of the
	 * time; and whether this one is no larger. */
	double self_half, total_half;
	bool self_noise, total_noise;
};

/* What a node of the tree of both has in each. */
struct compare_node {
	uint64_t samples[COMPARE_SIDES];
	bool noise;
};

struct compare {
	struct compare_function *functions; /* in either, in no order */
	uint32_t n_functions;
	/* Both call trees on top of each other; the id of a function is its
	 * place in `functions`. Widths are the mean of both shares, in
	 * COMPARE_WIDTH, so that what is new and what is gone are both seen. */
	struct flame flame;
	struct compare_node *nodes; /* by node of the flame */
};

#define COMPARE_WIDTH 1000000000u

/* `functions` live in the arena; free with compare_release. */
void compare_profiles(struct compare *out,
		      const struct compare_side sides[COMPARE_SIDES],
		      struct arena *arena);
void compare_release(struct compare *c);

#endif
