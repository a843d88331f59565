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
 * own structure: this holds for every version.
 *
 * A process in which all sleep is not even read, until something says that one
 * of them has run. */
#include "sample/target.h"

#include "base/clock.h"
#include "os/process.h"

#define OS_EVERY	500000u /* ns */
#define ASK_ALL		8	/* with up to so many threads, ask them all */
#define ASK_IN_TURN	2
#define BELIEVE		8 /* looks at which going on is taken for running */
#define ASKED_FOR_TURNS 8 /* threads, at most */

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
	       (thread->went_on || thread->ticked) &&
	       ++thread->unasked < BELIEVE;
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

/* ---- whether anything has happened at all ---- */

static bool is_doubtful(const struct target_thread *thread)
{
	return !thread->good ||
	       thread->state & (STATE_TORN | STATE_UNPROVEN | STATE_UNREADABLE);
}

/* Whether the last look was good, and met every thread asleep. */
static bool slept(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (is_doubtful(t->threads[i]) ||
		    t->threads[i]->state & STATE_ON_CPU)
			return false;
	return t->n_threads;
}

/* Whether no thread has a GIL, as far as can be told. */
static bool is_gil_free(const struct target *t)
{
	const struct layout *l = &t->python.layout;
	uint64_t holder;
	uint32_t locked;

	if (t->python.current)
		return !memory_read_u64(t->memory, t->python.current,
					&holder) &&
		       !holder;
	if (l->free_threaded || l->gil_style != GIL_INTERPRETER)
		return false;
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		if (!t->interpreters[i].gil ||
		    memory_read_u32(t->memory,
				    t->interpreters[i].gil + l->gil.locked,
				    &locked) ||
		    locked == 1)
			return false;
	return true;
}

/* A number that has changed if one of the threads has come to a CPU since; 0
 * when that cannot be told. Of many it is not asked: who runs without the GIL
 * does not change what Python does. */
static uint64_t turns_so_far(struct target *t)
{
	uint64_t sum = 0;

	if (t->n_threads > ASKED_FOR_TURNS)
		return is_gil_free(t);
	for (uint32_t i = 0; i < t->n_threads; i++) {
		uint64_t turns = os_thread_turns(&t->threads[i]->os);

		if (!turns)
			return 0;
		sum += turns;
	}
	return sum;
}

/* The CPU time of a process tells of all its threads, but of those that run
 * only what was counted at the kernel's last tick, some milliseconds ago. */
bool target_rested(struct target *t, uint64_t now)
{
	uint64_t cpu = t->cpu, turns = t->turns;

	if (!target_whole_is_due(t, now))
		return false;
	t->cpu = slept(t) ? process_cpu_time(t->pid) : 0;
	t->turns = t->cpu ? turns_so_far(t) : 0;
	if (!cpu || t->cpu != cpu || !turns || t->turns != turns)
		return false;
	t->last_os = now; /* what the kernel said still holds, too */
	return true;
}
