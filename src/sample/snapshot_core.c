/* A snapshot of a core file: the reader of live processes over a memory that
 * stands still. What the kernel says of the threads of a live process, a core
 * file says by their registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "os/syscall.h"
#include "sample/catch.h"
#include "sample/snapshot.h"

#define NOTES_MAX 8 /* files that are named as missing */

/* The thread of the core file that a Python thread is: the C library's id of a
 * thread is where its thread pointer points, give or take a constant. */
static const struct corefile_thread *find_thread(
	const struct corefile *core, const struct target *t,
	const struct target_thread *thread)
{
	uint64_t pointer = thread->pthread + t->python.thread_pointer;
	pid_t tid = target_thread_inner_tid(t, thread);

	for (uint32_t i = 0; i < core->n_threads; i++)
		if (thread->pthread &&
		    core->threads[i].thread_pointer == pointer)
			return &core->threads[i];
	for (uint32_t i = 0; tid && i < core->n_threads; i++)
		if (core->threads[i].tid == tid)
			return &core->threads[i];
	return NULL;
}

static void identify(const struct corefile *core, struct target *t,
		     struct target_thread *thread)
{
	const struct corefile_thread *found = find_thread(core, t, thread);

	if (!thread->good || !found)
		return;
	thread->tid = found->tid;
	thread->gil_wait = !(thread->state & STATE_GIL) &&
			   found->call == SYS_futex &&
			   !t->python.layout.free_threaded &&
			   target_in_gil(t, thread, found->call_argument);
	thread->state = target_thread_state(t, thread);
}

static int look(struct target *t, const struct corefile *core)
{
	int status;

	t->last_whole = 0;
	status = target_look(t, clock_now());
	for (uint32_t i = 0; i < t->n_threads && status == 0; i++)
		identify(core, t, t->threads[i]);
	return status;
}

/* Native stacks, from the registers of the core file's threads. */
static int look_native(struct target *t, const struct corefile *core,
		       const struct native_options *options, struct error *err)
{
	int status = native_new_over(&t->native, core->memory, &t->python,
				     &core->maps, core->opener, options, err);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i < core->n_threads; i++)
		native_stand(t->native, core->threads[i].tid,
			     &core->threads[i].registers,
			     (long)core->threads[i].call,
			     core->threads[i].call_argument);
	status = look(t, core);
	if (status == 0)
		catch_standing(t);
	return status;
}

/* The first look finds out where things are, the second one reads them. */
static int look_twice(struct target *t, const struct corefile *core,
		      const struct snapshot_options *options, struct error *err)
{
	int status = look(t, core);

	if (status < 0)
		return status;
	return options->native.source == REGISTERS_NONE
		       ? look(t, core)
		       : look_native(t, core, &options->native, err);
}

/* ---- what only a core file tells ---- */

static void describe_thread(struct snapshot_thread *out,
			    const struct corefile *core)
{
	for (uint32_t i = 0; out->tid && i < core->n_threads; i++)
		if (core->threads[i].tid == out->tid) {
			out->culprit = i == 0 && core->signal;
			out->call =
				os_syscall_wait((long)core->threads[i].call);
			return;
		}
}

static void add_note(struct snapshot *s, const char *path, bool differs)
{
	char text[4200];

	snprintf(text, sizeof(text), "%s %s", path,
		 differs ? "is another build than the program had: not used"
			 : "is missing here");
	s->notes[s->n_notes++] = arena_strdup(&s->arena, text);
}

static void describe(struct snapshot *s, const struct corefile *core)
{
	const char *path;
	bool differs;

	s->core = arena_strdup(&s->arena, core->path);
	s->pid = core->pid;
	s->command = arena_strdup(&s->arena, core->command);
	s->exe = arena_strdup(&s->arena, core->exe);
	s->signal = core->signal;
	s->address = core->signal_address;
	for (uint32_t i = 0; i < s->n_threads; i++)
		describe_thread(&s->threads[i], core);
	s->notes = arena_calloc(&s->arena, NOTES_MAX, sizeof(*s->notes));
	while (s->n_notes < NOTES_MAX &&
	       (path = corefile_missing(core, s->n_notes, &differs)))
		add_note(s, path, differs);
}

/* ---- opening ---- */

/* No Python was found: perhaps because a file that may be one is missing. */
static int explain(const struct corefile *core, int status, struct error *err)
{
	const char *path;
	bool differs;

	if (status != -ERR_NOT_PYTHON)
		return status;
	for (uint32_t i = 0; (path = corefile_missing(core, i, &differs)); i++)
		if (strstr(path, "python") || !strcmp(path, core->exe))
			return fail(err, ERR_NOT_FOUND,
				    "core file '%s': %.200s %s; --root tells "
				    "where the program's files are",
				    core->path, path,
				    differs ? "is another build than the "
					      "program had"
					    : "is missing here");
	if (core->lacking)
		return fail(err, ERR_CORRUPT,
			    "the core file '%s' is cut off: %llu bytes are "
			    "missing",
			    core->path, (unsigned long long)core->lacking);
	return status;
}

static int open_python(struct python *out, const struct corefile *core,
		       struct error *err)
{
	char name[256];
	struct python_host host = { .name = name,
				    .memory = core->memory,
				    .maps = &core->maps,
				    .opener = core->opener,
				    .exe = core->exe };

	snprintf(name, sizeof(name), "the program of core file '%.200s'",
		 core->path);
	return explain(core, python_open_in(out, &host, err), err);
}

int snapshot_take_core(struct snapshot **out, struct corefile *core,
		       const struct snapshot_options *options,
		       struct error *err)
{
	struct target *t = NULL;
	struct python python;
	int status = open_python(&python, core, err);

	if (status < 0)
		return status;
	target_new_over(&t, core->memory, &python);
	t->main_tid = core->pid;
	status = look_twice(t, core, options, err);
	if (status == 0) {
		*out = snapshot_read(t, options);
		describe(*out, core);
	} else if (!err->code) {
		fail(err, -status, "the core file '%s' %s", core->path,
		     core->lacking ? "is cut off: the threads of Python are "
				     "missing"
				   : "cannot be read");
	}
	target_free(t);
	return status;
}
