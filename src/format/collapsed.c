/* Collapsed stacks: one line per stack, `a;b;c N`, outermost first; frames as
 * py-spy writes them. Read by flamegraph.pl, inferno, speedscope and many.
 *
 * Stacks of native code may differ in addresses only, which are not written:
 * those are one line. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "format/census.h"
#include "format/label.h"

struct collapsing {
	struct profile *profile;
	struct buffer labels; /* of all frames, one after the other, clean */
	size_t *starts;	      /* by frame: where its label begins */
	uint32_t *same;	  /* by node: the first with the same labels; or NULL */
	uint32_t *frames; /* of the stack at hand */
	uint32_t capacity;
};

/* Append what is in `raw` with nothing in it that has a meaning here. */
static void add_clean(struct buffer *out, struct buffer *raw)
{
	label_add_clean(out, buffer_text(raw), ";", ',');
	buffer_reset(raw);
}

/* A frame is in many stacks; its label is made once. */
static void make_labels(struct collapsing *c)
{
	const struct reader *r = c->profile->reader;
	size_t base = origin_base(r);
	struct buffer raw = BUFFER_INIT;

	c->starts = xcalloc((size_t)reader_frames(r) + 1, sizeof(*c->starts));
	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info frame = reader_frame(r, i);

		label_add_frame(&raw, reader_function(r, frame.function),
				frame.line, base);
		add_clean(&c->labels, &raw);
		c->starts[i + 1] = c->labels.size;
	}
	buffer_release(&raw);
}

static void find_same(struct collapsing *c)
{
	const struct reader *r = c->profile->reader;
	struct intern labels = INTERN_INIT;
	struct map known = MAP_INIT;

	if (!reader_sites(r))
		return;
	c->same = xcalloc((size_t)reader_nodes(r) + 1, sizeof(*c->same));
	for (uint32_t i = 0; i < reader_nodes(r); i++) {
		struct node_info node = reader_node(r, i);
		size_t start = c->starts[node.frame];
		uint32_t label =
			intern_bytes(&labels,
				     (const char *)c->labels.data + start,
				     c->starts[node.frame + 1] - start);
		uint32_t parent =
			node.parent == ID_NONE ? ID_NONE : c->same[node.parent];

		c->same[i] = map_get(&known, parent, label);
		if (c->same[i] == MAP_NONE) {
			map_put(&known, parent, label, i);
			c->same[i] = i;
		}
	}
	map_release(&known);
	intern_release(&labels);
}

static uint32_t same_as(const struct collapsing *c, uint32_t node)
{
	return node == ID_NONE || !c->same ? node : c->same[node];
}

static void add_roots(struct collapsing *c, struct sink *sink, uint32_t thread)
{
	const struct thread_info *t = reader_thread(c->profile->reader, thread);
	const struct process_info *process =
		reader_process(c->profile->reader, t->process);
	struct buffer raw = BUFFER_INIT;

	buffer_printf(&raw, "process %u:\"%s\"", process->pid,
		      process->command);
	add_clean(&sink->out, &raw);
	buffer_add_byte(&sink->out, ';');
	buffer_printf(&raw, "thread (%u): %s", t->tid, label_thread(t));
	add_clean(&sink->out, &raw);
	buffer_add_byte(&sink->out, ';');
	buffer_release(&raw);
}

static uint32_t find_frames(struct collapsing *c, uint32_t node)
{
	uint32_t n = profile_stack(c->profile, node, c->frames, c->capacity);

	if (n > c->capacity) {
		ALLOC_GROW(c->frames, n, c->capacity);
		profile_stack(c->profile, node, c->frames, c->capacity);
	}
	return n;
}

/* The line of a stack, from its first frame to its count. */
static void add_stack(struct collapsing *c, struct sink *sink, uint32_t node,
		      uint64_t samples)
{
	uint32_t n = node == ID_NONE ? 0 : find_frames(c, node);

	for (uint32_t i = 0; i < n; i++) {
		size_t start = c->starts[c->frames[i]];

		if (i)
			buffer_add_byte(&sink->out, ';');
		buffer_add(&sink->out, c->labels.data + start,
			   c->starts[c->frames[i] + 1] - start);
	}
	buffer_printf(&sink->out, "%s %" PRIu64 "\n", n ? "" : LABEL_NO_STACK,
		      samples);
}

/* Add the entries up whose stacks are the same; what was added is left with 0
 * samples. */
static void merge_entries(const struct collapsing *c, struct census *census)
{
	struct map first = MAP_INIT;

	for (uint32_t i = 0; c->same && i < census->count; i++) {
		struct census_entry *e = &census->entries[i];
		uint32_t node = same_as(c, e->node);
		uint32_t known = map_get(&first, e->thread, node);

		if (known == MAP_NONE) {
			map_put(&first, e->thread, node, i);
			continue;
		}
		census->entries[known].samples += e->samples;
		e->samples = 0;
	}
	map_release(&first);
}

static int write_threads(struct collapsing *c, struct sink *sink,
			 struct error *err)
{
	struct census census = CENSUS_INIT;
	int status = census_fill(&census, c->profile, 0, err);

	merge_entries(c, &census);
	for (uint32_t i = 0; !status && i < census.count; i++) {
		const struct census_entry *e = &census.entries[i];

		if (!e->samples)
			continue;
		add_roots(c, sink, e->thread);
		add_stack(c, sink, e->node, e->samples);
		status = sink_drain(sink);
	}
	census_release(&census);
	return status;
}

static int write_stacks(struct collapsing *c, struct sink *sink)
{
	const struct profile *p = c->profile;
	uint64_t *samples = xcalloc((size_t)p->n_nodes + 1, sizeof(*samples));
	int status = 0;

	for (uint32_t node = 0; node < p->n_nodes; node++)
		samples[same_as(c, node)] += p->self[node];
	for (uint32_t node = 0; !status && node < p->n_nodes; node++) {
		if (!samples[node])
			continue;
		add_stack(c, sink, node, samples[node]);
		status = sink_drain(sink);
	}
	free(samples);
	if (p->no_stack)
		add_stack(c, sink, ID_NONE, p->no_stack);
	return status;
}

static int write_collapsed(struct profile *p,
			   const struct format_options *options,
			   struct sink *sink, struct error *err)
{
	struct collapsing c = { .profile = p };
	int status;

	make_labels(&c);
	find_same(&c);
	status = options->threads ? write_threads(&c, sink, err)
				  : write_stacks(&c, sink);
	free(c.frames);
	free(c.starts);
	free(c.same);
	buffer_release(&c.labels);
	return status;
}

const struct format_ops format_collapsed = {
	.name = "collapsed",
	.prefix = "",
	.suffix = ".folded",
	.summary = "flamegraph.pl, inferno and speedscope",
	.write = write_collapsed,
};
