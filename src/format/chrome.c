/* Chrome's trace events, as Perfetto and chrome://tracing read them.
 *
 * Every slice of time is one complete ("X") event. Readers nest events by their
 * times and, when two begin together, by their order in the file, so a caller
 * must come before what it calls; but how long it lasts is known only when it
 * ends. Hence two passes over the recording: the first learns how long each
 * slice lasts (8 bytes each, all that is held), the second writes. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "format/label.h"
#include "format/slices.h"

#define AWAY_SAMPLES 3 /* a thread unseen for longer was away */

struct chrome {
	struct profile *profile;
	struct sink *sink;
	struct json json;
	uint32_t *tids;
	uint64_t *durations; /* of slices by order */
	size_t n_durations, capacity;
	struct process_count {
		uint32_t threads[LABEL_STATES]; /* that are in each state */
		bool changed;			/* and not yet written */
	} * counts;				/* by process */
	struct thread_seen {
		enum label_state state;
		uint64_t until; /* the last tick it was seen at; 0: never, or
				 * not any more */
	} * seen;		/* by thread */
	uint64_t now, sample_ns;
};

static void learn_end(void *context, const struct slice *slice, uint64_t end)
{
	struct chrome *c = context;

	if (slice->order >= c->n_durations) {
		ALLOC_GROW(c->durations, slice->order + 1, c->capacity);
		c->n_durations = slice->order + 1;
	}
	c->durations[slice->order] = end - slice->start;
}

static void add_microseconds(struct chrome *c, const char *key, uint64_t ns)
{
	json_double(&c->json, key, (double)ns / 1000);
}

static uint32_t pid_of(const struct chrome *c, uint32_t thread)
{
	const struct reader *r = c->profile->reader;

	return reader_process(r, reader_thread(r, thread)->process)->pid;
}

/* What every event begins with; the caller closes it. */
static void open_event(struct chrome *c, const char *phase, uint32_t pid,
		       uint32_t tid)
{
	json_open(&c->json, NULL, '{');
	json_string(&c->json, "ph", phase);
	json_int(&c->json, "pid", pid);
	json_int(&c->json, "tid", tid);
}

/* What is known of where a function is. */
static void add_place(struct chrome *c, const struct function_info *f)
{
	static const char *const categories[] = {
		[FUNCTION_PYTHON] = "python",
		[FUNCTION_NATIVE] = "native",
		[FUNCTION_KERNEL] = "kernel",
		[FUNCTION_MARK] = "mark",
	};

	json_string(&c->json, "cat", categories[f->kind]);
	if (!*f->file && !*f->module)
		return;
	json_open(&c->json, "args", '{');
	if (*f->file) {
		json_string(&c->json, "file", f->file);
		json_int(&c->json, "line", f->line);
	}
	if (*f->module)
		json_string(&c->json, "library", f->module);
	json_close(&c->json);
}

static int write_slice(void *context, const struct slice *slice)
{
	struct chrome *c = context;
	const struct function_info *f = NULL;

	if (slice->function != ID_NONE)
		f = reader_function(c->profile->reader, slice->function);
	open_event(c, "X", pid_of(c, slice->thread), c->tids[slice->thread]);
	add_microseconds(c, "ts", slice->start);
	add_microseconds(c, "dur", c->durations[slice->order]);
	json_string(&c->json, "name", f ? f->name : LABEL_NO_STACK);
	if (f)
		add_place(c, f);
	json_close(&c->json);
	return sink_drain(c->sink);
}

static void add_name(struct chrome *c, const char *what, uint32_t pid,
		     uint32_t tid, const char *name)
{
	open_event(c, "M", pid, tid);
	json_string(&c->json, "name", what);
	json_open(&c->json, "args", '{');
	json_string(&c->json, "name", name);
	json_close(&c->json);
	json_close(&c->json);
}

static void add_names(struct chrome *c)
{
	const struct reader *r = c->profile->reader;

	for (uint32_t i = 0; i < reader_processes(r); i++) {
		const struct process_info *p = reader_process(r, i);

		add_name(c, "process_name", p->pid, 0, p->command);
	}
	for (uint32_t i = 0; i < reader_threads(r); i++)
		if (c->profile->threads[i].samples)
			add_name(c, "thread_name", pid_of(c, i), c->tids[i],
				 label_thread(reader_thread(r, i)));
}

/* Markers are spans of their own that need not nest with calls: asynchronous
 * events; those without a length are instants. */
static void add_marker(struct chrome *c, const struct marker_info *m,
		       uint32_t id, const char *phase, uint64_t when)
{
	bool here = m->thread != ID_NONE;

	open_event(c, phase, here ? pid_of(c, m->thread) : 0,
		   here ? c->tids[m->thread] : 0);
	add_microseconds(c, "ts", when);
	json_string(&c->json, "name", m->name);
	json_string(&c->json, "cat", "marker");
	if (*phase == 'i')
		json_string(&c->json, "s", here ? "t" : "g");
	else
		json_int(&c->json, "id", id);
	json_open(&c->json, "args", '{');
	json_string(&c->json, "text", m->text);
	json_close(&c->json);
	json_close(&c->json);
}

static int add_markers(struct chrome *c)
{
	const struct reader *r = c->profile->reader;
	int status = 0;

	for (uint32_t i = 0; i < reader_markers(r) && !status; i++) {
		const struct marker_info *m = reader_marker(r, i);

		if (!label_has_marker(c->profile, m))
			continue;
		if (m->start == m->end) {
			add_marker(c, m, i, "i", m->start);
		} else {
			add_marker(c, m, i, "b", m->start);
			add_marker(c, m, i, "e", m->end);
		}
		status = sink_drain(c->sink);
	}
	return status;
}

static void write_count(struct chrome *c, uint32_t process)
{
	struct process_count *count = &c->counts[process];

	open_event(c, "C", reader_process(c->profile->reader, process)->pid, 0);
	add_microseconds(c, "ts", c->now);
	json_string(&c->json, "name", "threads");
	json_open(&c->json, "args", '{');
	for (int i = LABEL_IDLE + 1; i < LABEL_STATES; i++)
		json_int(&c->json, label_state_name((enum label_state)i),
			 count->threads[i]);
	json_close(&c->json);
	json_close(&c->json);
	count->changed = false;
}

static void write_counts(struct chrome *c)
{
	uint32_t n = reader_processes(c->profile->reader);

	for (uint32_t i = 0; i < n; i++)
		if (c->counts[i].changed)
			write_count(c, i);
}

static struct process_count *count_of(struct chrome *c, uint32_t thread)
{
	return &c->counts[reader_thread(c->profile->reader, thread)->process];
}

/* Uncount the threads that were not seen for a while. */
static void expire(struct chrome *c)
{
	uint32_t n = reader_threads(c->profile->reader);

	for (uint32_t i = 0; i < n; i++) {
		struct thread_seen *seen = &c->seen[i];

		if (!seen->until ||
		    seen->until + AWAY_SAMPLES * c->sample_ns >= c->now)
			continue;
		seen->until = 0;
		count_of(c, i)->threads[seen->state]--;
		count_of(c, i)->changed = true;
	}
}

/* How many threads are in which state, each time that changes; all changes at
 * one tick are one event. */
static int count_run(void *context, const struct run *run, uint64_t first,
		     uint64_t last)
{
	struct chrome *c = context;
	struct process_count *count = count_of(c, run->thread);
	struct thread_seen *seen = &c->seen[run->thread];
	enum label_state state = label_state(run->state);

	if (c->now != first) {
		write_counts(c);
		c->now = first;
		expire(c);
	}
	if (!seen->until || seen->state != state) {
		if (seen->until)
			count->threads[seen->state]--;
		count->threads[state]++;
		count->changed = true;
	}
	seen->state = state;
	seen->until = last ? last : 1;
	return sink_drain(c->sink);
}

static int add_counts(struct chrome *c, struct error *err)
{
	const struct reader *r = c->profile->reader;
	int status;

	c->counts =
		xcalloc((size_t)reader_processes(r) + 1, sizeof(*c->counts));
	c->seen = xcalloc((size_t)reader_threads(r) + 1, sizeof(*c->seen));
	status = profile_each_run(c->profile, count_run, c, err);
	write_counts(c);
	free(c->counts);
	free(c->seen);
	return status;
}

static int write_events(struct chrome *c, struct error *err)
{
	static const struct slice_visitor learn = { .end = learn_end };
	static const struct slice_visitor write = { .begin = write_slice };
	int status = slices_each(c->profile, &learn, c, err);

	if (!status)
		status = slices_each(c->profile, &write, c, err);
	if (!status)
		status = add_counts(c, err);
	return status ? status : add_markers(c);
}

static int write_chrome(struct profile *p, const struct format_options *options,
			struct sink *sink, struct error *err)
{
	struct chrome c = {
		.profile = p,
		.sink = sink,
		.json = JSON_OVER(&sink->out),
		.tids = label_unique_tids(p),
		.sample_ns = label_sample_ns(p),
	};
	int status;

	(void)options;
	json_open(&c.json, NULL, '{');
	json_string(&c.json, "displayTimeUnit", "ms");
	json_open(&c.json, "otherData", '{');
	json_string(&c.json, "exporter", "pyrometer " PYROMETER_VERSION);
	json_string(&c.json, "command", label_program(p));
	json_close(&c.json);
	json_open(&c.json, "traceEvents", '[');
	add_names(&c);
	status = write_events(&c, err);
	json_close(&c.json);
	json_close(&c.json);
	free(c.tids);
	free(c.durations);
	return status;
}

const struct format_ops format_chrome = {
	.name = "chrome",
	.prefix = "",
	.suffix = ".trace.json",
	.summary = "ui.perfetto.dev and chrome://tracing",
	.write = write_chrome,
};
