#include "sample/catch.h"

#include <sys/syscall.h>

#include "base/clock.h"

#define HOPS  4	     /* times a thread is followed to another core */
#define WAITS 2	     /* times we wait for a clock or a stop */
#define PAUSE 20000u /* ns: a thread in the middle of a change must go on */

/* A thread, as Python knows it (NULL: it does not) and as the kernel does. */
struct pair {
	struct target_thread *python;
	struct native_thread *native;
};

/* ---- before the look ---- */

/* Of two thread states with the id of one thread that are of two interpreters.
 */
static bool is_same_thread(const struct target_thread *a,
			   const struct target_thread *b)
{
	return a != b && a->tid && a->tid == b->tid &&
	       a->interpreter != b->interpreter;
}

/* What the thread does in another interpreter, from which it came into the one
 * of this thread state; NULL: it did not. */
static const struct target_thread *find_below(
	const struct target *t, const struct target_thread *thread)
{
	for (uint32_t i = 0; t->n_interpreters > 1 && i < t->n_threads; i++)
		if (is_same_thread(t->threads[i], thread) &&
		    t->threads[i]->stack.n_frames)
			return t->threads[i];
	return NULL;
}

/* A thread state whose thread is in another interpreter just now. */
static bool is_below(const struct target *t, const struct target_thread *thread)
{
	return target_runs_elsewhere(t, thread) && find_below(t, thread);
}

/* A thread that was just born has its maker's id for a moment. The older of two
 * that claim an id has it; lists begin with the youngest. */
static void link_threads(struct target *t)
{
	struct native *n = t->native;

	for (uint32_t i = 0; i < n->n_threads; i++)
		n->threads[i]->python = false;
	for (uint32_t i = t->n_threads; i-- > 0;) {
		struct target_thread *thread = t->threads[i];
		struct native_thread *native =
			thread->tid ? native_find(n, thread->tid) : NULL;

		thread->native = NULL;
		thread->below = is_below(t, thread);
		if (!native || native->python || native->refused ||
		    thread->below)
			continue;
		native->python = true;
		thread->native = native;
		if (native->partner != thread->stack.tstate)
			native->has_picture = native->known = false;
	}
	for (uint32_t i = 0; i < n->n_threads; i++)
		if (!n->threads[i]->python && n->threads[i]->partner)
			n->threads[i]->has_picture = n->threads[i]->known =
				false;
}

/* A thread that Python has told of and the kernel's list has not. */
static bool has_stranger(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->tid &&
		    !native_find(t->native, t->threads[i]->tid))
			return true;
	return false;
}

static void look_natives(const struct sampler *s, struct target *t,
			 uint64_t now)
{
	native_list(t->native, now, has_stranger(t));
	link_threads(t);
	for (uint32_t i = 0; i < t->native->n_threads; i++) {
		native_look(t->native, t->native->threads[i]);
		native_judge(t->native->threads[i], s->woke);
	}
}

/* Whether no thread of the process has run since all were read: then nothing
 * in it can have changed. */
static bool all_settled(const struct target *t)
{
	const struct native *n = t->native;

	for (uint32_t i = 0; i < n->n_threads; i++)
		if (!native_is_settled(n->threads[i]))
			return false;
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!t->threads[i]->native || !t->threads[i]->good)
			return false;
	return n->n_threads && t->n_threads;
}

/* ---- one thread ---- */

/* Read a thread that stands; true when it stood until the end. */
static bool read_pair(struct target *t, const struct pair *p)
{
	int status;

	if (p->python) {
		status = target_look_thread(t, p->python);
	} else {
		pieces_clear(&t->pieces);
		native_plan(p->native, &t->pieces);
		status = pieces_read(&t->pieces, t->memory);
		native_copied(p->native, &t->pieces);
	}
	return status == 0 && native_held(t->native, p->native);
}

static void know_wait(const struct target *t, const struct pair *p)
{
	p->native->gil_wait = p->python && !p->native->running &&
			      p->native->call == SYS_futex &&
			      !t->python.layout.free_threaded &&
			      target_in_gil(t, p->python, p->native->argument);
}

static void walk_pair(struct target *t, const struct pair *p)
{
	const struct target_thread *below =
		p->python ? find_below(t, p->python) : NULL;

	know_wait(t, p);
	native_walk(t->native, p->native, p->python ? &p->python->stack : NULL,
		    below ? &below->stack : NULL);
}

/* Walk what was read and proven. What the copy does not have the walk reads by
 * itself; then the thread must have stood until after that. */
static bool walk_proven(struct target *t, const struct pair *p)
{
	bool whole = native_is_whole(p->native);

	walk_pair(t, p);
	if (whole || native_held(t->native, p->native))
		return true;
	p->native->has_picture = p->native->known = false;
	return false;
}

/* Whether a thread was met in the middle of a change of Python frames. */
static bool is_between(const struct pair *p)
{
	return p->python && !p->python->stack.rooted &&
	       !p->python->stack.truncated;
}

static bool go(struct sampler *s, const struct target *t,
	       const struct native_thread *n)
{
	return t->native->options.source == REGISTERS_STOP ||
	       (n->core >= 0 && rider_go_to(&s->rider, n->core));
}

/* Make a thread stand still and read it. The stop ends before the walk, unless
 * the walk has to read the stack. */
static bool catch_once(struct target *t, const struct pair *p)
{
	bool caught = native_catch(t->native, p->native) && read_pair(t, p);
	bool whole = native_is_whole(p->native);

	if (caught && !whole)
		caught = walk_proven(t, p);
	native_release(t->native);
	if (caught && whole)
		walk_pair(t, p);
	return caught;
}

/* It does not take its own frames. */
bool catch_may_visit(const struct sampler *s, struct target *t,
		     const struct native_thread *n)
{
	const struct native_options *o = &t->native->options;

	return o->source == REGISTERS_SWITCH && !o->kernel &&
	       s->rider.mode != RIDE_WAKE && !s->rider.confined && n->running &&
	       n->top && !n->unvisited && target_has_visits(t);
}

static bool visit_pair(struct sampler *s, struct target *t,
		       const struct pair *p)
{
	struct native_thread *n = p->native;

	for (int hop = 0; hop < HOPS; hop++) {
		int core = n->core, status;

		if (!catch_may_visit(s, t, n) || core == sched_core())
			return false;
		status = target_visit_native(t, p->python, n);
		if (status == 0 && !is_between(p)) {
			walk_pair(t, p);
			if (p->python)
				p->python->visited = true;
			return true;
		}
		if (status == -ERR_LIMIT || status == -ERR_PERMISSION)
			n->unvisited = VISIT_PAUSE;
		if (status == -ERR_GONE)
			native_look(t->native, n);
		if (status == 0 && !p->python->stack.unreadable)
			clock_sleep_until(clock_now() + PAUSE);
		else if (status != -ERR_GONE || n->core == core)
			return false;
	}
	return false;
}

static bool catch_pair(struct sampler *s, struct target *t,
		       const struct pair *p)
{
	int hops = t->native->options.source == REGISTERS_SWITCH ? HOPS : WAITS;
	bool caught = false;

	for (int hop = 0; hop < hops; hop++) {
		if (caught)
			clock_sleep_until(clock_now() + PAUSE);
		if (!go(s, t, p->native))
			return false;
		caught = catch_once(t, p);
		if (caught && !is_between(p))
			return true;
	}
	return caught;
}

/* Whether there is a picture of the thread now, read by the look or anew. */
static bool picture(struct sampler *s, struct target *t, const struct pair *p)
{
	struct native_thread *n = p->native;

	if (native_is_settled(n) && (!p->python || p->python->good))
		return true;
	if (n->standing && !n->known && (!p->python || p->python->good) &&
	    !is_between(p) && native_held(t->native, n) && walk_proven(t, p))
		return true;
	return !n->ended && (visit_pair(s, t, p) || catch_pair(s, t, p));
}

/* ---- all threads ---- */

static void settle_state(struct target *t, const struct pair *p)
{
	struct target_thread *thread = p->python;

	thread->os_state = native_on_cpu(p->native) ? 'R' : 'S';
	thread->core = (uint32_t)p->native->core;
	thread->gil_wait = p->native->gil_wait;
	thread->state = target_thread_state(t, thread) | p->native->state;
	if (native_on_cpu(p->native) &&
	    t->native->options.source != REGISTERS_STOP)
		thread->state |= STATE_RIDDEN;
}

bool catch_take_visit(struct target *t, struct target_thread *python,
		      struct native_thread *native, const struct visit *visit)
{
	struct pair p = { python, native };

	if (native_take_visit(native, visit) < 0 ||
	    (python && target_take_visit(t, python, visit) < 0) ||
	    is_between(&p))
		return false;
	walk_pair(t, &p);
	if (python)
		settle_state(t, &p);
	return true;
}

/* Without a native picture a thread is one as any other. */
static void take_python(struct sampler *s, struct target *t,
			struct target_thread *thread)
{
	if (thread->left_alone && target_look_thread(t, thread) < 0)
		return;
	if (!thread->good)
		return;
	if (thread->native)
		thread->os_state = native_on_cpu(thread->native) ? 'R' : 'S';
	thread->state = target_thread_state(t, thread);
	thread->unvisited -= thread->unvisited > 0;
	sampler_prove(s, t, thread);
}

static void take_pair(struct sampler *s, struct target *t, const struct pair *p)
{
	p->native->unvisited -= p->native->unvisited > 0;
	p->native->good = picture(s, t, p);
	if (p->python && p->native->good)
		settle_state(t, p);
	else if (p->python)
		take_python(s, t, p->python);
}

static void count_all(struct sampler *s, const struct target *t)
{
	const struct native *n = t->native;

	for (uint32_t i = 0; i < n->n_threads; i++) {
		const struct native_thread *thread = n->threads[i];

		s->counts.samples += !thread->python && thread->good;
		if (thread->good)
			sampler_count_native(&s->counts, thread->state);
	}
}

static void take_all(struct sampler *s, struct target *t)
{
	struct native *n = t->native;

	for (uint32_t i = 0; i < n->n_threads; i++)
		n->threads[i]->good = false;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct pair p = { t->threads[i], t->threads[i]->native };

		if (p.native)
			take_pair(s, t, &p);
		else
			take_python(s, t, p.python);
	}
	for (uint32_t i = 0; i < n->n_threads; i++) {
		struct pair p = { NULL, n->threads[i] };

		if (!p.native->python && !p.native->refused)
			take_pair(s, t, &p);
	}
}

static bool some_alone(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!t->threads[i]->native)
			return true;
	return false;
}

int catch_take(struct sampler *s, struct target *t, uint64_t now)
{
	int status;

	stop_settle(&t->native->stop);
	look_natives(s, t, now);
	if (!all_settled(t)) {
		t->ridden = NULL;
		status = target_look(t, now);
		if (status < 0)
			return status;
		link_threads(t); /* the look may have found others */
		if (some_alone(t))
			target_look_os(t, now);
		take_all(s, t);
	}
	count_all(s, t);
	return 0;
}

void catch_standing(struct target *t)
{
	struct native *n = t->native;

	link_threads(t);
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct pair p = { t->threads[i], t->threads[i]->native };

		if (!p.native || !p.python->good)
			continue;
		walk_pair(t, &p);
		p.native->good = true;
		p.python->state |= p.native->state;
	}
	for (uint32_t i = 0; i < n->n_threads; i++) {
		struct pair p = { NULL, n->threads[i] };

		if (p.native->python)
			continue;
		walk_pair(t, &p);
		p.native->good = true;
	}
}

int catch_core(const struct sampler *s, struct target *t)
{
	const struct native *n = t->native;
	int core = -1;

	if (n->options.source == REGISTERS_STOP)
		return -1;
	for (uint32_t i = 0; i < n->n_threads; i++) {
		const struct native_thread *thread = n->threads[i];

		if (!thread->running || thread->core < 0 ||
		    catch_may_visit(s, t, thread))
			continue;
		if (thread->core == s->rider.core)
			return thread->core;
		core = thread->core;
	}
	return core;
}
