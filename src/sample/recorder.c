#include "sample/recorder_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "record/writer.h"
#include "sample/symbolise.h"
#include "sample/texts.h"

/* Who is away for so long was stopped, as by Ctrl-Z, and not only late. */
#define AWAY (1000u * MILLISECOND)
/* How often to look for children, execs and new Pythons. */
#define CARE_WAITING   MILLISECOND /* for one that may become a Python */
#define CARE_EXECS     (100u * MILLISECOND)
#define PROGRESS_EVERY (200u * MILLISECOND)
/* A short recording that breaks off should have something to show, a long one
 * wants large blocks, which compress better: flush early, then ever later. */
#define FLUSH_EVERY (2000u * MILLISECOND)
#define FIRST_FLUSH (FLUSH_EVERY / 32)

void recorder_new(struct recorder **out, int fd,
		  const struct recorder_options *options)
{
	struct recorder *r = xcalloc(1, sizeof(*r));

	r->options = *options;
	r->fd = fd;
	r->start = clock_now();
	descriptors_raise();
	gethostname(r->host, sizeof(r->host) - 1);
	r->info = (struct recording_info){
		.wall_start = clock_wall(),
		.period = options->period,
		.filter = options->filter,
		.version = PYROMETER_VERSION,
		.host = r->host,
		.command = options->command ? options->command : "",
		.note = "",
	};
	r->scribe = (struct scribe){ .start = r->start,
				     .filter = options->filter,
				     .threads = options->threads,
				     .n_threads = options->n_threads };
	sampler_init(&r->sampler, options->ride, options->period);
	if (options->native.source != REGISTERS_NONE) {
		r->info.registers = options->native.source;
		rider_insist(&r->sampler.rider);
	}
	if (options->native.refused)
		snprintf(r->note, sizeof(r->note), "%s", NATIVE_REFUSED);
	*out = r;
}

/* The file is touched when there is something to write into it. */
static int begin_writing(struct recorder *r, struct error *err)
{
	struct writer_options options = { .period = r->options.period,
					  .start = r->start };
	int status;

	/* A pipe or a device has nothing to cut off: that is no failure. */
	if (ftruncate(r->fd, 0) < 0 && errno != EINVAL && errno != EPERM)
		return fail(err, ERR_IO, "cannot empty the output: %s",
			    strerror(errno));
	status = writer_new(&r->writer, r->fd, &options, err);
	if (status == 0)
		writer_info(r->writer, &r->info);
	r->scribe.writer = r->writer;
	return status;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_targets; i++)
		target_free(r->targets[i]);
	free(r->targets);
	family_release(&r->family);
	symbolise_targets_release(&r->seen);
	writer_free(r->writer);
	free(r);
}

/* ---- who is watched ---- */

/* Without a native side a target still has its Python. */
static void add_native(struct recorder *r, struct target *t)
{
	struct native_options options = r->options.native;
	struct error err = ERROR_INIT;

	if (options.source == REGISTERS_NONE)
		return;
	options.own = r->program;
	if (native_new(&t->native, t->pid, t->memory, &t->python, &options,
		       &err) == 0)
		t->native->writer = r->writer;
	else if (!r->note[0])
		snprintf(r->note, sizeof(r->note),
			 "no native stacks of process %d: %s", (int)t->pid,
			 err.text);
}

static int add_target(struct recorder *r, struct target *t, struct error *err)
{
	struct relative *relative = family_find(&r->family, t->pid);
	uint32_t parent =
		relative ? family_parent(&r->family, relative) : ID_NONE;
	int status = r->writer ? 0 : begin_writing(r, err);

	if (status < 0) {
		target_free(t);
		return status;
	}
	symbolise_targets_add(&r->seen, t->pid);
	target_record(t, r->writer, parent, clock_now() - r->start);
	add_native(r, t);
	if (relative)
		relative->record = t->record;
	ALLOC_GROW(r->targets, r->n_targets + 1, r->targets_capacity);
	r->targets[r->n_targets++] = t;
	r->window = false;
	r->n_seen++;
	return 0;
}

static int open_target(struct target **out, pid_t pid, struct error *err)
{
	int status = process_find(pid, err);

	return status < 0 ? status : target_new(out, pid, err);
}

int recorder_probe(pid_t pid, struct error *err)
{
	struct target *t;
	int status = open_target(&t, pid, err);

	if (status == 0)
		target_free(t);
	return status;
}

int recorder_attach(struct recorder *r, pid_t pid, struct error *err)
{
	struct target *t;
	int status;

	if (family_find(&r->family, pid))
		return 0; /* named twice */
	status = open_target(&t, pid, err);
	if (status < 0)
		return status;
	family_add(&r->family, pid, ID_NONE)->is_python = true;
	return add_target(r, t, err);
}

void recorder_expect(struct recorder *r, pid_t pid)
{
	family_add(&r->family, pid, ID_NONE);
	r->program = pid;
}

static void drop_target(struct recorder *r, uint32_t i)
{
	struct target *t = r->targets[i];

	writer_process_end(r->writer, t->record, clock_now(), -1);
	target_free(t);
	r->targets[i] = r->targets[--r->n_targets];
	r->window = false;
}

/* A target that has ended. */
static void forget_target(struct recorder *r, uint32_t i)
{
	family_forget(&r->family, r->targets[i]->pid);
	drop_target(r, i);
}

/* The process may have gone from one program to another meanwhile: what was
 * found is then of both, and is looked for again. */
static struct target *open_relative(struct relative *x)
{
	struct target *t;

	if (target_new(&t, x->pid, NULL) < 0)
		return NULL;
	if (process_image(x->pid) == x->image)
		return t;
	target_free(t);
	return NULL;
}

/* Try the relatives that may have become Pythons. */
static int try_relatives(struct recorder *r, uint64_t now, struct error *err)
{
	int status = 0;

	for (uint32_t i = 0; i < r->family.count && status == 0; i++) {
		struct relative *x = &r->family.members[i];
		struct target *t;

		if (x->is_python || !family_due(x, now))
			continue;
		t = open_relative(x);
		if (t) {
			x->is_python = true;
			status = add_target(r, t, err);
		}
	}
	return status;
}

/* An exec gives the same process another program: watch it anew. Another
 * process may have got the pid between two samples: leave that alone. */
static void drop_changed(struct recorder *r)
{
	for (uint32_t i = 0; i < r->n_targets;) {
		struct relative *x =
			family_find(&r->family, r->targets[i]->pid);
		struct process_look look = process_look(r->targets[i]->pid);

		if (target_is_gone(r->targets[i], &look)) {
			forget_target(r, i);
		} else if (x && family_changed(x, look.image)) {
			x->is_python = false;
			drop_target(r, i);
		} else {
			i++;
		}
	}
}

static uint64_t care_every(const struct recorder *r)
{
	if (r->family.count > r->n_targets)
		return CARE_WAITING;
	return r->options.subprocesses ? CARE_CHILDREN : CARE_EXECS;
}

static int take_care(struct recorder *r, uint64_t now, struct error *err)
{
	if (now - r->last_care < care_every(r) && r->last_care)
		return 0;
	r->last_care = now;
	drop_changed(r);
	family_grow(&r->family, r->options.subprocesses);
	return try_relatives(r, now, err);
}

/* ---- samples ---- */

/* The further looks of a burst: each is a tick of its own. */
static void take_burst(struct recorder *r, struct target *t)
{
	uint64_t when;

	while (sampler_next(&r->sampler, t, &when)) {
		scribe_see(&r->scribe, t, when);
		writer_tick(r->writer, when);
		r->info.ticks++;
		scribe_write(&r->scribe, t);
	}
}

/* Nothing of it can be read: it may have become another program. */
static bool seems_changed(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->good)
			return false;
	return true;
}

void recorder_take(struct recorder *r, uint64_t now)
{
	/* A tick is one of all targets. */
	r->sampler.bursts = !r->options.period && r->n_targets == 1;
	for (uint32_t i = 0; i < r->n_targets; i++) {
		struct target *t = r->targets[i];

		t->status = sampler_take(&r->sampler, t, now);
		if (t->status == 0)
			scribe_see(&r->scribe, t, now);
		if (t->status < 0 || seems_changed(t))
			r->last_care = 0; /* do not wait for its turn */
	}
}

/* Those that ended are forgotten. */
static void write_targets(struct recorder *r)
{
	for (uint32_t i = 0; i < r->n_targets;) {
		if (r->targets[i]->status == -ERR_GONE) {
			forget_target(r, i);
			continue;
		}
		if (r->targets[i]->status == 0) {
			scribe_write(&r->scribe, r->targets[i]);
			take_burst(r, r->targets[i]);
		}
		i++;
	}
}

/* A tick that found nobody left is none. */
void recorder_write(struct recorder *r, uint64_t now)
{
	bool taken = false;

	for (uint32_t i = 0; i < r->n_targets; i++)
		taken |= r->targets[i]->status == 0;
	writer_tick(r->writer, now);
	r->info.ticks += taken;
	write_targets(r);
}

static void take_tick(struct recorder *r, uint64_t now)
{
	recorder_take(r, now);
	recorder_write(r, now);
}

/* A look may take longer than a tick, as at a stack of thousands of calls. The
 * ticks that passed meanwhile would have found the same: were they left out,
 * what is slow to read would be counted less than what is not. */
static void draw_out(struct recorder *r)
{
	uint64_t woke = r->sampler.woke, from = r->next, now = clock_now();
	uint64_t period = r->options.period, n;

	if (from < woke)
		from = woke;
	if (!period || now < from + period || now - woke >= AWAY)
		return;
	n = (now - from) / period;
	for (uint64_t tick = 1; tick <= n; tick++) {
		writer_tick(r->writer, woke + tick * period);
		for (uint32_t i = 0; i < r->n_targets; i++)
			if (r->targets[i]->status == 0)
				scribe_write_again(&r->scribe, r->targets[i],
						   &r->sampler.counts);
	}
	r->info.ticks += n;
	r->info.drawn += n;
	r->next += n * period;
}

/* Ticks that were due while we were stopped are not missed: nobody wanted them.
 */
void recorder_missed(struct recorder *r, uint64_t late, uint64_t ticks)
{
	if (late < AWAY)
		r->info.missed += ticks;
}

/* ---- time ---- */

/* Each tick is somewhere in its period, so that a program that repeats itself
 * at the same rate, or ten times slower, is not always met at the same places.
 */
static uint64_t jitter(const struct recorder *r)
{
	uint64_t period = r->options.period;

	return period ? map_hash(r->tick, 0) % period : 0;
}

static void sleep_until_tick(struct recorder *r)
{
	uint64_t period = r->options.period, now;

	now = clock_now();
	if (!period) {
		if (r->options.native.source != REGISTERS_NONE)
			sampler_sleep(&r->sampler, r->targets, r->n_targets,
				      now);
		return;
	}
	if (now > r->next + period) {
		uint64_t late = (now - r->next) / period;

		if (r->n_targets)
			recorder_missed(r, now - r->next, late);
		r->next += late * period;
	}
	sampler_sleep(&r->sampler, r->targets, r->n_targets,
		      r->next + jitter(r));
	r->next += period;
	r->tick++;
}

/* The next tick is so far off that the end, a child or an exec would be noticed
 * late: go a part of the way. False when the tick is near. */
static bool rested(const struct recorder *r)
{
	uint64_t until = clock_now() + care_every(r);

	if (until >= r->next + jitter(r))
		return false;
	clock_sleep_until(until);
	return true;
}

/* Nothing to sample yet: wait a little for a Python to appear. */
static void wait_for_python(struct recorder *r)
{
	clock_sleep_until(clock_now() + MILLISECOND / 2);
	r->next = clock_now();
}

/* Threads without native stacks, or of which is not known what they do. */
static bool note_threads(struct recorder *r)
{
	for (uint32_t i = 0; i < r->n_targets && !r->note[0]; i++) {
		const struct native *n = r->targets[i]->native;

		if (n && n->n_refused)
			snprintf(r->note, sizeof(r->note),
				 "threads without native stacks: %s",
				 n->refusal.text);
		else if (r->targets[i]->few_files)
			snprintf(r->note, sizeof(r->note),
				 "some threads may have run and count as idle: "
				 "too many open files, some for each thread "
				 "(ulimit -n)");
	}
	return r->note[0];
}

static void update_info(struct recorder *r)
{
	const struct sampler_counts *c = &r->sampler.counts;
	struct recording_info *i = &r->info;

	i->duration = clock_now() - r->start;
	i->samples = c->samples;
	i->torn = c->torn;
	i->unproven = c->unproven;
	i->unreadable = c->unreadable;
	i->lost = c->lost;
	i->retried = c->retried;
	i->ridden = c->ridden;
	i->visited = c->visited;
	i->clocked = c->clocked;
	i->native = c->native;
	i->broken = c->broken;
	i->unmerged = c->unmerged;
	i->recorder_cpu = clock_process_cpu();
	if (r->sampler.rider.refused && !c->visited)
		i->note =
			"threads could not be read from their own cores (this "
			"process may not choose its core); stacks were "
			"validated instead";
	if (note_threads(r))
		i->note = r->note;
	if (r->writer)
		writer_info(r->writer, i);
}

/* Once a flush: samples do not tell who runs from who only could. */
static void write_times(struct recorder *r)
{
	for (uint32_t i = 0; r->writer && i < r->n_targets; i++)
		scribe_write_times(&r->scribe, r->targets[i]);
}

static int report(struct recorder *r, uint64_t now, struct error *err)
{
	int status = 0;

	if (now - r->last_progress >= PROGRESS_EVERY) {
		r->last_progress = now;
		update_info(r);
		if (r->options.progress)
			r->options.progress(r->options.context, &r->info,
					    r->n_targets);
	}
	if (now - r->last_flush >= r->flush_every) {
		r->last_flush = now;
		if (r->flush_every < FLUSH_EVERY)
			r->flush_every *= 2;
		update_info(r);
		write_times(r);
		if (r->writer)
			status = writer_flush(r->writer, err);
	}
	return status;
}

/* A clock goes on while we are stopped, and would interrupt its thread for
 * nobody. */
static void suspend(struct recorder *r)
{
	if (!r->options.suspend || !*r->options.suspend)
		return;
	*r->options.suspend = 0;
	for (uint32_t i = 0; i < r->n_targets; i++)
		clocks_let_go(r->targets[i]);
	r->window = false;
	raise(SIGSTOP);
}

/* A program that has ended ends the recording, whatever it left running. */
static bool finished(struct recorder *r, uint64_t now)
{
	if (r->options.stop && *r->options.stop)
		return true;
	if (r->options.duration && now - r->start >= r->options.duration)
		return true;
	if (r->program && !family_find(&r->family, r->program))
		return true;
	return !r->n_targets && !r->family.count;
}

/* Let time pass, and take a tick or a window if one is due. Whether somebody
 * was watched in that time: not if nothing could be read. */
static bool watch(struct recorder *r)
{
	uint64_t ticks = r->info.ticks;

	if (!r->n_targets) {
		wait_for_python(r);
		return false;
	}
	if (!r->window || !window_take(r)) {
		if (rested(r))
			return true;
		sleep_until_tick(r);
		r->sampler.woke = clock_now();
		take_tick(r, r->sampler.woke);
		draw_out(r);
		window_plan(r);
	}
	return r->info.ticks != ticks;
}

/* One turn of the loop. *now is the time at its beginning, then that at its
 * end. */
static int turn(struct recorder *r, uint64_t *now, struct error *err)
{
	uint64_t since = *now;
	bool waited = !r->n_targets, watched;
	int status;

	suspend(r);
	status = take_care(r, since, err);
	if (status < 0)
		return status;
	if (waited)
		since = clock_now();
	watched = watch(r);
	*now = clock_now();
	if (watched && *now - since < AWAY)
		r->info.watched += *now - since;
	return report(r, *now, err);
}

static int loop(struct recorder *r, struct error *err)
{
	uint64_t now = clock_now();
	int status = 0;

	if (r->options.period && r->options.period < MILLISECOND)
		sched_precise_timers();
	r->next = now;
	r->last_flush = r->last_progress = now;
	r->flush_every = FIRST_FLUSH;
	while (!finished(r, now) && status == 0)
		status = turn(r, &now, err);
	return status;
}

/* What comes after the last sample takes its time; nobody is to be traced or
 * interrupted for it. */
static void leave_alone(struct recorder *r)
{
	rider_leave(&r->sampler.rider);
	for (uint32_t i = 0; i < r->n_targets; i++) {
		clocks_leave(r->targets[i]);
		native_free(r->targets[i]->native);
		r->targets[i]->native = NULL;
	}
}

static void name_native_code(struct recorder *r)
{
	struct symbolise_options options = {
		.targets = &r->seen,
		.internals = r->options.native.internals,
		.progress = r->options.naming,
		.context = r->options.context,
		.stop = r->options.skip,
	};
	struct symbolise_counts counts;

	symbolise_writer(r->writer, &options, &counts);
	if (counts.stopped && !r->info.note[0]) {
		r->info.note = SYMBOLISE_NOTE;
		writer_info(r->writer, &r->info);
	}
}

int recorder_run(struct recorder *r, struct error *err)
{
	int status = loop(r, err);

	update_info(r);
	write_times(r);
	leave_alone(r);
	if (status < 0 || !r->writer)
		return status;
	r->info.complete = true;
	writer_info(r->writer, &r->info);
	name_native_code(r);
	if (r->options.keeps_source)
		texts_record(r->writer, r->options.keeps_source,
			     r->n_targets ? r->targets[0]->pid : 0);
	return writer_finish(r->writer, err);
}

uint32_t recorder_targets(const struct recorder *r)
{
	return r->n_seen;
}
