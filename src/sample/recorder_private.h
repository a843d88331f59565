/* The recorder inside: what recorder.c, which says when and of whom samples are
 * taken, and window.c, which leaves threads to their clocks between two of
 * them, have in common. */
#ifndef PYROMETER_SAMPLE_RECORDER_PRIVATE_H
#define PYROMETER_SAMPLE_RECORDER_PRIVATE_H

#include "sample/clocks.h"
#include "sample/family.h"
#include "sample/recorder.h"
#include "sample/sampler.h"
#include "sample/scribe.h"
#include "sample/symbolise.h"

#define MILLISECOND 1000000u
#define CARE_CHILDREN                                          \
	(10u * MILLISECOND) /* between looks for them, with -s \
			     */

struct recorder {
	struct recorder_options options;
	int fd;
	struct writer *writer; /* NULL before the first target */
	struct sampler sampler;
	struct family family;
	pid_t program; /* that we have started; 0: none */
	struct target **targets;
	uint32_t n_targets, targets_capacity, n_seen;
	struct symbolise_targets seen;
	uint64_t start, next, tick;
	struct scribe scribe;
	bool window; /* threads are left to their clocks next */
	struct {
		uint64_t cost;	       /* ns of CPU time, as found last, */
		uint64_t epoch;	       /* in the half second before this one */
		uint64_t spent, ticks; /* since then */
	} ours; /* the ticks in windows that we take ourselves */
	uint64_t last_care, last_progress;
	uint64_t last_flush, flush_every;
	struct recording_info info;
	char host[256];
	char note[640];
};

/* Take a tick of all targets, and write what it found: whoever has ended is
 * forgotten. */
void recorder_take(struct recorder *r, uint64_t now);
void recorder_write(struct recorder *r, uint64_t now);
/* Count ticks that could not be kept, as we came late. */
void recorder_missed(struct recorder *r, uint64_t late, uint64_t ticks);

/* After a tick: is a window next? */
void window_plan(struct recorder *r);
/* Let a window pass, and take the tick at its end. False when there was none.
 */
bool window_take(struct recorder *r);

#endif
