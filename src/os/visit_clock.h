/* Visits by the timers of a thread's core.
 *
 * A visit (visit.h) is asked for, each time, by somebody who is awake; being
 * awake a thousand times a second is most of what a sampler costs, and on a
 * machine without an idle core it is the target that pays for it. But a thread
 * that runs on and on is interrupted anyway: by the kernel's tick, a hundred to
 * a thousand times a second, and by any other timer of its core. So the same
 * program stands behind all timers (the tracepoint hrtimer_expire_entry), puts
 * what a visit would have brought behind what is there, and wakes nobody.
 * Whoever wants it comes by after some periods. Where ticks are too few,
 * the thread is given a clock of its CPU time, a perf event that does nothing
 * but go off, as often as makes up for it. Of a thousand visits a second the
 * tick gives 250 on many systems and all of them on others, and on virtual
 * machines each interrupt that is saved is ten microseconds or more of the
 * thread's time.
 *
 * A thread that falls asleep is not interrupted any more. So where registers
 * are asked for, the program stands behind the kernel's switches, too (the
 * tracepoint sched_switch), and takes a thread that goes to sleep, with its
 * system call; up to twice from one visit by a timer to the next, so that who
 * sleeps all the time does not pay each time.
 *
 * Both tracepoints are the whole system's: a timer or a switch of anybody else
 * pays for a look at whose it is, about a tenth of a microsecond. So they are
 * let go of while nobody wants clocks.
 *
 * A clock is stopped while its records are read, so nothing has to be locked;
 * that takes no system call. (One that is struck has answered before its record
 * is read.) Linux 5.15, for switches 5.19; CAP_BPF and CAP_PERFMON. */
#ifndef PYROMETER_OS_VISIT_CLOCK_H
#define PYROMETER_OS_VISIT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/visit.h"

struct visit_clocks;

/* Up to n clocks for lists of a shape and threads of a pid namespace, as of
 * visit_namespace(). -ERR_PERMISSION or -ERR_UNSUPPORTED, with a sentence. */
int visit_clocks_new(struct visit_clocks **out, const struct visit_shape *shape,
		     uint64_t device, uint64_t inode, uint32_t n,
		     struct error *err);
void visit_clocks_free(struct visit_clocks *c); /* NULL-safe */

/* A clock for a thread, not running yet: its number, or -ERR_LIMIT when all are
 * in use, -ERR_GONE, -ERR_PERMISSION, -ERR_UNSUPPORTED. It is `tid` to us, and
 * in its namespace what `asked` says. */
int visit_clocks_take(struct visit_clocks *c, pid_t tid,
		      const struct visit *asked);
void visit_clocks_give_back(struct visit_clocks *c, int clock);

/* Forget what was taken and take, about every `period` ns of its CPU time, what
 * a visit is asked for: its head, fields and stack_top. False when the kernel
 * will not. */
bool visit_clocks_start(struct visit_clocks *c, int clock,
			const struct visit *asked, uint64_t period);
void visit_clocks_stop(struct visit_clocks *c, int clock);
/* Let it go off now, on the core where its thread seems to run: an interrupt of
 * another kind, which is answered before this returns. The visit is what was
 * taken; false when nothing was. */
bool visit_clocks_strike(const struct visit_clocks *c, int clock, int core,
			 struct visit *out);
/* A clock that is stopped still goes off; this one does not, until it is
 * started again. */
void visit_clocks_rest(struct visit_clocks *c, int clock);
/* Let go of timers and switches, until a clock is started. All must rest. */
void visit_clocks_detach(struct visit_clocks *c);

/* What was taken, from *at = 0 on, oldest first; out->time tells when. The
 * visit is what visit.h says, until the clock is started again. False when
 * there is no more. */
bool visit_clocks_next(struct visit_clocks *c, int clock, size_t *at,
		       struct visit *out, enum visit_result *result);
/* What it took ends there, by now: more than before if it has gone off. */
size_t visit_clocks_position(const struct visit_clocks *c, int clock);
/* How many there was no room for, and whether there would have been room for
 * twice as many as were taken. */
uint64_t visit_clocks_lost(const struct visit_clocks *c, int clock);
bool visit_clocks_roomy(const struct visit_clocks *c, int clock);

#endif
