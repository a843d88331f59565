/* What the kernel says of a target's threads: running or not, and whether one
 * that sleeps does so for the GIL.
 *
 * Asking costs a system call per thread, too much for hundreds of threads a
 * thousand times a second. So a thread that slept is asked again only when
 * something says it may have run: it holds the GIL, it ran at the last look, or
 * the process used more CPU time than its known runners can have. Beyond that,
 * a few sleepers are asked in turn each time, so that nothing stays wrong.
 *
 * A thread waits for the GIL when the futex it sleeps on lies inside the GIL's
 * own structure: this holds for every version. */
#include "sample/target.h"

#include "base/clock.h"
#include "os/process.h"

#define OS_EVERY    500000u /* ns */
#define ASK_ALL	    8	    /* with up to so many threads, ask them all */
#define ASK_IN_TURN 2
#define BELIEVE	    8 /* looks at which going on is taken for running */

void target_ask(struct target *t, struct target_thread *thread)
{
	struct os_thread_look look;

	thread->unasked = 0;
	if (os_thread_look(&thread->os, &look) < 0) {
		thread->os_state = 0;
		return;
	}
	thread->os_state = look.state;
	if (!t->python.has_rseq)
		thread->core = (uint32_t)os_thread_core(&thread->os);
	thread->gil_wait = look.futex && !(thread->state & STATE_GIL) &&
			   !t->python.layout.free_threaded &&
			   target_in_gil(t, thread, look.address);
}

/* A thread that holds the GIL, ran a moment ago and has gone on since is
 * running: no need to ask, most of the time. */
static bool evidently_runs(struct target_thread *thread)
{
	return thread->os_state == 'R' && (thread->state & STATE_GIL) &&
	       thread->went_on && ++thread->unasked < BELIEVE;
}

static uint32_t ask_runners(struct target *t)
{
	uint32_t running = 0;

	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];

		if (target_thread_may_run(thread) && !evidently_runs(thread))
			target_ask(t, thread);
		running += thread->os_state == 'R';
	}
	return running;
}

static void ask_in_turn(struct target *t, uint32_t n)
{
	for (uint32_t k = 0; k < n && k < t->n_threads; k++) {
		struct target_thread *thread;

		t->next_idle = (t->next_idle + 1) % t->n_threads;
		thread = t->threads[t->next_idle];
		if (!target_thread_may_run(thread))
			target_ask(t, thread);
	}
}

/* Whether the process used more CPU time than its known runners can have. */
static bool others_ran(struct target *t, uint32_t running, uint64_t elapsed)
{
	uint64_t cpu = process_cpu_time(t->pid), used = cpu - t->last_cpu;

	t->last_cpu = cpu;
	return used > running * elapsed + elapsed / 8;
}

void target_look_os(struct target *t, uint64_t now)
{
	uint64_t elapsed = now - t->last_os;
	uint32_t running;

	if (elapsed < OS_EVERY && t->last_os)
		return;
	t->last_os = now;
	running = ask_runners(t);
	if (t->n_threads <= ASK_ALL || others_ran(t, running, elapsed))
		ask_in_turn(t, t->n_threads);
	else
		ask_in_turn(t, ASK_IN_TURN);
}
