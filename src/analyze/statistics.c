/* How sure a share is.
 *
 * "parse 30.0% +-1.2" answers one of two questions, and they are not the same:
 *
 *   run    How far may 30.0% be from the share that parse had in the time that
 *          was recorded? The samples are all we have; between them we are
 * blind. again  How far may it be from what another recording of the same
 * program would show? That also depends on how much the program varies.
 *
 * Reports print the first. A script that loads for 3 s and computes for 7 s did
 * spend 30% on loading, and a thousand samples know that to a point or two; it
 * would be wrong to print +-20 because a second run might differ. But whoever
 * compares recordings, or takes 10 s of a service for its whole life, needs the
 * second, so every share carries both, and one whose second interval is much
 * the wider is marked (`drifts`).
 *
 * Samples are not independent draws, in three ways.
 *
 * 1. Long runs. A regular sampler that meets phases longer than its period errs
 *    by less than one tick at either end of a phase; independent draws would
 *    err more. So the binomial (Wilson's interval for it, which stays honest
 *    near 0 and 1 and for few samples) is an upper bound for `run`, and equal
 *    to the truth when the program switches faster than we look. It is not a
 *    bound when the program keeps step with the sampler: no statistics on the
 *    samples can see that, but what drifts slowly in and out of step looks like
 *    phases, and shows in `again`.
 *
 * 2. Several threads per tick. The threads of a pool do the same at the same
 *    time, so 8 threads may say one thing 8 times: `samples` may be 8 times the
 *    number of independent looks. How they depend on each other is unknown, so
 *    we take the worst case, which has two bounds, and the narrower one counts:
 *    a) A tick as one look. The fraction of threads within a function at a tick
 *       lies between 0 and 1, so its variance is at most p(1-p): Wilson with
 *       the number of ticks. Good when threads come and go.
 *    b) Thread by thread. The standard deviation of a sum is at most the sum of
 *       the standard deviations: add the threads' own Wilson bounds, weighted
 *       by their samples. Good when 40 threads wait and one works: those that
 *       wait are nearly certain and add nearly nothing.
 *    With one thread, both are the plain interval.
 *
 * 3. Phases. For `again` the window is cut into SLICES slices of equal time and
 *    the share is taken as a ratio over slices: their scatter around the
 *    common share estimates the variance whatever the correlation within a
 *    slice is (batch means; Student's t for their small number). That assumes
 *    phases shorter than a slice; a program that goes through its phases only
 *    once is told by a very wide interval, as it should be. The wider of the
 *    two is given: scatter can come out small by chance, and the binomial
 *    stands against that. */
#include "analyze/statistics.h"

#include <math.h>

#define Z95 1.959963984540054

/* A share drifts when `again` is this much wider than `run`, and by at least
 * this much, so that rare functions do not flicker. */
#define DRIFT_FACTOR 3.0
#define DRIFT_LEAST  0.02

static double clamp(double v)
{
	return v < 0 ? 0 : v > 1 ? 1 : v;
}

struct interval share_interval_of(double share, double samples)
{
	double z2 = Z95 * Z95, centre, half;

	if (!(samples > 0))
		return (struct interval){ 0, 1 };
	share = clamp(share);
	centre = share + z2 / (2 * samples);
	half = Z95 * sqrt(share * (1 - share) / samples +
			  z2 / (4 * samples * samples));
	return (struct interval){
		clamp((centre - half) / (1 + z2 / samples)),
		clamp((centre + half) / (1 + z2 / samples)),
	};
}

struct interval share_interval(uint64_t hits, uint64_t samples)
{
	double n = (double)samples;

	return share_interval_of(samples ? (double)hits / n : 0, n);
}

/* The 97.5% quantile of Student's t: the first terms of its expansion in
 * 1/df around the normal one, right to 1% from 4 degrees of freedom on. */
static double student_t(uint32_t df)
{
	double z = Z95, z3 = z * z * z, z5 = z3 * z * z, d = df;

	if (df < 4)
		return (double[]){ INFINITY, 12.7, 4.30, 3.18 }[df];
	return z + (z3 + z) / (4 * d) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96 * d * d);
}

void share_base_thread(struct share_base *base, uint64_t samples)
{
	base->high += (double)samples * share_interval(0, samples).high;
}

void share_sums_thread(struct share_sums *sums, uint64_t hits, uint64_t samples)
{
	struct interval i = share_interval(hits, samples);

	sums->low += (double)samples * i.low;
	/* share_base.high has already counted the thread as one without hits.
	 */
	sums->high +=
		(double)samples * (i.high - share_interval(0, samples).high);
}

void share_base_slice(struct share_base *base, uint64_t samples)
{
	base->squares += (double)samples * (double)samples;
	base->slices += samples > 0;
}

void share_sums_slice(struct share_sums *sums, uint64_t hits, uint64_t samples)
{
	sums->squares += (double)hits * (double)hits;
	sums->products += (double)hits * (double)samples;
}

static struct interval narrower(struct interval a, struct interval b)
{
	return interval_half(a) <= interval_half(b) ? a : b;
}

static struct interval run_interval(const struct share_sums *sums,
				    const struct share_base *base, double share)
{
	double n = (double)base->samples;
	struct interval by_tick = share_interval_of(share, (double)base->ticks);
	struct interval by_thread = {
		clamp(sums->low / n),
		clamp((base->high + sums->high) / n),
	};

	return narrower(by_tick, by_thread);
}

/* The scatter of the slices: the sum of (hits - share * samples)^2, expanded,
 * so that slices without a hit need not be visited. */
static double slice_half(const struct share_sums *sums,
			 const struct share_base *base, double share)
{
	double k = base->slices, n = (double)base->samples, scatter;

	if (base->slices < 2)
		return 0;
	scatter = sums->squares - 2 * share * sums->products +
		  share * share * base->squares;
	return student_t(base->slices - 1) *
	       sqrt(fmax(scatter, 0) * k / (k - 1)) / n;
}

struct confidence share_confidence(const struct share_sums *sums,
				   const struct share_base *base, uint64_t hits)
{
	struct confidence c = { 0, { 0, 1 }, { 0, 1 }, false };
	double half;

	if (!base->samples)
		return c;
	c.share = (double)hits / (double)base->samples;
	c.again = c.run = run_interval(sums, base, c.share);
	half = slice_half(sums, base, c.share);
	c.again.low = fmin(c.again.low, clamp(c.share - half));
	c.again.high = fmax(c.again.high, clamp(c.share + half));
	c.drifts = interval_half(c.again) >
		   fmax(DRIFT_FACTOR * interval_half(c.run), DRIFT_LEAST);
	return c;
}
