/* Where a thread stands, by each of the sources. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/syscall.h"
#include "sample/native.h"

#define CLOCK_SOON  50000u   /* ns in which a clock is to go off */
#define CLOCK_LATE  1000000u /* ns that we wait for it */
#define CLOCK_CLOSE 100000u  /* ns from its interrupt to the switch, at most */
#define CLOCK_GRACE 100000u  /* ns after a tick that we wait for it */
#define A_MOMENT    100000u  /* ns from when a thread is put off for us */
#define RING_BUSY   2048u    /* bytes written from one tick to the next */
#define STACK_MAX   65536u   /* bytes of a stack that are copied */

/* A thread that sleeps: what it sleeps in, and its registers where no event has
 * them. False when it does not sleep. */
static bool look_at_sleeper(struct native_thread *t, bool registers)
{
	struct os_syscall call;

	t->call = -1;
	t->argument = 0;
	if (!os_syscall_read(t->os.syscall_fd, &call)) {
		t->ended = errno == ESRCH;
		return false;
	}
	t->call = call.number;
	t->argument = call.argument;
	if (registers)
		t->registers = call.registers;
	return true;
}

/* Nothing was written since the event was opened: the thread has slept on, or
 * it has run on. */
static void look_at_unknown(const struct native *n, struct native_thread *t)
{
	struct os_thread os = OS_THREAD_INIT;

	t->standing = look_at_sleeper(t, true);
	t->running = !t->standing;
	if (t->running && os_thread_open(&os, n->pid, t->tid) == 0)
		t->core = os_thread_core(&os);
	os_thread_release(&os);
}

/* Whether the registers are those that the thread left its CPU with. */
static bool has_registers(const struct native *n, const struct perf_look *look)
{
	if (look->running || !look->sampled)
		return false;
	return n->options.source == REGISTERS_SWITCH ||
	       (look->preempted && look->n_stack &&
		look->time - look->sample_time < CLOCK_CLOSE);
}

static void take_look(struct native *n, struct native_thread *t,
		      const struct perf_look *look)
{
	bool asleep = !look->running && !look->preempted;

	t->core = (int)look->cpu;
	t->left = look->time;
	t->running = !asleep;
	t->standing = has_registers(n, look);
	if (t->standing) {
		t->registers = look->registers;
		t->n_kernel = look->n_kernel;
		memcpy(t->kernel, look->kernel,
		       look->n_kernel * sizeof(*t->kernel));
		t->n_proof = look->n_stack;
		memcpy(t->proof, look->stack, look->n_stack);
	}
	if (asleep && look_at_sleeper(t, !t->standing))
		t->standing = true;
}

/* Whether the last look still holds. One that runs may be anywhere. */
static bool nothing_new(const struct native_thread *t, uint64_t head)
{
	return t->looked && t->standing && t->head == head;
}

static void look_at_ring(struct native *n, struct native_thread *t)
{
	struct perf_look look;

	if (nothing_new(t, perf_event_head(&t->event)))
		return;
	t->call = -1;
	t->n_kernel = t->n_proof = 0;
	if (!perf_event_look(&t->event, &look)) {
		t->running = true;
		t->standing = false;
		return;
	}
	t->head = look.head;
	if (look.known)
		take_look(n, t, &look);
	else
		look_at_unknown(n, t);
}

static void look_at_proc(struct native_thread *t)
{
	uint64_t head = os_thread_mark(&t->os);

	/* One that has not run yet, or has ended: that proves nothing. */
	if (!head)
		t->has_picture = false;
	else if (nothing_new(t, head))
		return;
	t->head = head;
	t->standing = look_at_sleeper(t, true);
	t->running = !t->standing;
}

/* A thread that has ended stands nowhere, and the list is to be made anew. */
static void note_end(struct native *n, struct native_thread *t)
{
	t->running = t->standing = false;
	t->core = -1;
	n->listed = 0;
}

void native_look(struct native *n, struct native_thread *t)
{
	t->planned = false;
	if (t->refused || t->ended)
		return;
	if (n->options.source == REGISTERS_STOP)
		look_at_proc(t);
	else
		look_at_ring(n, t);
	if (t->ended)
		note_end(n, t);
	t->looked = true;
	t->known = t->has_picture && t->pictured == t->head;
}

/* Who wakes us on its core puts it off, too: that was a moment ago. */
void native_judge(struct native_thread *t, uint64_t woke)
{
	bool ready = t->running && t->standing && t->left + A_MOMENT < woke;

	if (ready != t->ready)
		t->has_picture = t->known = false;
	t->ready = ready;
}

/* As far as the stack is known to reach, so that no read goes beyond it. */
static size_t wanted_bytes(const struct native_thread *t)
{
	uint64_t sp = t->registers.sp, size;

	if (!t->top || sp >= t->top || t->top - sp > (1u << 30))
		return 0;
	size = t->top - sp + STACK_RED_ZONE;
	return size < STACK_MAX ? (size_t)size : STACK_MAX;
}

static void place_stack(struct native_thread *t, size_t size)
{
	t->stack_at = t->registers.sp - STACK_RED_ZONE;
	t->whole = t->stack_at + size == t->top;
	t->size = size;
}

static void reserve_copy(struct native_thread *t, size_t size)
{
	if (size > t->capacity) {
		t->capacity = size + size / 2;
		t->copy = xrealloc(t->copy, t->capacity);
	}
	t->stack = t->copy;
}

int native_take_visit(struct native_thread *t, const struct visit *visit)
{
	t->registers = visit->registers;
	t->standing = t->planned = false;
	if (!visit->stack_size || visit->registers.sp >= t->top)
		return -ERR_LIMIT;
	place_stack(t, visit->stack_size);
	if (!t->whole)
		return -ERR_LIMIT;
	t->stack = visit->stack;
	t->planned = true;
	t->running = !visit->asleep;
	t->ready = false;
	t->call = visit->call;
	t->argument = visit->argument;
	t->n_kernel = t->n_proof = 0;
	return 0;
}

void native_plan(struct native_thread *t, struct pieces *pieces)
{
	size_t size = wanted_bytes(t);

	t->planned = size > 0;
	if (!t->planned)
		return;
	place_stack(t, size);
	reserve_copy(t, size);
	t->piece = pieces_add(pieces, t->stack_at, t->copy, size);
}

void native_copied(struct native_thread *t, const struct pieces *pieces)
{
	t->planned = t->planned && pieces->good[t->piece];
}

static bool still_sleeps(struct native_thread *t)
{
	struct os_syscall call;

	return os_thread_mark(&t->os) == t->head &&
	       os_syscall_read(t->os.syscall_fd, &call) &&
	       call.registers.sp == t->registers.sp &&
	       call.registers.pc == t->registers.pc;
}

/* Whether the top of the stack is still as the clock's interrupt found it. */
static bool is_proven(const struct native *n, const struct native_thread *t)
{
	unsigned char now[PERF_STACK_MAX];

	if (!t->n_proof)
		return true;
	if (t->planned && t->size >= STACK_RED_ZONE + t->n_proof)
		return !memcmp(t->stack + STACK_RED_ZONE, t->proof, t->n_proof);
	return !memory_read(n->memory, t->registers.sp, now, t->n_proof) &&
	       !memcmp(now, t->proof, t->n_proof);
}

bool native_held(const struct native *n, struct native_thread *t)
{
	if (n->options.source != REGISTERS_STOP)
		return perf_event_head(&t->event) == t->head && is_proven(n, t);
	return n->stop.tid == t->tid || still_sleeps(t);
}

/* ---- catching ---- */

static struct native_thread *runner_on(const struct native *n, int core)
{
	for (uint32_t i = 0; i < n->n_threads; i++)
		if (n->threads[i]->running && n->threads[i]->core == core &&
		    !n->threads[i]->refused)
			return n->threads[i];
	return NULL;
}

static void await_clock(const struct native_thread *t, uint64_t until)
{
	struct pollfd fd = { .fd = t->event.fd, .events = POLLIN };
	uint64_t now = clock_now(), wait = until > now ? until - now : 0;
	struct timespec patience = { (time_t)(wait / NS_PER_SECOND),
				     (long)(wait % NS_PER_SECOND) };

	ppoll(&fd, 1, &patience, NULL);
}

/* To set a timer whenever a thread comes to its CPU is expensive for one that
 * does so all the time; and that one will hardly run when the clock should go
 * off. The ring grows downwards. */
static bool switches_much(struct native_thread *t)
{
	uint64_t grown = t->rested - t->head;

	t->rested = t->head;
	return grown > RING_BUSY;
}

/* The clock of a thread that runs on goes off at the moment; the moment itself
 * is for those that sleep. */
void native_sleep(struct native *n, int core, uint64_t until)
{
	struct native_thread *t = core < 0 ? NULL : runner_on(n, core);
	uint64_t now = clock_now();

	if (t && switches_much(t))
		t = NULL;
	if (n->armed && n->armed != t)
		perf_event_disarm(&n->armed->event);
	n->armed = t;
	if (!t || until <= now + CLOCK_SOON) {
		clock_sleep_until(until);
		return;
	}
	perf_event_arm(&t->event, until - now);
	await_clock(t, until + CLOCK_GRACE);
}

static bool catch_by_clock(struct native *n, struct native_thread *t)
{
	native_look(n, t);
	if (t->standing)
		return true;
	perf_event_arm(&t->event, CLOCK_SOON);
	await_clock(t, clock_now() + CLOCK_LATE);
	perf_event_disarm(&t->event);
	native_look(n, t);
	return t->standing;
}

static bool catch_by_switch(struct native *n, struct native_thread *t)
{
	native_look(n, t);
	return t->standing;
}

static bool catch_by_stop(struct native *n, struct native_thread *t)
{
	int status;

	native_look(n, t);
	if (t->standing)
		return true;
	if (t->ended)
		return false;
	status = stop_thread(&n->stop, t->tid, &t->registers);
	t->standing = status == 0;
	t->running = true;
	if (status == -ERR_PERMISSION) {
		t->refused = true;
		n->n_refused++;
		if (!n->refusal.code)
			fail(&n->refusal, ERR_PERMISSION,
			     "thread %d may not be stopped; does a debugger "
			     "trace it?",
			     (int)t->tid);
	}
	return t->standing;
}

bool native_catch(struct native *n, struct native_thread *t)
{
	uint64_t head = t->head;
	bool caught;

	t->known = false;
	if (t->refused || t->ended)
		return false;
	if (n->options.source == REGISTERS_STOP)
		return catch_by_stop(n, t);
	if (n->options.source == REGISTERS_CLOCK)
		caught = catch_by_clock(n, t);
	else
		caught = catch_by_switch(n, t);
	t->ready &= t->standing && t->head == head; /* it still stands there */
	/* The ring does not tell of a thread's end. */
	if (!caught)
		look_at_sleeper(t, false);
	if (t->ended)
		note_end(n, t);
	return caught;
}

void native_release(struct native *n)
{
	stop_release(&n->stop);
}

void native_mark_text(uint64_t mark, char text[NATIVE_MARK_SIZE])
{
	const char *name = mark == NATIVE_MARK_GIL   ? "GIL"
			   : mark == NATIVE_MARK_CPU ? "CPU"
						     : NULL;

	if (!name)
		name = os_syscall_wait((long)mark);
	snprintf(text, NATIVE_MARK_SIZE, "<waiting: %s>", name ? name : "?");
}
