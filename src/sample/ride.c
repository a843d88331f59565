#include "sample/ride.h"

#define FASTEST_PERIOD 200000u /* ns: beyond 5 kHz riding costs too much */
#define WANT	       0.01    /* ride when this share of reads is torn */
#define LEARN_RATE     (1.0 / 128)
#define FORGET_RATE    (1.0 / 2048)

void rider_init(struct rider *r, enum ride_mode mode, uint64_t period)
{
	sched_permitted(&r->permitted);
	r->confined = CPU_COUNT(&r->permitted.set) == 1;
	r->mode = mode;
	r->core = -1;
	r->wanted = mode != RIDE_NEVER && period &&
		    (period >= FASTEST_PERIOD || mode != RIDE_AUTO);
}

void rider_insist(struct rider *r)
{
	r->wanted = true;
}

bool rider_wants(const struct rider *r, const struct target_thread *thread)
{
	if (!r->wanted || !(thread->state & (STATE_ON_CPU | STATE_GIL)))
		return false;
	return r->mode == RIDE_ALWAYS || r->mode == RIDE_WAKE ||
	       thread->moving > WANT;
}

bool rider_go_to(struct rider *r, int core)
{
	if (!r->wanted || r->refused || core < 0)
		return false;
	if (core == r->core)
		return true;
	if (!sched_pin(core)) {
		r->refused = true; /* a cpuset: validate instead */
		rider_leave(r);
		return false;
	}
	r->core = core;
	return true;
}

bool rider_go(struct rider *r, const struct target_thread *thread)
{
	return rider_go_to(r, target_thread_core(thread));
}

void rider_leave(struct rider *r)
{
	if (r->core >= 0)
		sched_unpin(&r->permitted);
	r->core = -1;
}

void rider_begin(struct rider *r, const struct target *target,
		 struct target_thread *thread)
{
	if (!target_core_address(target, thread))
		r->mark = os_thread_mark(&thread->os);
	r->switches = sched_switches();
}

/* The core as of the end of the look. The look itself read it, behind the
 * stack; what the prediction missed was read after that. */
static bool know_core(const struct target *target, struct target_thread *thread,
		      uint64_t address)
{
	return !thread->stack.missed ||
	       !memory_read_u32(target->memory, address, &thread->core);
}

bool rider_held(struct rider *r, const struct target *target,
		struct target_thread *thread)
{
	uint64_t address = target_core_address(target, thread);
	bool same;

	if (r->core < 0)
		return false;
	if (address)
		same = know_core(target, thread, address) &&
		       target_thread_core(thread) == r->core;
	else
		same = r->mark && os_thread_core(&thread->os) == r->core &&
		       os_thread_mark(&thread->os) == r->mark;
	return same && sched_core() == r->core &&
	       sched_switches() == r->switches;
}

void rider_forget(struct target_thread *thread)
{
	thread->moving -= thread->moving * FORGET_RATE;
}

void rider_learn(struct target_thread *thread, bool moved)
{
	thread->moving += ((moved ? 1.0 : 0.0) - thread->moving) * LEARN_RATE;
}
