/* How sure a share is. statistics.c tells what the intervals mean and why. */
#ifndef PYROMETER_ANALYZE_STATISTICS_H
#define PYROMETER_ANALYZE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

struct interval {
	double low, high; /* shares, 0 to 1 */
};

/* A share with both of its intervals. */
struct confidence {
	double share;	     /* as counted */
	struct interval run; /* 95%: the share in the time that was recorded */
	struct interval
		again; /* 95%: if it were recorded again; never narrower */
	bool drifts;   /* `again` is much wider: the share has phases */
};

/* The 95% Wilson score interval for `hits` of `samples`. */
struct interval share_interval(uint64_t hits, uint64_t samples);

/* The same for a share of a number of samples that need not be whole. No
 * samples: 0 to 1. */
struct interval share_interval_of(double share, double samples);

/* Half of its width: the number behind the plus-minus sign. */
static inline double interval_half(struct interval i)
{
	return (i.high - i.low) / 2;
}

/* What is summed up over the strata (threads, slices of time) of a recording
 * for one thing that has a share. Begin with zeros. */
struct share_sums {
	double low, high;	  /* over threads: weighted bounds */
	double squares, products; /* over slices: hits^2, hits * samples */
};

/* The same sums for the recording as a whole. Begin with zeros. */
struct share_base {
	uint64_t samples; /* all */
	uint64_t ticks;	  /* moments with at least one sample */
	double high;	  /* over threads: what a thread without hits adds */
	double squares;	  /* over slices: samples^2 */
	uint32_t slices;  /* that have samples */
};

/* Say that a thread has `samples`; then for each thing seen in it, how often.
 */
void share_base_thread(struct share_base *base, uint64_t samples);
void share_sums_thread(struct share_sums *sums, uint64_t hits,
		       uint64_t samples);
void share_base_slice(struct share_base *base, uint64_t samples);
void share_sums_slice(struct share_sums *sums, uint64_t hits, uint64_t samples);

/* The result, once all strata were told. */
struct confidence share_confidence(const struct share_sums *sums,
				   const struct share_base *base,
				   uint64_t hits);

#endif
