#include "sample/lists.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

#define THREADS_MAX	 10000
#define INTERPRETERS_MAX 4096

static struct target_thread *find_thread(struct target *t, uint64_t address,
					 uint64_t serial)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->stack.tstate == address &&
		    t->threads[i]->serial == serial && !t->threads[i]->present)
			return t->threads[i];
	return NULL;
}

static struct target_thread *add_thread(struct target *t, uint64_t address,
					uint64_t serial)
{
	struct target_thread *thread = xcalloc(1, sizeof(*thread));

	stack_init(&thread->stack, &t->python, address);
	thread->os = (struct os_thread)OS_THREAD_INIT;
	thread->serial = serial;
	thread->record = ID_NONE;
	thread->core = UINT32_MAX;
	ALLOC_GROW(t->threads, t->n_threads + 1, t->threads_capacity);
	t->threads[t->n_threads++] = thread;
	return thread;
}

/* Threads stand in the order of the lists: lists_agree() relies on it. */
static void put_in_place(struct target *t, struct target_thread *thread,
			 uint32_t place)
{
	uint32_t i = place;

	while (i < t->n_threads && t->threads[i] != thread)
		i++;
	memmove(&t->threads[place + 1], &t->threads[place],
		(i - place) * sizeof(*t->threads));
	t->threads[place] = thread;
}

/* Whether the walk has been here: the threads before `place` are its own. */
static bool came_by(const struct target *t, uint64_t address, uint32_t place)
{
	for (uint32_t i = 0; i < place; i++)
		if (t->threads[i]->stack.tstate == address)
			return true;
	return false;
}

/* What a thread state says of itself. */
struct links {
	uint64_t next, interpreter, serial;
};

/* What tells a thread from one that had its address before: CPython's count of
 * threads, else the C library's id. */
static uint16_t serial_offset(const struct layout *l)
{
	return l->thread.id != LAYOUT_NONE ? l->thread.id : l->thread.thread_id;
}

static bool read_links(const struct target *t, uint64_t address,
		       struct links *out)
{
	const struct layout *l = &t->python.layout;

	return !memory_read_u64(t->memory, address + l->thread.next,
				&out->next) &&
	       !memory_read_u64(t->memory, address + l->thread.interpreter,
				&out->interpreter) &&
	       !memory_read_u64(t->memory, address + serial_offset(l),
				&out->serial);
}

/* Follow the thread list of an interpreter from its head; its threads go to
 * `place` and on. Returns the place after the last. */
static uint32_t follow_threads(struct target *t, uint32_t interpreter,
			       uint32_t place)
{
	uint64_t owner = t->interpreters[interpreter].address;
	uint64_t address = t->interpreters[interpreter].threads_head;

	for (; address && place < THREADS_MAX; place++) {
		struct target_thread *thread;
		struct links links;

		if (came_by(t, address, place) ||
		    !read_links(t, address, &links) ||
		    links.interpreter != owner)
			break;
		thread = find_thread(t, address, links.serial);
		if (!thread)
			thread = add_thread(t, address, links.serial);
		thread->present = true;
		thread->interpreter = interpreter;
		put_in_place(t, thread, place);
		address = links.next;
	}
	return place;
}

/* Whether a thread that the walk did not come by is still what it was. The end
 * of a list is the oldest thread: usually the main one, which is never alone to
 * go; of another nothing tells whether it was taken out. */
static bool still_there(const struct target *t,
			const struct target_thread *thread)
{
	uint64_t address = thread->stack.tstate;
	struct links links, next;

	if (thread->interpreter >= t->n_interpreters ||
	    !read_links(t, address, &links) || links.serial != thread->serial ||
	    links.interpreter != t->interpreters[thread->interpreter].address)
		return false;
	if (!links.next)
		return thread->tid == t->pid;
	return read_links(t, links.next, &next) &&
	       next.interpreter == links.interpreter;
}

static void drop_absent(struct target *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];

		if (thread->present || still_there(t, thread)) {
			t->threads[kept++] = thread;
			continue;
		}
		/* The kernel's thread may go on without Python. */
		if (t->writer && thread->record != ID_NONE && !thread->native)
			writer_thread_end(t->writer, thread->record,
					  clock_now());
		target_thread_end(t, thread);
	}
	t->n_threads = kept;
}

/* Whether the address is that of an interpreter which the walk has come by. */
static bool known_interpreter(const struct target *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		if (t->interpreters[i].address == address)
			return true;
	return false;
}

static bool read_interpreter(const struct target *t,
			     struct target_interpreter *i)
{
	const struct layout *l = &t->python.layout;

	return !memory_read_u64(t->memory, i->address + l->interpreter.next,
				&i->next) &&
	       !memory_read_u64(t->memory,
				i->address + l->interpreter.threads_head,
				&i->threads_head);
}

static void follow_interpreters(struct target *t)
{
	uint64_t address = 0;

	t->n_interpreters = 0;
	memory_read_u64(t->memory, t->python.interpreters, &address);
	while (address && t->n_interpreters < INTERPRETERS_MAX &&
	       !known_interpreter(t, address)) {
		struct target_interpreter *new;

		ALLOC_GROW(t->interpreters, t->n_interpreters + 1,
			   t->interpreters_capacity);
		new = &t->interpreters[t->n_interpreters];
		memset(new, 0, sizeof(*new));
		new->address = address;
		if (!read_interpreter(t, new))
			break;
		t->n_interpreters++;
		address = new->next;
	}
	/* The list begins with the youngest, the main one is last. */
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		t->interpreters[i].number = t->n_interpreters - 1 - i;
}

void lists_follow(struct target *t)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i]->present = false;
	follow_interpreters(t);
	for (uint32_t i = 0; i < t->n_interpreters; i++)
		place = follow_threads(t, i, place);
	drop_absent(t);
}

bool lists_agree(const struct target *t)
{
	const struct layout *l = &t->python.layout;
	uint32_t at = 0;
	uint64_t interpreter = t->head;

	for (uint32_t i = 0; i < t->n_interpreters; i++) {
		const struct target_interpreter *known = &t->interpreters[i];
		uint64_t address = known->threads_head;

		if (interpreter != known->address)
			return false;
		for (; at < t->n_threads && t->threads[at]->interpreter == i;
		     at++) {
			if (t->threads[at]->stack.tstate != address ||
			    stack_field(&t->threads[at]->stack,
					serial_offset(l)) !=
				    t->threads[at]->serial)
				return false;
			address = stack_field(&t->threads[at]->stack,
					      l->thread.next);
		}
		if (address)
			return false;
		interpreter = known->next;
	}
	return !interpreter && at == t->n_threads;
}
