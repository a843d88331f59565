#include "sample/naming.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/thread.h"

#define PAUSE_FIRST 100000000u	/* ns between two tries */
#define PAUSE_LAST  1000000000u /* after many */
#define SHARE	    20		/* one part in so many may go into this */
#define SPARE_NAMES 64		/* of threads that began or ended meanwhile */

static bool lacks_name(const struct target_thread *thread)
{
	return !thread->named && thread->pthread;
}

static bool some_lack_names(const struct target *t, uint32_t interpreter)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->interpreter == interpreter &&
		    lacks_name(t->threads[i]))
			return true;
	return false;
}

static void set_name(struct target *t, struct target_thread *thread,
		     const char *name)
{
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->named = true;
	if (t->writer && thread->record != ID_NONE)
		writer_thread_name(t->writer, thread->record, name);
}

static const char *find_name(const struct target *t, int n, uint64_t ident)
{
	for (int i = 0; i < n; i++)
		if (t->names[i].ident == ident)
			return t->names[i].name;
	return NULL;
}

/* The name of a thread in another interpreter, from which it came into this
 * one: here it may be called the main one. */
static const char *name_elsewhere(const struct target *t,
				  const struct target_thread *thread)
{
	for (uint32_t i = 0; t->n_interpreters > 1 && i < t->n_threads; i++) {
		const struct target_thread *other = t->threads[i];

		if (other->named && thread->tid && other->tid == thread->tid &&
		    other->interpreter > thread->interpreter)
			return other->name;
	}
	return NULL;
}

/* True when some thread got its name. */
static bool name_interpreter(struct target *t, uint32_t interpreter)
{
	bool any = false;
	int n;

	ALLOC_GROW(t->names, t->n_threads + SPARE_NAMES, t->names_capacity);
	n = names_read(t->names, (int)t->names_capacity, t->memory,
		       &t->python.layout, t->interpreters[interpreter].address);
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];
		const char *name;

		if (thread->interpreter != interpreter || !lacks_name(thread))
			continue;
		name = name_elsewhere(t, thread);
		if (!name)
			name = find_name(t, n, thread->pthread);
		if (!name && thread->tid && thread->tid == t->main_tid)
			name = "MainThread";
		if (name)
			set_name(t, thread, name);
		any |= name != NULL;
	}
	return any;
}

static uint64_t longer(uint64_t pause)
{
	return pause * 2 < PAUSE_LAST ? pause * 2 : PAUSE_LAST;
}

/* True when some thread got its name. */
static bool name_all(struct target *t)
{
	bool any = false;

	for (uint32_t i = t->n_interpreters; i-- > 0;) /* the oldest first */
		if (some_lack_names(t, i))
			any |= name_interpreter(t, i);
	return any;
}

void naming_update(struct target *t, uint64_t now, bool fresh)
{
	uint64_t begin, end;
	bool any;

	if (now < t->names_next + (fresh ? 0 : t->names_pause))
		return;
	begin = clock_now();
	any = name_all(t);
	end = clock_now();
	t->names_next = end + SHARE * (end - begin);
	t->names_pause = any || fresh ? PAUSE_FIRST : longer(t->names_pause);
}

void naming_best(const struct target *t, const struct target_thread *thread,
		 char name[THREAD_NAME_SIZE])
{
	char kernel[32] = "";

	if (!thread->named && thread->tid)
		os_thread_name(t->pid, thread->tid, kernel);
	snprintf(name, THREAD_NAME_SIZE, "%s",
		 thread->named ? thread->name : kernel);
}
