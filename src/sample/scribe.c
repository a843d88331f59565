#include "sample/scribe.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sample/naming.h"

static bool wanted_thread(const struct scribe *s, const char *name, pid_t tid)
{
	char number[16];

	if (!s->n_threads)
		return true;
	snprintf(number, sizeof(number), "%d", (int)tid);
	for (size_t i = 0; i < s->n_threads; i++)
		if (text_matches(name, s->threads[i]) ||
		    !strcmp(number, s->threads[i]))
			return true;
	return false;
}

/* Put a thread into the recording, or leave it out. One that --thread does not
 * want is left out for good only once its name is known. */
static void introduce(const struct scribe *s, struct target *t,
		      struct target_thread *thread, uint64_t now)
{
	char name[THREAD_NAME_SIZE];
	struct thread_info info = {
		.process = t->record,
		.tid = (uint32_t)thread->tid,
		.start = now - s->start,
		.name = name,
		.interpreter = t->interpreters[thread->interpreter].number,
		.main = thread->tid == t->pid,
	};
	struct native_thread *native;

	if (!thread->named)
		naming_update(t, now, true);
	naming_best(t, thread, name);
	if (!wanted_thread(s, name, thread->tid)) {
		thread->left_out = thread->named;
		return;
	}
	native = t->native ? native_find(t->native, thread->tid) : NULL;
	if (native && native->record != ID_NONE) {
		thread->record = native->record;
		writer_thread_name(s->writer, thread->record, name);
		return;
	}
	thread->record = writer_thread(s->writer, &info);
	writer_thread_ran(s->writer, thread->record,
			  os_thread_ran(&thread->os));
	if (native)
		native->record = thread->record;
}

/* A thread that Python does not know. */
static void introduce_native(const struct scribe *s, struct target *t,
			     struct native_thread *thread, uint64_t now)
{
	char name[32];
	struct thread_info info = {
		.process = t->record,
		.tid = (uint32_t)thread->tid,
		.start = now - s->start,
		.name = name,
		.main = thread->tid == t->pid,
	};

	os_thread_name(t->pid, thread->tid, name);
	thread->left_out = !wanted_thread(s, name, thread->tid);
	if (!thread->left_out)
		thread->record = writer_thread(s->writer, &info);
}

static bool passes(const struct scribe *s, uint32_t state)
{
	if ((s->filter & FILTER_CPU) && !(state & STATE_ON_CPU))
		return false;
	return !(s->filter & FILTER_GIL) || (state & STATE_GIL);
}

static bool has_native(const struct target_thread *thread)
{
	return thread->native && thread->native->good;
}

static uint32_t node_of(struct target *t, struct target_thread *thread)
{
	uint64_t generation = target_generation(t, thread);

	if (has_native(thread))
		return native_node(t->native, thread->native, &t->table,
				   generation);
	return node_of_stack(&t->table, &thread->path, &thread->stack,
			     generation);
}

/* Whether there is something to be written of a thread. */
static bool is_worth_writing(const struct scribe *s, struct target *t,
			     struct target_thread *thread, uint64_t now)
{
	if (!thread->good || !passes(s, thread->state) || thread->left_out ||
	    thread->below || target_thread_is_left(thread))
		return false;
	/* A thread without a frame that never had one is still starting. */
	if (thread->record == ID_NONE && !thread->stack.n_frames &&
	    !has_native(thread))
		return false;
	if (thread->record == ID_NONE)
		introduce(s, t, thread, now);
	return thread->record != ID_NONE;
}

/* The native side is the same thread. */
static void tell_native(const struct target_thread *thread)
{
	struct native_thread *native = thread->native;

	native->left_out = thread->left_out;
	if (native->record == ID_NONE)
		native->record = thread->record;
}

/* What is not known of it now must not be taken for what was known before. */
static void tell_track(const struct target_thread *thread)
{
	struct clock_track *track =
		thread->native ? thread->native->track : thread->track;

	if (track && thread->good)
		clocks_saw(track, thread->seen ? thread->node : ID_NONE,
			   thread->state);
	else if (track)
		clocks_saw_nothing(track);
}

/* What is to be written of a thread. */
static void see_thread(const struct scribe *s, struct target *t,
		       struct target_thread *thread, uint64_t now)
{
	thread->seen = is_worth_writing(s, t, thread, now);
	if (thread->seen)
		thread->node = node_of(t, thread);
	if (thread->native)
		tell_native(thread);
	tell_track(thread);
}

static uint32_t native_state(const struct native_thread *thread)
{
	return thread->state | (native_on_cpu(thread) ? STATE_ON_CPU : 0);
}

/* The same of one that Python does not know. */
static void see_native(const struct scribe *s, struct target *t,
		       struct native_thread *thread, uint64_t now)
{
	uint32_t state = native_state(thread), node = ID_NONE;

	thread->seen = false;
	if (thread->python || thread->left_out)
		return;
	if (!thread->good) {
		if (thread->track)
			clocks_saw_nothing(thread->track);
		return;
	}
	if (passes(s, state) && thread->record == ID_NONE)
		introduce_native(s, t, thread, now);
	thread->seen = passes(s, state) && thread->record != ID_NONE;
	if (thread->seen)
		node = native_node(t->native, thread, &t->table, 0);
	if (thread->track)
		clocks_saw(thread->track, node, state);
}

void scribe_see(const struct scribe *s, struct target *t, uint64_t now)
{
	naming_update(t, now, false);
	for (uint32_t i = 0; i < t->n_threads; i++)
		see_thread(s, t, t->threads[i], now);
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++)
		see_native(s, t, t->native->threads[i], now);
}

void scribe_write(const struct scribe *s, const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct target_thread *thread = t->threads[i];

		if (thread->seen)
			writer_sample(s->writer, thread->record, thread->node,
				      thread->state);
	}
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++) {
		const struct native_thread *thread = t->native->threads[i];

		if (thread->seen)
			writer_sample(s->writer, thread->record, thread->node,
				      native_state(thread));
	}
}

void scribe_write_again(const struct scribe *s, const struct target *t,
			struct sampler_counts *counts)
{
	scribe_write(s, t);
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->seen) {
			sampler_count(counts, t->threads[i]->state);
			sampler_count_native(counts, t->threads[i]->state);
		}
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++)
		if (t->native->threads[i]->seen) {
			sampler_count(counts, t->native->threads[i]->state);
			sampler_count_native(counts,
					     t->native->threads[i]->state);
		}
}

void scribe_write_times(const struct scribe *s, struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *thread = t->threads[i];

		if (thread->record != ID_NONE)
			writer_thread_ran(s->writer, thread->record,
					  os_thread_ran(&thread->os));
	}
	for (uint32_t i = 0; t->native && i < t->native->n_threads; i++) {
		struct native_thread *thread = t->native->threads[i];

		if (thread->record != ID_NONE && !thread->python)
			writer_thread_ran(s->writer, thread->record,
					  os_thread_ran(&thread->os));
	}
}

/* A thread in a window, as far as it matters here. */
struct windowed {
	struct clock_track *track; /* NULL: it was born since */
	uint32_t record;
	bool left_out, python;
};

static void count_row(struct sampler_counts *c, const struct windowed *thread,
		      const struct clock_sample *sample)
{
	bool clocked = thread->python && sample->clocked;

	sampler_count(c, sample->state);
	sampler_count_native(c, sample->state);
	c->visited += clocked || sample->visited;
	c->clocked += clocked;
}

static void write_row(const struct scribe *s, struct target *t,
		      const struct windowed *thread,
		      const struct clock_window *w, uint32_t tick,
		      struct sampler_counts *counts)
{
	struct clock_sample sample;

	if (!thread->track || thread->record == ID_NONE || thread->left_out ||
	    !clocks_row(t, w, thread->track, tick, &sample))
		return;
	count_row(counts, thread, &sample);
	if (passes(s, sample.state))
		writer_sample(s->writer, thread->record, sample.node,
			      sample.state);
}

static struct windowed windowed(const struct target_thread *thread)
{
	return (struct windowed){ thread->track, thread->record,
				  thread->left_out, true };
}

static struct windowed windowed_native(const struct native_thread *thread)
{
	return (struct windowed){ thread->track, thread->record,
				  thread->left_out, thread->python };
}

static void write_native(const struct scribe *s, struct target *t,
			 const struct clock_window *w, uint32_t tick,
			 struct sampler_counts *counts)
{
	const struct native *n = t->native;

	for (uint32_t i = 0; i < n->n_threads + n->n_dead; i++) {
		struct windowed thread = windowed_native(
			i < n->n_threads ? n->threads[i]
					 : n->dead[i - n->n_threads]);

		write_row(s, t, &thread, w, tick, counts);
	}
}

void scribe_write_window(const struct scribe *s, struct target *t,
			 const struct clock_window *w, uint32_t tick,
			 struct sampler_counts *counts)
{
	if (t->native) {
		write_native(s, t, w, tick, counts);
		return;
	}
	for (uint32_t i = 0; i < t->n_threads + t->n_ended; i++) {
		struct windowed thread =
			windowed(i < t->n_threads ? t->threads[i]
						  : t->ended[i - t->n_threads]);

		write_row(s, t, &thread, w, tick, counts);
	}
}
