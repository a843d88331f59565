#include "sample/sampler.h"

#include "base/clock.h"
#include "sample/catch.h"

#define HOPS	4      /* times a thread is followed to another core */
#define PAUSE	20000u /* ns between hops: a thread must be let run */
#define RETRIES 2      /* reads from elsewhere before a torn stack is kept */
/* A stack that is as it was at the look before needs no second copy, so none is
 * asked for; but when that turns out wrong it takes a second read. So it is not
 * tried again for as many looks. */
#define RESTLESS 16

void sampler_init(struct sampler *s, enum ride_mode mode, uint64_t period)
{
	*s = (struct sampler){ 0 };
	rider_init(&s->rider, mode, period);
}

bool sampler_may_visit(const struct sampler *s, struct target *t,
		       const struct target_thread *thread)
{
	return s->rider.wanted && s->rider.mode != RIDE_WAKE &&
	       !s->rider.confined && !thread->unvisited && target_has_visits(t);
}

/* Whether a thread is to be read by the kernel on its core, not by us there. */
static bool wants_visit(const struct sampler *s, struct target *t,
			const struct target_thread *thread)
{
	return rider_wants(&s->rider, thread) &&
	       sampler_may_visit(s, t, thread);
}

/* Or by us. */
static bool wants_ride(const struct sampler *s, struct target *t,
		       const struct target_thread *thread)
{
	return rider_wants(&s->rider, thread) && !wants_visit(s, t, thread);
}

/* A thread that is met in the middle of a change of frames must go on first;
 * one whose core we have taken is better ridden. */
static bool visit_thread(struct sampler *s, struct target *t,
			 struct target_thread *thread)
{
	for (int hop = 0; hop < HOPS; hop++) {
		int core = target_thread_core(thread), status;

		if (core == sched_core())
			return false;
		status = target_visit(t, thread);
		if (status == 0 && thread->stack.rooted) {
			thread->state |= STATE_RIDDEN;
			thread->visited = true;
			rider_forget(thread);
			return true;
		}
		if (status == -ERR_LIMIT || status == -ERR_PERMISSION)
			thread->unvisited = VISIT_PAUSE;
		if (status == 0 && !thread->stack.unreadable)
			clock_sleep_until(clock_now() + PAUSE);
		else if (status != -ERR_GONE ||
			 target_thread_core(thread) == core)
			return false;
	}
	return false;
}

/* To go to a core may take milliseconds, if its thread goes on first: it may
 * have fallen asleep meanwhile. */
static void arrive(struct target *t, struct target_thread *thread,
		   uint32_t ridden)
{
	target_ask(t, thread);
	thread->state = target_thread_state(t, thread) | ridden;
}

/* Read a thread again from its own core, following it when it moves. */
static bool ride_thread(struct sampler *s, struct target *t,
			struct target_thread *thread)
{
	for (int hop = 0; hop < HOPS; hop++) {
		if (!rider_go(&s->rider, thread))
			return false;
		if (hop)
			clock_sleep_until(clock_now() + PAUSE);
		rider_begin(&s->rider, t, thread);
		if (target_look_thread(t, thread) < 0)
			return false;
		if (rider_held(&s->rider, t, thread) && thread->stack.rooted) {
			arrive(t, thread, STATE_RIDDEN);
			return true;
		}
		/* Asleep, perhaps: then it stands still anyway. Or caught in
		 * the middle of a change of frames: then it must go on. */
		if (stack_stood_still(&thread->stack)) {
			arrive(t, thread, 0);
			return true;
		}
	}
	return false;
}

static bool retry_thread(struct target *t, struct target_thread *thread)
{
	for (int i = 0; i < RETRIES; i++)
		if (target_look_thread(t, thread) == 0 &&
		    stack_stood_still(&thread->stack))
			return true;
	return false;
}

/* The last resort: keep what two looks in a row agree on. */
static void keep_good_part(struct target *t, struct target_thread *thread)
{
	stack_remember(&thread->stack);
	if (target_look_thread(t, thread) < 0 ||
	    stack_stood_still(&thread->stack))
		return;
	stack_cut_to_common(&thread->stack);
	thread->state |= STATE_UNPROVEN | STATE_TORN;
}

/* Whether the stack needs no proof beyond this. */
static bool is_proven(struct sampler *s, struct target *t,
		      struct target_thread *thread, bool held)
{
	if (held && thread->stack.rooted) {
		thread->state |= STATE_RIDDEN;
		rider_forget(thread);
		return true;
	}
	if (thread->to_visit)
		return thread->os_state == 'R' && visit_thread(s, t, thread);
	if (stack_same_as_before(&thread->stack)) {
		thread->calm++;
		return true;
	}
	thread->calm = thread->stack.twice ? thread->calm + 1 : -RESTLESS;
	return false;
}

/* `still`, that the stack read so far stood still, says nothing once another
 * one has been read. */
static bool read_on_core(struct sampler *s, struct target *t,
			 struct target_thread *thread, bool *still)
{
	if (!thread->to_visit && wants_visit(s, t, thread)) {
		*still = false;
		if (visit_thread(s, t, thread))
			return true;
	}
	if (!s->rider.wanted || s->rider.refused)
		return false;
	*still = false;
	return ride_thread(s, t, thread);
}

/* A thread that was to be visited is not where it seemed to run: it sleeps by
 * now, or we have taken its core. */
static bool look_again(struct target *t, struct target_thread *thread)
{
	if (thread->to_visit)
		target_ask(t, thread);
	return target_look_thread(t, thread) == 0;
}

/* `held`: the look was taken from the thread's own core and it did not run. */
static void prove_thread(struct sampler *s, struct target *t,
			 struct target_thread *thread, bool held)
{
	bool still;

	if (is_proven(s, t, thread, held))
		return;
	if ((thread->to_visit || !thread->stack.twice) &&
	    !look_again(t, thread))
		return;
	still = stack_stood_still(&thread->stack);
	if (!thread->to_visit)
		rider_learn(thread, !still);
	if (still &&
	    (!rider_wants(&s->rider, thread) || thread->os_state == 'S'))
		return;
	s->counts.retried += !still;
	if (read_on_core(s, t, thread, &still))
		return;
	if (still || retry_thread(t, thread))
		return;
	keep_good_part(t, thread);
}

void sampler_prove(struct sampler *s, struct target *t,
		   struct target_thread *thread)
{
	prove_thread(s, t, thread, false);
}

void sampler_count(struct sampler_counts *c, uint32_t state)
{
	c->samples++;
	c->torn += !!(state & STATE_TORN);
	c->unproven += !!(state & STATE_UNPROVEN);
	c->unreadable += !!(state & STATE_UNREADABLE);
	c->ridden += !!(state & STATE_RIDDEN);
}

static void count_thread(struct sampler_counts *c,
			 const struct target_thread *thread)
{
	if (target_thread_is_left(thread))
		return;
	if (!thread->good) {
		c->lost++;
		return;
	}
	sampler_count(c, thread->state);
	c->visited += thread->visited;
}

void sampler_count_native(struct sampler_counts *c, uint32_t state)
{
	c->native += !!(state & STATE_NATIVE);
	c->broken += !!(state & STATE_BROKEN);
	c->unmerged += !!(state & STATE_UNMERGED);
}

/* The thread of this target that we are riding, or NULL. */
static struct target_thread *ridden_thread(const struct sampler *s,
					   struct target *t)
{
	for (uint32_t i = 0; s->rider.core >= 0 && i < t->n_threads; i++)
		if (target_thread_core(t->threads[i]) == s->rider.core &&
		    wants_ride(s, t, t->threads[i]))
			return t->threads[i];
	return NULL;
}

static void choose_visits(const struct sampler *s, struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];

		thread->to_visit = wants_visit(s, t, thread);
		thread->unvisited -= thread->unvisited > 0;
	}
}

static bool has_thread(const struct target *t,
		       const struct target_thread *thread)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i] == thread)
			return true;
	return false;
}

/* Look at all threads, unless each is to be visited anyway. `held`: the one we
 * ride did not run meanwhile. */
static int look(struct sampler *s, struct target *t, uint64_t now, bool *held)
{
	struct target_thread *ridden = ridden_thread(s, t);
	int status;

	*held = false;
	t->ridden = ridden;
	t->burst.wanted = s->bursts;
	choose_visits(s, t);
	if (!ridden && target_visits_suffice(t, now))
		return 0;
	if (ridden)
		rider_begin(&s->rider, t, ridden);
	status = target_look(t, now);
	if (status < 0)
		return status;
	/* The look may have found the thread gone. */
	if (ridden && has_thread(t, ridden))
		*held = rider_held(&s->rider, t, ridden);
	target_look_os(t, now);
	return 0;
}

static int look_and_prove(struct sampler *s, struct target *t, uint64_t now)
{
	bool held;
	int status = look(s, t, now, &held);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];

		if (thread->good) {
			thread->state = target_thread_state(t, thread);
			prove_thread(s, t, thread, held && thread == t->ridden);
		}
	}
	return 0;
}

static void count_threads(struct sampler *s, const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		count_thread(&s->counts, t->threads[i]);
}

int sampler_look(struct sampler *s, struct target *t, uint64_t now)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i]->visited = false;
	if (t->native)
		return catch_take(s, t, now);
	return target_rested(t, now) ? 0 : look_and_prove(s, t, now);
}

int sampler_take(struct sampler *s, struct target *t, uint64_t now)
{
	int status = sampler_look(s, t, now);

	if (status == 0)
		count_threads(s, t);
	else if (status != -ERR_GONE)
		s->counts.lost += t->n_threads;
	return status;
}

bool sampler_next(struct sampler *s, struct target *t, uint64_t *when)
{
	if (!burst_next(t, when))
		return false;
	count_threads(s, t);
	return true;
}

void sampler_settle(struct sampler *s, struct target *const *targets,
		    uint32_t n)
{
	struct target_thread *best = NULL;

	for (uint32_t i = 0; i < n; i++) {
		int core = targets[i]->native ? catch_core(s, targets[i]) : -1;

		if (core >= 0 && rider_go_to(&s->rider, core))
			return;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < targets[i]->n_threads; k++) {
			struct target_thread *thread = targets[i]->threads[k];

			if (wants_ride(s, targets[i], thread) &&
			    (!best || thread->moving > best->moving))
				best = thread;
		}
	if (!best || !rider_go(&s->rider, best))
		rider_leave(&s->rider);
}

void sampler_sleep(struct sampler *s, struct target *const *targets, uint32_t n,
		   uint64_t until)
{
	uint64_t soonest = clock_now() + PAUSE;

	sampler_settle(s, targets, n);
	for (uint32_t i = 0; i < n; i++) {
		struct native *native = targets[i]->native;

		/* From its own core a thread is met at the same place again,
		 * unless it is let run. */
		if (native && until < soonest)
			until = soonest;
		if (native && native->options.source == REGISTERS_CLOCK &&
		    catch_core(s, targets[i]) == s->rider.core) {
			native_sleep(native, s->rider.core, until);
			return;
		}
	}
	clock_sleep_until(until);
}
