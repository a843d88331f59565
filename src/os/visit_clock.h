/* Visits by a thread's own clock.
 *
 * A visit (visit.h) is asked for, each time, by somebody who is awake; being
 * awake a thousand times a second is most of what a sampler costs, and on a
 * machine without an idle core it is the target that pays for it. So a thread
 * that runs on and on is given a clock of its CPU time, a perf event, behind
 * which stands the same program: at each period it is interrupted, what a visit
 * would have brought is put behind what is there, and nobody is woken. Whoever
 * wants it comes by every few dozen periods.
 *
 * The interrupt of a timer costs the thread about twice what that of a visit
 * does on virtual machines, and all together a fraction: what is left is the
 * reading of what was taken, in one go with warm caches.
 *
 * A clock is stopped while its records are read, so nothing has to be locked.
 * Linux 5.15, CAP_BPF and CAP_PERFMON. */
#ifndef PYROMETER_OS_VISIT_CLOCK_H
#define PYROMETER_OS_VISIT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/visit.h"

struct visit_clocks;

/* Up to n clocks for lists of a shape. -ERR_PERMISSION or -ERR_UNSUPPORTED,
 * with a sentence. */
int visit_clocks_new(struct visit_clocks **out, const struct visit_shape *shape,
		     uint32_t n, struct error *err);
void visit_clocks_free(struct visit_clocks *c); /* NULL-safe */

/* A clock for a thread, not running yet: its number, or -ERR_LIMIT when all are
 * in use, -ERR_GONE, -ERR_PERMISSION, -ERR_UNSUPPORTED. */
int visit_clocks_take(struct visit_clocks *c, pid_t tid);
void visit_clocks_give_back(struct visit_clocks *c, int clock);

/* Forget what was taken and take, every `period` ns, what a visit is asked for:
 * its head, fields and stack_top. The clock counts on from where it was
 * stopped. False when the kernel will not. */
bool visit_clocks_start(struct visit_clocks *c, int clock,
			const struct visit *asked, uint64_t period);
void visit_clocks_stop(struct visit_clocks *c, int clock);

/* What was taken, from *at = 0 on, oldest first; out->time tells when. The
 * visit is what visit.h says, until the clock is started again. False when
 * there is no more. */
bool visit_clocks_next(const struct visit_clocks *c, int clock, size_t *at,
		       struct visit *out, enum visit_result *result);
/* How many there was no room for, and whether there would have been room for
 * twice as many as were taken. */
uint64_t visit_clocks_lost(const struct visit_clocks *c, int clock);
bool visit_clocks_roomy(const struct visit_clocks *c, int clock);

#endif
