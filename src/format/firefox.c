/* The Firefox Profiler's "processed" format, version 60; later versions of
 * profiler.firefox.com upgrade it when they load it.
 *
 * A run is two samples, at its first tick and at its last with the weight of
 * all but the first, so that it is drawn in its full length. Threads are
 * written first and the tables they refer to last (firefox_tables.c), when it
 * is known what is in them. Memory: see lanes.h. */
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/firefox.h"
#include "format/label.h"
#include "format/lanes.h"

#define FORMAT_VERSION 60
#define GECKO_VERSION  32 /* of the unprocessed format; has to be there */

static const struct {
	const char *name, *colour; /* of those that the profiler knows */
} categories[CATEGORIES] = {
	[CATEGORY_OTHER] = { "Other", "grey" }, /* grey is the default one */
	[CATEGORY_PYTHON] = { "Python", "yellow" },
	[CATEGORY_NATIVE] = { "Native code", "blue" },
	[CATEGORY_KERNEL] = { "Kernel", "orange" },
	[CATEGORY_UNLOCKED] = { "Running without the GIL", "green" },
	[CATEGORY_GC] = { "Collecting garbage", "purple" },
	[CATEGORY_GIL_WAIT] = { "Waiting for the GIL", "lightred" },
	[CATEGORY_IDLE] = { "Idle", "transparent" },
};

static void add_ms(struct firefox *w, const char *key, uint64_t ns)
{
	json_double(&w->json, key, (double)ns / 1e6);
}

/* A column of a thread's samples: one value for the first tick of a run, one
 * for the last if there are more. */
typedef void add_value(struct firefox *w, const struct lane_run *run,
		       bool last);

static void add_stack(struct firefox *w, const struct lane_run *run, bool last)
{
	(void)last;
	json_int(&w->json, NULL, firefox_stack(w, run->node, run->state));
}

static void add_time(struct firefox *w, const struct lane_run *run, bool last)
{
	add_ms(w, NULL, last ? run->last : run->first);
}

static void add_weight(struct firefox *w, const struct lane_run *run, bool last)
{
	json_int(&w->json, NULL, last ? run->ticks - 1 : 1);
}

static void add_cpu(struct firefox *w, const struct lane_run *run, bool last)
{
	uint64_t ticks = last ? run->ticks - 1 : 1;

	json_int(&w->json, NULL,
		 run->state & STATE_ON_CPU ? (int64_t)(ticks * w->sample_ns)
					   : 0);
}

static int64_t add_column(struct firefox *w, const char *name,
			  const struct lane *lane, add_value *add)
{
	int64_t length = 0;

	json_open(&w->json, name, '[');
	for (uint32_t i = 0; i < lane->count; i++) {
		const struct lane_run *run = &lane->runs[i];

		add(w, run, false);
		if (run->ticks > 1)
			add(w, run, true);
		length += run->ticks > 1 ? 2 : 1;
		if (sink_drain(w->sink))
			break;
	}
	json_close(&w->json);
	return length;
}

static void add_samples(struct firefox *w, const struct lane *lane)
{
	int64_t length;

	json_open(&w->json, "samples", '{');
	add_column(w, "stack", lane, add_stack);
	add_column(w, "time", lane, add_time);
	add_column(w, "weight", lane, add_weight);
	length = add_column(w, "threadCPUDelta", lane, add_cpu);
	json_string(&w->json, "weightType", "samples");
	json_int(&w->json, "length", length);
	json_close(&w->json);
}

/* Whether a marker is shown with this thread. Those of no thread are shown
 * with the first that is written. */
static bool marker_here(const struct firefox *w, const struct marker_info *m,
			uint32_t thread)
{
	return label_has_marker(w->profile, m) &&
	       (m->thread == thread || (m->thread == ID_NONE && !w->n_threads));
}

typedef void add_marker_cell(struct firefox *w, const struct marker_info *m);

static void add_marker_data(struct firefox *w, const struct marker_info *m)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", "Marker");
	json_string(&w->json, "text", m->text);
	json_close(&w->json);
}

static void add_marker_name(struct firefox *w, const struct marker_info *m)
{
	json_int(&w->json, NULL, intern_string(&w->strings, m->name));
}

static void add_marker_start(struct firefox *w, const struct marker_info *m)
{
	add_ms(w, NULL, m->start);
}

static void add_marker_end(struct firefox *w, const struct marker_info *m)
{
	if (m->start == m->end)
		json_null(&w->json, NULL);
	else
		add_ms(w, NULL, m->end);
}

static void add_marker_phase(struct firefox *w, const struct marker_info *m)
{
	json_int(&w->json, NULL,
		 m->start != m->end); /* 0 instant, 1 interval */
}

static void add_marker_category(struct firefox *w, const struct marker_info *m)
{
	(void)m;
	json_int(&w->json, NULL, CATEGORY_OTHER);
}

static const struct {
	const char *name;
	add_marker_cell *add;
} marker_columns[] = {
	{ "data", add_marker_data },	   { "name", add_marker_name },
	{ "startTime", add_marker_start }, { "endTime", add_marker_end },
	{ "phase", add_marker_phase },	   { "category", add_marker_category },
};

#define N_MARKER_COLUMNS (sizeof(marker_columns) / sizeof(marker_columns[0]))

static int64_t add_marker_column(struct firefox *w, uint32_t thread,
				 const char *name, add_marker_cell *add)
{
	const struct reader *r = w->profile->reader;
	int64_t length = 0;

	json_open(&w->json, name, '[');
	for (uint32_t i = 0; i < reader_markers(r); i++) {
		const struct marker_info *m = reader_marker(r, i);

		if (!marker_here(w, m, thread))
			continue;
		add(w, m);
		length++;
		sink_drain(w->sink);
	}
	json_close(&w->json);
	return length;
}

static void add_markers(struct firefox *w, uint32_t thread)
{
	int64_t length = 0;

	json_open(&w->json, "markers", '{');
	for (size_t i = 0; i < N_MARKER_COLUMNS; i++)
		length = add_marker_column(w, thread, marker_columns[i].name,
					   marker_columns[i].add);
	json_int(&w->json, "length", length);
	json_close(&w->json);
}

static void add_end(struct firefox *w, const char *key, uint64_t when)
{
	if (when == UINT64_MAX)
		json_null(&w->json, key);
	else
		add_ms(w, key, when);
}

static void add_identity(struct firefox *w, uint32_t thread)
{
	const struct reader *r = w->profile->reader;
	const struct thread_info *t = reader_thread(r, thread);
	const struct process_info *p = reader_process(r, t->process);
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", p->pid);
	json_string(&w->json, "name", label_thread(t));
	json_bool(&w->json, "isMainThread", t->main);
	json_string(&w->json, "processType", "default");
	json_string(&w->json, "processName", p->command);
	add_ms(w, "processStartupTime", p->start);
	add_end(w, "processShutdownTime",
		reader_process_end(r, t->process, NULL));
	add_ms(w, "registerTime", t->start);
	add_end(w, "unregisterTime", reader_thread_end(r, thread));
	json_string(&w->json, "pid", pid);
	json_int(&w->json, "tid", w->tids[thread]);
	json_open(&w->json, "pausedRanges", '[');
	json_close(&w->json);
	json_bool(&w->json, "showMarkersInTimeline", true);
}

static int add_thread(void *context, const struct lane *lane)
{
	struct firefox *w = context;

	json_open(&w->json, NULL, '{');
	add_identity(w, lane->thread);
	add_samples(w, lane);
	add_markers(w, lane->thread);
	json_close(&w->json);
	w->n_threads++;
	return w->sink->status;
}

static void add_categories(struct firefox *w)
{
	json_open(&w->json, "categories", '[');
	for (int i = 0; i < CATEGORIES; i++) {
		json_open(&w->json, NULL, '{');
		json_string(&w->json, "name", categories[i].name);
		json_string(&w->json, "color", categories[i].colour);
		json_open(&w->json, "subcategories", '[');
		json_string(&w->json, NULL, "Other");
		json_close(&w->json);
		json_close(&w->json);
	}
	json_close(&w->json);
}

static void add_marker_schema(struct firefox *w)
{
	json_open(&w->json, "markerSchema", '[');
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "name", "Marker");
	json_string(&w->json, "tableLabel", "{marker.data.text}");
	json_open(&w->json, "display", '[');
	json_string(&w->json, NULL, "marker-chart");
	json_string(&w->json, NULL, "marker-table");
	json_string(&w->json, NULL, "timeline-overview");
	json_close(&w->json);
	json_open(&w->json, "fields", '[');
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "key", "text");
	json_string(&w->json, "label", "Details");
	json_string(&w->json, "format", "string");
	json_close(&w->json);
	json_close(&w->json);
	json_close(&w->json);
	json_close(&w->json);
}

static void add_units(struct firefox *w)
{
	json_open(&w->json, "sampleUnits", '{');
	json_string(&w->json, "time", "ms");
	json_string(&w->json, "eventDelay", "ms");
	json_string(&w->json, "threadCPUDelta", "ns");
	json_close(&w->json);
}

static void add_title(struct firefox *w)
{
	struct buffer title = BUFFER_INIT;

	label_add_title(&title, w->profile);
	json_string(&w->json, "product", buffer_text(&title));
	buffer_release(&title);
}

static void add_meta(struct firefox *w)
{
	const struct recording_info *info = reader_info(w->profile->reader);

	json_open(&w->json, "meta", '{');
	json_int(&w->json, "version", GECKO_VERSION);
	json_int(&w->json, "preprocessedProfileVersion", FORMAT_VERSION);
	add_title(w);
	json_string(&w->json, "importedFrom", "pyrometer " PYROMETER_VERSION);
	json_double(&w->json, "interval", (double)w->sample_ns / 1e6);
	json_double(&w->json, "startTime", (double)info->wall_start / 1e6);
	json_int(&w->json, "processType", 0);
	json_int(&w->json, "stackwalk", 1);
	json_bool(&w->json, "symbolicated", true);
	json_bool(&w->json, "usesOnlyOneStackType", true);
	json_bool(&w->json, "sourceCodeIsNotOnSearchfox", true);
	json_bool(&w->json, "keepProfileThreadOrder", true);
	add_units(w);
	add_categories(w);
	add_marker_schema(w);
	json_close(&w->json);
}

static int write_all(struct firefox *w, struct error *err)
{
	int status;

	json_open(&w->json, NULL, '{');
	add_meta(w);
	firefox_add_libs(w);
	json_open(&w->json, "threads", '[');
	status = lanes_each(w->profile, add_thread, w, err);
	json_close(&w->json);
	if (!status)
		firefox_add_shared(w);
	json_close(&w->json);
	return status ? status : w->sink->status;
}

static int write_firefox(struct profile *p,
			 const struct format_options *options,
			 struct sink *sink, struct error *err)
{
	struct firefox w = {
		.profile = p,
		.sink = sink,
		.json = JSON_OVER(&sink->out),
		.tids = label_unique_tids(p),
		.sample_ns = label_sample_ns(p),
	};
	int status;

	(void)options;
	firefox_native_init(&w.native, p->reader);
	status = write_all(&w, err);
	firefox_native_release(&w.native);
	intern_release(&w.strings);
	intern_release(&w.sources);
	map_release(&w.stacks.index);
	map_release(&w.frames.index);
	free(w.stacks.items);
	free(w.frames.items);
	free(w.tids);
	return status;
}

const struct format_ops format_firefox = {
	.name = "firefox",
	.prefix = "",
	.suffix = ".firefox.json",
	.summary = "profiler.firefox.com",
	.write = write_firefox,
};
