#include "sample/target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "sample/clocks.h"
#include "sample/lists.h"

#define WHOLE_EVERY	  500000u   /* ns between looks at the lists */
#define WHOLE_IN_WINDOW	  12000000u /* the same of glances */
#define FOLLOWS		  2 /* times the lists are followed in one look */
#define VISITS_LAST	  3500000u  /* ns for which visits do without a look */
#define VISITS_LAST_LONG  15500000u /* those in windows, too */
#define GIL_SIZE	  256u
#define COMPARE_BITS	  23  /* 2^23 ns between two comparisons of all code */
#define CALM		  256 /* stacks without code that was not known */
#define EACH_GENERATION	  (NODE_NOT_COUNTED | UINT64_C(1) << 61)
#define WINDOW_GENERATION (UINT64_C(1) << 63)

void target_new_over(struct target **out, struct memory *memory,
		     const struct python *python)
{
	struct target *t = xcalloc(1, sizeof(*t));

	t->pid = t->main_tid = python->pid;
	t->memory = memory;
	t->python = *python;
	t->python.memory = memory;
	t->record = ID_NONE;
	t->shared_pids = true;
	*out = t;
}

int target_new(struct target **out, pid_t pid, struct error *err)
{
	uint64_t start_time = process_start_time(pid);
	struct memory *memory = NULL;
	struct python python;
	int status;

	status = memory_open_process(&memory, pid, err);
	if (status == 0)
		status = python_open(&python, pid, memory, err);
	if (status < 0) {
		memory_free(memory);
		return status;
	}
	target_new_over(out, memory, &python);
	(*out)->start_time = start_time;
	(*out)->shared_pids = process_inner_pid(pid) == pid;
	return 0;
}

static void thread_free(struct target_thread *thread)
{
	clock_track_free(thread->track);
	stack_release(&thread->stack);
	node_path_release(&thread->path);
	os_thread_release(&thread->os);
	free(thread);
}

void target_thread_end(struct target *t, struct target_thread *thread)
{
	thread->ended = true;
	ALLOC_GROW(t->ended, t->n_ended + 1, t->ended_capacity);
	t->ended[t->n_ended++] = thread;
}

void target_bury(struct target *t)
{
	for (uint32_t i = 0; i < t->n_ended; i++)
		thread_free(t->ended[i]);
	t->n_ended = 0;
}

void target_free(struct target *t)
{
	if (!t)
		return;
	clocks_leave(t);
	target_bury(t);
	free(t->ended);
	for (uint32_t i = 0; i < t->n_threads; i++)
		thread_free(t->threads[i]);
	free(t->threads);
	free(t->interpreters);
	free(t->names);
	native_free(t->native);
	visitor_free(t->visitor);
	pieces_release(&t->pieces);
	burst_release(&t->burst);
	node_table_release(&t->table);
	codes_free(t->codes);
	memory_free(t->memory);
	free(t);
}

void target_record(struct target *t, struct writer *writer, uint32_t parent,
		   uint64_t now_since_start)
{
	struct process_info info = { .pid = (uint32_t)t->pid,
				     .parent = parent,
				     .start = now_since_start };
	struct buffer command = BUFFER_INIT;
	char exe[PATH_MAX], version[64];

	process_exe(t->pid, exe);
	process_command(t->pid, &command);
	python_version_text(&t->python, version, sizeof(version));
	info.command = buffer_text(&command);
	info.exe = exe;
	info.python = version;
	t->writer = writer;
	t->record = writer_process(writer, &info);
	t->codes = codes_new(&t->python, writer);
	node_table_init(&t->table, t->codes, writer);
	buffer_release(&command);
}

bool target_is_gone(const struct target *t, const struct process_look *look)
{
	return look->start_time != t->start_time || look->state == 'Z';
}

/* Take a thread id as we see it, if this process has such a thread. */
static bool take_tid(struct target *t, struct target_thread *thread, pid_t tid)
{
	int status = -ERR_GONE;

	os_thread_release(&thread->os);
	thread->tid = 0;
	if (tid)
		status = os_thread_open(&thread->os, t->pid, tid);
	if (status == 0)
		thread->tid = tid;
	else if (status == -ERR_LIMIT)
		t->few_files = true;
	return thread->tid;
}

static bool take_inner_tid(struct target *t, struct target_thread *thread,
			   pid_t tid)
{
	if (tid && !t->shared_pids)
		tid = process_outer_tid(t->pid, tid);
	return take_tid(t, thread, tid);
}

/* Whether both Python and the kernel know of one thread only. */
static bool is_alone(const struct target *t)
{
	pid_t *tids = NULL;
	int capacity = 0;
	bool alone = t->n_threads == 1 &&
		     process_threads(t->pid, &tids, &capacity) == 1;

	free(tids);
	return alone;
}

pid_t target_thread_inner_tid(const struct target *t,
			      const struct target_thread *thread)
{
	const struct layout *l = &t->python.layout;
	pid_t native =
		(pid_t)stack_field(&thread->stack, l->thread.native_thread_id);

	return native ? native : python_tid_of(&t->python, thread->pthread);
}

/* Whether a thread's ids are others than at the look before. */
static bool ids_differ(const struct target *t,
		       const struct target_thread *thread)
{
	const struct layout *l = &t->python.layout;
	const struct stack *s = &thread->stack;

	return stack_field(s, l->thread.thread_id) != thread->pthread ||
	       stack_field(s, l->thread.native_thread_id) != thread->kernel_id;
}

/* The same, and take note of them. */
static bool ids_changed(const struct target *t, struct target_thread *thread)
{
	const struct layout *l = &t->python.layout;
	const struct stack *s = &thread->stack;
	bool changed = ids_differ(t, thread);

	thread->pthread = stack_field(s, l->thread.thread_id);
	thread->kernel_id = stack_field(s, l->thread.native_thread_id);
	return changed;
}

/* A child that was just forked has its parent's ids in its memory: the C
 * library's until it runs, Python's until Python comes to put it right. */
static void thread_identify(struct target *t, struct target_thread *thread)
{
	if (take_inner_tid(t, thread, (pid_t)thread->kernel_id) ||
	    take_inner_tid(t, thread,
			   python_tid_of(&t->python, thread->pthread)))
		return;
	if (is_alone(t))
		take_tid(t, thread, t->pid);
}

/* A program that makes code, as any does that imports, is about to free some,
 * too. */
static bool makes_code(struct target *t)
{
	uint64_t read = codes_read(t->codes);

	if (t->codes_read != read)
		t->codes_calm = 0;
	t->codes_read = read;
	return t->codes_calm++ < CALM;
}

uint64_t target_generation(struct target *t, const struct target_thread *thread)
{
	uint64_t counted = t->interpreters[thread->interpreter].code_generation;

	if (!t->window && makes_code(t))
		return EACH_GENERATION | ++t->compared;
	if (counted)
		return counted;
	if (t->window)
		return WINDOW_GENERATION | t->window;
	return NODE_NOT_COUNTED | t->last_whole >> COMPARE_BITS;
}

/* ---- the plan of a look ---- */

static bool has_field(uint32_t offset)
{
	return offset != LAYOUT_RUNTIME_NONE && offset != LAYOUT_NONE;
}

/* 0: it is not known. */
static uint64_t collecting_address(const struct target *t,
				   const struct target_interpreter *i)
{
	const struct layout *l = &t->python.layout;

	if (has_field(l->interpreter.gc_collecting))
		return i->address + l->interpreter.gc_collecting;
	if (has_field(l->runtime.gc_collecting) && t->python.runtime)
		return t->python.runtime + l->runtime.gc_collecting;
	return t->python.collecting;
}

static void plan_generation(struct target *t, struct target_interpreter *i)
{
	const struct layout *l = &t->python.layout;

	if (has_field(l->interpreter.code_generation))
		pieces_add_field(&t->pieces,
				 i->address + l->interpreter.code_generation,
				 &i->code_generation, 8);
}

static void plan_interpreter(struct target *t, struct target_interpreter *i)
{
	const struct layout *l = &t->python.layout;
	struct pieces *p = &t->pieces;

	pieces_add_field(p, i->address + l->interpreter.next, &i->next, 8);
	pieces_add_field(p, i->address + l->interpreter.threads_head,
			 &i->threads_head, 8);
	if (l->gil_style == GIL_INTERPRETER && has_field(l->interpreter.gil))
		pieces_add_field(p, i->address + l->interpreter.gil, &i->gil,
				 8);
	if (collecting_address(t, i))
		pieces_add_field(p, collecting_address(t, i), &i->collecting,
				 4);
	plan_generation(t, i);
}

static void plan_gil(struct target *t, struct target_interpreter *i)
{
	const struct layout *l = &t->python.layout;

	if (l->gil_style != GIL_INTERPRETER || !i->gil ||
	    l->thread.holds_gil != LAYOUT_NONE)
		return;
	pieces_add_field(&t->pieces, i->gil + l->gil.holder, &i->holder, 8);
	pieces_add_field(&t->pieces, i->gil + l->gil.locked, &i->locked, 4);
}

uint64_t target_core_address(const struct target *t,
			     const struct target_thread *thread)
{
	if (!t->python.has_rseq || !thread->pthread)
		return 0;
	return thread->pthread + t->python.thread_pointer +
	       (uint64_t)t->python.rseq + 4; /* cpu_id */
}

/* Behind the thread's stack: see ride.h. */
static void plan_core(struct target *t, struct target_thread *thread)
{
	uint64_t at = target_core_address(t, thread);

	if (!at)
		return;
	thread->core = UINT32_MAX;
	pieces_add(&t->pieces, at, &thread->core, sizeof(thread->core));
}

bool target_thread_may_run(const struct target_thread *thread)
{
	return thread->os_state != 'S' || (thread->state & STATE_GIL);
}

bool target_thread_is_left(const struct target_thread *thread)
{
	return thread->tid && !thread->os_state && !thread->stack.n_frames;
}

/* A thread that has not run since it was read is not read again; one that runs
 * is caught or visited, and read later, by itself. */
static bool is_left_alone(const struct target_thread *thread)
{
	if (thread->to_visit)
		return thread->good;
	return thread->native && thread->good &&
	       (!thread->native->standing || thread->native->known);
}

static void plan_thread(struct target *t, struct target_thread *thread)
{
	bool ridden = thread == t->ridden || thread->native;
	bool whole = t->whole && (ridden || thread->calm < 0);
	bool running = target_thread_may_run(thread);

	thread->left_alone = is_left_alone(thread);
	if (thread->left_alone) {
		stack_plan_state(&thread->stack, &t->pieces);
		if (thread->to_visit)
			plan_core(t, thread);
		return;
	}
	stack_plan(&thread->stack, &t->pieces, running && whole && !ridden,
		   whole);
	if (running && t->whole && !thread->native)
		plan_core(t, thread);
}

/* The tops of the stacks of threads that stand. */
static void plan_native(struct target *t)
{
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];

		if (thread->standing && !thread->known)
			native_plan(thread, &t->pieces);
	}
}

static void plan_look(struct target *t, uint64_t now)
{
	struct pieces *p = &t->pieces;

	pieces_clear(p);
	if (t->whole)
		pieces_add_field(p, t->python.interpreters, &t->head, 8);
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		if (t->whole)
			plan_interpreter(t, &t->interpreters[i]);
		else if (t->window)
			plan_generation(t, &t->interpreters[i]);
	if (t->python.current)
		pieces_add_field(p, t->python.current, &t->current, 8);
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		plan_gil(t, &t->interpreters[i]);
	for (uint32_t i = 0; i < t->n_threads; i++)
		plan_thread(t, t->threads[i]);
	plan_native(t);
	burst_plan(t, now);
}

/* ---- what a thread was doing ---- */

static bool holds_gil(const struct target *t,
		      const struct target_thread *thread)
{
	const struct layout *l = &t->python.layout;
	const struct target_interpreter *i =
		&t->interpreters[thread->interpreter];

	if (l->free_threaded)
		return (uint32_t)stack_field(&thread->stack, l->thread.state) ==
		       1;
	if (l->thread.holds_gil != LAYOUT_NONE)
		return (uint32_t)stack_field(&thread->stack,
					     l->thread.holds_gil) != 0;
	if (t->python.current)
		return t->current == thread->stack.tstate;
	if (l->gil_style == GIL_INTERPRETER && i->gil)
		return i->locked == 1 && i->holder == thread->stack.tstate;
	return false;
}

bool target_runs_elsewhere(const struct target *t,
			   const struct target_thread *thread)
{
	bool met = false;

	if (t->n_interpreters < 2 || !thread->tid || holds_gil(t, thread))
		return false;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct target_thread *other = t->threads[i];

		if (other == thread)
			met = true;
		else if (other->tid == thread->tid &&
			 (!met || holds_gil(t, other)))
			return true;
	}
	return false;
}

bool target_in_gil(const struct target *t, const struct target_thread *thread,
		   uint64_t address)
{
	const struct target_interpreter *i =
		&t->interpreters[thread->interpreter];

	if (t->python.gil_start)
		return address >= t->python.gil_start &&
		       address < t->python.gil_end;
	return i->gil && address >= i->gil && address < i->gil + GIL_SIZE;
}

uint32_t target_thread_state(const struct target *t,
			     const struct target_thread *thread)
{
	const struct stack *s = &thread->stack;
	uint32_t state = 0;

	if (thread->os_state == 'R' && !target_runs_elsewhere(t, thread))
		state |= STATE_ON_CPU;
	if (holds_gil(t, thread))
		state |= STATE_GIL;
	else if (thread->gil_wait)
		state |= STATE_GIL_WAIT;
	if ((state & STATE_GIL) &&
	    t->interpreters[thread->interpreter].collecting == 1)
		state |= STATE_GC;
	if (s->unreadable)
		state |= STATE_UNREADABLE;
	if (s->truncated)
		state |= STATE_TRUNCATED;
	return state;
}

/* A thread that was just made has the ids of its maker (up to 3.11), then its
 * own, one after the other: what was concluded from them so far is void. */
static void thread_settle(const struct target *t, struct target_thread *thread)
{
	if (thread->record != ID_NONE)
		return;
	thread->named = false;
	if (t->python.layout.thread.id == LAYOUT_NONE)
		thread->serial = thread->pthread;
}

/* The place where a thread is, to see whether it went on. */
static uint64_t place_of(const struct stack *s)
{
	return s->n_frames ? s->frames[0].frame ^ s->frames[0].instruction : 0;
}

/* A thread that was just born has its maker's id for a moment: what was taken
 * for its native side was another's. */
static void mistake_thread(struct target *t, struct target_thread *thread)
{
	thread_settle(t, thread);
	thread_identify(t, thread);
	thread->native = NULL;
	thread->good = false;
}

/* After a walk of the stack, which was at the place `before`. */
static void note_walk(struct target *t, struct target_thread *thread,
		      uint64_t before)
{
	bool changed = ids_changed(t, thread);

	thread->went_on = place_of(&thread->stack) != before;
	if (changed)
		thread_settle(t, thread);
	if (changed || (!thread->tid && t->whole))
		thread_identify(t, thread);
	thread->state = target_thread_state(t, thread);
}

static void walk_thread(struct target *t, struct target_thread *thread)
{
	uint64_t before = place_of(&thread->stack);

	if (thread->left_alone) {
		if (ids_changed(t, thread))
			mistake_thread(t, thread);
		else if (thread->to_visit)
			thread->state = target_thread_state(t, thread);
		return;
	}
	thread->good = stack_walk(&thread->stack, &t->pieces) == 0;
	if (thread->good)
		note_walk(t, thread, before);
}

/* What can be known only now that there are threads. */
static void learn(struct target *t)
{
	if (t->n_threads && !t->python.knows_libc)
		python_learn_libc(&t->python);
	if (t->n_threads > 1 && t->whole)
		python_learn_gil(&t->python);
}

bool target_whole_is_due(const struct target *t, uint64_t now)
{
	uint64_t every = t->window ? WHOLE_IN_WINDOW : WHOLE_EVERY;

	return now - t->last_whole >= every || !t->n_threads;
}

int target_look(struct target *t, uint64_t now)
{
	int status;

	if (!t->window || t->native) /* else their clocks are still needed */
		target_bury(t);
	t->whole = target_whole_is_due(t, now);
	if (t->whole)
		t->last_whole = now;
	for (int follows = 0;; follows++) {
		plan_look(t, now);
		status = pieces_read(&t->pieces, t->memory);
		if (status < 0)
			return status;
		if (!t->whole || follows == FOLLOWS || lists_agree(t))
			break;
		lists_follow(t);
	}
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++)
		native_copied(t->native->threads[i], &t->pieces);
	learn(t);
	for (uint32_t i = 0; i < t->n_threads; i++)
		walk_thread(t, t->threads[i]);
	burst_check(t);
	return 0;
}

int target_look_thread(struct target *t, struct target_thread *thread)
{
	struct target_interpreter *i = &t->interpreters[thread->interpreter];
	int status;

	pieces_clear(&t->pieces);
	if (t->python.current)
		pieces_add_field(&t->pieces, t->python.current, &t->current, 8);
	plan_gil(t, i);
	stack_plan(&thread->stack, &t->pieces, true, true);
	thread->left_alone = false;
	plan_core(t, thread);
	if (thread->native && thread->native->standing)
		native_plan(thread->native, &t->pieces);
	status = pieces_read(&t->pieces, t->memory);
	thread->good = status == 0;
	if (status < 0)
		return status;
	if (thread->native)
		native_copied(thread->native, &t->pieces);
	walk_thread(t, thread);
	return thread->good ? 0 : -ERR_UNREADABLE;
}

int target_thread_core(const struct target_thread *thread)
{
	return thread->core < 65536 ? (int)thread->core : -1;
}

/* ---- visits ---- */

bool target_has_visits(struct target *t)
{
	struct visit_shape shape;

	if (!t->visitor_tried && t->n_threads && t->pid) {
		stack_shape(&t->threads[0]->stack, &shape);
		shape.registers = t->native;
		t->visitor_tried = true;
		t->inner_pid = process_inner_pid(t->pid);
		if (visit_namespace(t->pid, &t->namespace_device,
				    &t->namespace_inode))
			visitor_new(&t->visitor, &shape, NULL);
	}
	return t->visitor;
}

static pid_t inner_tid(const struct target *t, pid_t tid,
		       const struct target_thread *thread)
{
	if (t->shared_pids)
		return tid;
	return thread ? target_thread_inner_tid(t, thread) : 0;
}

/* The fields of a visit: who holds the GIL, in one or two; whether garbage is
 * being collected; and the count of code objects that were freed. */
enum {
	FIELD_HOLDER,
	FIELD_LOCKED,
	FIELD_COLLECTING,
	FIELD_GENERATION,
};

static_assert(FIELD_GENERATION < VISIT_FIELDS, "a visit has room for all");

void target_plan_fields(const struct target *t,
			const struct target_thread *thread, struct visit *visit)
{
	const struct layout *l = &t->python.layout;
	const struct target_interpreter *i =
		&t->interpreters[thread->interpreter];

	if (t->python.current) {
		visit->fields[FIELD_HOLDER] = t->python.current;
	} else if (l->gil_style == GIL_INTERPRETER && i->gil &&
		   l->thread.holds_gil == LAYOUT_NONE) {
		visit->fields[FIELD_HOLDER] = i->gil + l->gil.holder;
		visit->fields[FIELD_LOCKED] = i->gil + l->gil.locked;
	}
	visit->fields[FIELD_COLLECTING] = collecting_address(t, i);
	if (has_field(l->interpreter.code_generation))
		visit->fields[FIELD_GENERATION] =
			i->address + l->interpreter.code_generation;
}

int target_plan_visit(struct target *t, const struct target_thread *thread,
		      pid_t tid, struct visit *visit)
{
	visit->tid = inner_tid(t, tid, thread);
	if (!visit->tid || !target_has_visits(t))
		return -ERR_PERMISSION;
	visit->pid = t->inner_pid;
	visit->namespace_device = t->namespace_device;
	visit->namespace_inode = t->namespace_inode;
	if (thread) {
		visit->head = thread->stack.tstate;
		target_plan_fields(t, thread, visit);
	}
	return 0;
}

void target_take_fields(struct target *t, const struct target_thread *thread,
			const struct visit *visit)
{
	struct target_interpreter *i = &t->interpreters[thread->interpreter];

	if (t->python.current) {
		t->current = visit->values[FIELD_HOLDER];
	} else if (visit->fields[FIELD_HOLDER]) {
		i->holder = visit->values[FIELD_HOLDER];
		i->locked = (uint32_t)visit->values[FIELD_LOCKED];
	}
	if (visit->fields[FIELD_COLLECTING])
		i->collecting = (uint32_t)visit->values[FIELD_COLLECTING];
	if (visit->fields[FIELD_GENERATION])
		i->code_generation = visit->values[FIELD_GENERATION];
}

int target_take_visit(struct target *t, struct target_thread *thread,
		      const struct visit *visit)
{
	uint64_t before = place_of(&thread->stack);
	int status = stack_walk_visited(&thread->stack, visit);

	if (status < 0)
		return status;
	/* Its state has become another thread's, which may run. */
	if (ids_differ(t, thread))
		return -ERR_UNREADABLE;
	target_take_fields(t, thread, visit);
	thread->os_state = 'R';
	thread->good = true;
	note_walk(t, thread, before);
	return 0;
}

static int make_visit(struct target *t, struct target_thread *thread, pid_t tid,
		      struct visit *visit)
{
	int status = target_plan_visit(t, thread, tid, visit);
	enum visit_result result;

	if (status < 0)
		return status;
	if (visit->core < 0)
		return -ERR_GONE;
	result = visitor_visit(t->visitor, visit);
	if (result == VISIT_AWAY)
		return -ERR_GONE;
	return result == VISIT_TAKEN ? 0 : -ERR_UNREADABLE;
}

static void find_core(struct target *t, struct target_thread *thread)
{
	uint64_t at = target_core_address(t, thread);

	if (!at || memory_read_u32(t->memory, at, &thread->core))
		thread->core = (uint32_t)os_thread_core(&thread->os);
}

int target_visit(struct target *t, struct target_thread *thread)
{
	struct visit visit = { .core = target_thread_core(thread) };
	int status = make_visit(t, thread, thread->tid, &visit);

	if (status == -ERR_GONE)
		find_core(t, thread);
	return status < 0 ? status : target_take_visit(t, thread, &visit);
}

/* Whether the last sample of a thread was taken on its core. */
static bool was_visited(const struct target_thread *thread)
{
	return thread->to_visit && thread->good && thread->os_state == 'R' &&
	       thread->state & STATE_RIDDEN;
}

bool target_visits_suffice(const struct target *t, uint64_t now)
{
	uint64_t last = t->window ? VISITS_LAST_LONG : VISITS_LAST;

	if (!t->n_threads || now - t->last_whole >= last)
		return false;
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (!was_visited(t->threads[i]))
			return false;
	return true;
}

int target_visit_native(struct target *t, struct target_thread *thread,
			struct native_thread *native)
{
	struct visit visit = { .core = native->core, .stack_top = native->top };
	int status = make_visit(t, thread, native->tid, &visit);

	if (status == 0)
		status = native_take_visit(native, &visit);
	return status < 0 || !thread ? status
				     : target_take_visit(t, thread, &visit);
}
