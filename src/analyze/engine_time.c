/* Answers about the recording as a whole, and in time. */
#include <stdlib.h>

#include "analyze/engine_private.h"
#include "analyze/search.h"
#include "analyze/timeline.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/clock.h"

#define BUCKETS_MOST 4096
#define MARKERS_MOST 5000
#define STACK_MOST   1024
#define HOLDERS_MOST 20

static void answer_process(struct json *j, const struct reader *reader,
			   uint32_t id)
{
	const struct process_info *p = reader_process(reader, id);

	json_open(j, NULL, '{');
	json_int(j, "pid", p->pid);
	json_string(j, "command", p->command);
	json_string(j, "python", p->python);
	json_close(j);
}

static void answer_thread(struct json *j, const struct reader *reader,
			  uint32_t id)
{
	const struct thread_info *t = reader_thread(reader, id);

	json_open(j, NULL, '{');
	json_int(j, "process", t->process);
	json_int(j, "tid", t->tid);
	json_string(j, "name", t->name);
	json_bool(j, "main", t->main);
	json_int(j, "start", (int64_t)t->start);
	json_close(j);
}

/* An id that may be missing: then -1. */
static void answer_id(struct json *j, const char *key, uint32_t id)
{
	json_int(j, key, id == ID_NONE ? -1 : (int64_t)id);
}

static void answer_marker(struct json *j, const struct reader *reader,
			  uint32_t id)
{
	const struct marker_info *m = reader_marker(reader, id);

	json_open(j, NULL, '{');
	json_int(j, "start", (int64_t)m->start);
	json_int(j, "end", (int64_t)m->end);
	answer_id(j, "thread", m->thread);
	json_string(j, "name", m->name);
	json_string(j, "text", m->text);
	json_close(j);
}

static void answer_list(struct json *j, const char *key,
			const struct reader *reader, uint32_t n,
			void (*one)(struct json *, const struct reader *,
				    uint32_t))
{
	json_open(j, key, '[');
	for (uint32_t i = 0; i < n; i++)
		one(j, reader, i);
	json_close(j);
}

static void answer_recording(struct json *j, const struct recording_view *v)
{
	const struct recording_info *info = reader_info(v->reader);

	json_open(j, NULL, '{');
	json_string(j, "name", v->name);
	json_string(j, "command", info->command);
	json_string(j, "host", info->host);
	json_string(j, "version", info->version);
	json_string(j, "note", info->note);
	json_int(j, "wall_start", (int64_t)(info->wall_start / 1000000));
	json_int(j, "duration", (int64_t)profile_recorded_until(v->reader));
	json_int(j, "period", (int64_t)info->period);
	json_int(j, "samples", (int64_t)info->samples);
	json_int(j, "ticks", (int64_t)info->ticks);
	json_int(j, "missed", (int64_t)info->missed);
	json_int(j, "torn", (int64_t)info->torn);
	json_int(j, "unproven", (int64_t)info->unproven);
	json_int(j, "lost", (int64_t)info->lost);
	json_int(j, "recorder_cpu", (int64_t)info->recorder_cpu);
	json_int(j, "filter", info->filter);
	json_string(j, "notice",
		    reader_notice(v->reader) ? reader_notice(v->reader) : "");
	json_close(j);
}

int answer_info(struct request *r, struct error *err)
{
	const struct reader *reader = r->view->reader;
	uint32_t markers = reader_markers(reader);
	struct json *j = r->json;

	json_open(j, "recordings", '[');
	for (uint32_t i = 0; i < r->engine->n_recordings; i++)
		answer_recording(j, &r->engine->recordings[i]);
	json_close(j);
	answer_list(j, "processes", reader, reader_processes(reader),
		    answer_process);
	answer_list(j, "threads", reader, reader_threads(reader),
		    answer_thread);
	answer_list(j, "markers", reader,
		    markers < MARKERS_MOST ? markers : MARKERS_MOST,
		    answer_marker);
	return 0;
}

/* Shares as one character each, '0' for none to 'o' for all: a picture needs no
 * more, and a thousand threads have many buckets. */
static void answer_lane(struct request *r, const struct timeline *t,
			uint32_t thread)
{
	struct buffer text = BUFFER_INIT;

	for (uint32_t i = 0; i < t->n_buckets; i++)
		for (int s = 0; s < LANE_STATES; s++) {
			float v = t->lanes[thread][i][s];

			v = v > 1 ? 1 : v;
			buffer_add_byte(&text,
					(unsigned char)('0' + v * 63 + 0.5F));
		}
	json_open(r->json, NULL, '[');
	json_int(r->json, NULL, thread);
	json_string(r->json, NULL, buffer_text(&text));
	json_close(r->json);
	buffer_release(&text);
}

/* By function, whether it is that of the field "function" or else matches the
 * field "q"; NULL when neither is asked for. A pattern that is none matches
 * nothing. */
static bool *wanted_functions(struct request *r)
{
	const struct reader *reader = r->view->reader;
	uint64_t one = query_number(&r->query, "function", ID_NONE);
	const char *q = query_text(&r->query, "q", "");
	bool *wanted;

	if (one < reader_functions(reader)) {
		wanted = xcalloc(reader_functions(reader), sizeof(*wanted));
		wanted[one] = true;
		return wanted;
	}
	return *q ? search_names(reader, q, NULL) : NULL;
}

/* By node, whether a wanted function is on its stack; NULL: none is wanted. */
static bool *mark_nodes(struct request *r)
{
	const struct reader *reader = r->view->reader;
	bool *wanted = wanted_functions(r), *marked;
	uint32_t n = reader_nodes(reader);

	if (!wanted)
		return NULL;
	marked = xcalloc(n, sizeof(*marked));
	for (uint32_t i = 0; i < n; i++) {
		struct node_info node = reader_node(reader, i);

		marked[i] = wanted[reader_frame(reader, node.frame).function] ||
			    (node.parent != ID_NONE && marked[node.parent]);
	}
	free(wanted);
	return marked;
}

int answer_timeline(struct request *r, struct error *err)
{
	uint32_t n = query_within(&r->query, "buckets", 512, 1, BUCKETS_MOST);
	struct profile_filter filter;
	struct timeline t;
	struct profile *p;
	bool *marked = mark_nodes(r);
	int status;

	window_filter(r, r->view, &filter);
	p = profile_uncounted(r->view->reader, &filter);
	status = timeline_count(&t, p, n, marked, err);
	profile_free(p);
	free(marked);
	if (status < 0)
		return status;
	json_int(r->json, "stride", filter.stride);
	json_open(r->json, "lanes", '[');
	for (uint32_t i = 0; i < t.n_threads; i++)
		if (t.lanes[i])
			answer_lane(r, &t, i);
	json_close(r->json);
	timeline_release(&t);
	return 0;
}

/* Frames as [function, line], outermost first. */
static void answer_stack(struct request *r, const char *key, uint32_t node)
{
	struct profile p = { .reader = r->view->reader };
	uint32_t frames[STACK_MOST];
	uint32_t n = node == ID_NONE
			     ? 0
			     : profile_stack(&p, node, frames, STACK_MOST);

	json_open(r->json, key, '[');
	for (uint32_t i = 0; i < n && i < STACK_MOST; i++) {
		struct frame_info frame = reader_frame(p.reader, frames[i]);

		json_open(r->json, NULL, '[');
		json_int(r->json, NULL, mention(r, frame.function));
		json_int(r->json, NULL, frame.line);
		json_close(r->json);
	}
	json_close(r->json);
}

int answer_moment(struct request *r, struct error *err)
{
	uint32_t thread = query_within(&r->query, "thread", 0, 0, ID_NONE);
	struct moment m;
	int status = moment_find(&m, r->view->reader, thread,
				 query_number(&r->query, "at", 0), err);

	if (status < 0)
		return status;
	json_bool(r->json, "found", m.found);
	json_int(r->json, "when", (int64_t)m.when);
	json_int(r->json, "first", (int64_t)m.first);
	json_int(r->json, "last", (int64_t)m.last);
	json_int(r->json, "before", (int64_t)m.before);
	json_int(r->json, "after", (int64_t)m.after);
	json_int(r->json, "run_before", (int64_t)m.run_before);
	json_int(r->json, "run_after", (int64_t)m.run_after);
	json_int(r->json, "state", m.state);
	json_int(r->json, "lane", lane_state(m.state));
	answer_stack(r, "stack", m.node);
	answer_id(r->json, "holder", m.holder);
	answer_stack(r, "holder_stack", m.holder_node);
	return 0;
}

static void answer_holder(struct request *r, const struct holder *h)
{
	json_open(r->json, NULL, '[');
	json_int(r->json, NULL, h->thread);
	json_int(r->json, NULL,
		 h->function == ID_NONE ? -1
					: (int64_t)mention(r, h->function));
	json_int(r->json, NULL, (int64_t)h->samples);
	json_close(r->json);
}

/* Who held the GIL while the thread of the field "thread" waited for it. */
int answer_waits(struct request *r, struct error *err)
{
	struct profile_filter filter;
	struct waits w;
	int status;

	window_filter(r, r->view, &filter);
	status = waits_count(&w, r->view->reader,
			     query_within(&r->query, "thread", 0, 0, ID_NONE),
			     filter.from, filter.to, filter.stride, err);
	json_int(r->json, "stride", filter.stride);
	json_int(r->json, "samples", (int64_t)w.samples);
	json_int(r->json, "unknown", (int64_t)w.unknown);
	json_open(r->json, "holders", '[');
	for (uint32_t i = 0; i < w.count && i < HOLDERS_MOST; i++)
		answer_holder(r, &w.items[i]);
	json_close(r->json);
	waits_release(&w);
	return status;
}

/* What is no function in the picture is ID_NONE: garbage collection. */
static void answer_chrono_boxes(struct request *r, const struct chrono *c)
{
	json_open(r->json, "boxes", '[');
	for (uint32_t i = 0; i < c->count; i++) {
		const struct chrono_box *b = &c->items[i];

		json_number(r->json, b->depth);
		json_number(r->json, b->start);
		json_number(r->json, b->end);
		json_number(r->json, b->function == CHRONO_GC
					     ? CHRONO_GC
					     : mention(r, b->function));
	}
	json_close(r->json);
}

int answer_chrono(struct request *r, struct error *err)
{
	uint32_t columns = query_within(&r->query, "columns", 1000, 1, 4096);
	uint32_t thread = query_within(&r->query, "thread", 0, 0, ID_NONE);
	struct chrono_options options = {
		.mine = query_flag(&r->query, "mine"),
		.inverted = query_flag(&r->query, "inverted"),
	};
	struct profile_filter filter;
	struct profile *p;
	struct chrono c;
	int status;

	window_filter(r, r->view, &filter);
	filter.mode = request_mode(r);
	filter.thread_ids = &thread;
	filter.n_thread_ids = 1;
	p = profile_uncounted(r->view->reader, &filter);
	status = chrono_count(&c, p, thread, columns, &options, err);
	profile_free(p);
	if (status < 0)
		return status;
	json_int(r->json, "stride", filter.stride);
	json_int(r->json, "from", (int64_t)filter.from);
	json_int(r->json, "to", (int64_t)filter.to);
	json_int(r->json, "deepest", c.depth);
	answer_chrono_boxes(r, &c);
	chrono_release(&c);
	return 0;
}
