/* callgrind's profile format, as callgrind_annotate and KCachegrind read it.
 *
 * Costs are nanoseconds and samples. A function's own costs stand line by line;
 * then its calls, by the line they are made from, with what they cost in all.
 * How often a function was called a sampler cannot know: the number given is
 * how often it was seen to appear on a stack, a lower bound. A function that
 * calls itself directly gets no cost for that call, since the outer call
 * already has it; through others (a calls b calls a) a reader that sums up what
 * callees cost counts the inner call again. Names are given once, then by
 * number. An object is a library of native code, or the program for what it
 * interprets. */
#include "format/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "format/call_graph.h"
#include "format/label.h"
#include "format/slices.h"

struct callgrind {
	struct profile *profile;
	struct sink *sink;
	struct intern files, objects;
	bool *file_named, *object_named,
		*function_named;       /* by number: the name was given */
	uint32_t *file_of, *object_of; /* by function */
	uint32_t *first_node,
		*next_node; /* nodes with own samples, by function */
	struct call_graph graph;
	uint64_t sample_ns;
};

static int count_call(void *context, const struct slice *slice)
{
	uint32_t *calls = context;

	if (slice->node != ID_NONE)
		calls[slice->node]++;
	return 0;
}

static int find_calls(struct callgrind *c, struct error *err)
{
	static const struct slice_visitor count = { .begin = count_call };
	uint32_t *calls =
		xcalloc((size_t)c->profile->n_nodes + 1, sizeof(*calls));
	struct call_graph_options options = { .by_line = true, .calls = calls };
	int status = slices_each(c->profile, &count, calls, err);

	call_graph_fill(&c->graph, c->profile, &options);
	call_graph_sort(&c->graph);
	free(calls);
	return status;
}

static const char *program_of(const struct reader *r)
{
	return reader_processes(r) && *reader_process(r, 0)->exe
		       ? reader_process(r, 0)->exe
		       : "???";
}

static void find_files(struct callgrind *c)
{
	const struct reader *r = c->profile->reader;
	uint32_t n = reader_functions(r);

	c->file_of = xcalloc((size_t)n + 1, sizeof(*c->file_of));
	c->object_of = xcalloc((size_t)n + 1, sizeof(*c->object_of));
	c->function_named = xcalloc((size_t)n + 1, sizeof(bool));
	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(r, i);

		c->file_of[i] =
			intern_string(&c->files, *f->file ? f->file : "???");
		c->object_of[i] =
			intern_string(&c->objects,
				      *f->module ? f->module : program_of(r));
	}
	c->object_named = xcalloc((size_t)c->objects.count + 1, sizeof(bool));
	c->file_named = xcalloc((size_t)c->files.count + 1, sizeof(bool));
}

static struct frame_info frame_of(const struct callgrind *c, uint32_t node)
{
	const struct reader *r = c->profile->reader;

	return reader_frame(r, reader_node(r, node).frame);
}

/* Chain the nodes that have samples of their own to their functions. */
static void find_own(struct callgrind *c)
{
	const struct profile *p = c->profile;
	uint32_t n = reader_functions(p->reader);

	c->first_node = xreallocarray(NULL, (size_t)n + 1, sizeof(uint32_t));
	c->next_node = xcalloc((size_t)p->n_nodes + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		c->first_node[i] = ID_NONE;
	for (uint32_t i = p->n_nodes; i-- > 0;) {
		uint32_t function = frame_of(c, i).function;

		if (!p->self[i])
			continue;
		c->next_node[i] = c->first_node[function];
		c->first_node[function] = i;
	}
}

/* "fl=(3) name", the name only the first time. Its reader takes no name for
 * none that was given before. */
static void add_named(struct buffer *out, const char *what, uint32_t number,
		      const char *name, bool *named)
{
	buffer_printf(out, "%s=(%u)", what, number + 1);
	if (!*named) {
		buffer_add_byte(out, ' ');
		label_add_clean(out, *name ? name : "?", "", ' ');
	}
	*named = true;
	buffer_add_byte(out, '\n');
}

static void add_place(struct callgrind *c, const char *object_key,
		      const char *file_key, const char *function_key,
		      uint32_t function)
{
	uint32_t file = c->file_of[function], object = c->object_of[function];

	if (c->objects.count > 1)
		add_named(&c->sink->out, object_key, object,
			  intern_text(&c->objects, object),
			  &c->object_named[object]);
	add_named(&c->sink->out, file_key, file, intern_text(&c->files, file),
		  &c->file_named[file]);
	add_named(&c->sink->out, function_key, function,
		  reader_function(c->profile->reader, function)->name,
		  &c->function_named[function]);
}

static void add_cost(struct callgrind *c, uint32_t line, uint64_t samples)
{
	buffer_printf(&c->sink->out, "%u %" PRIu64 " %" PRIu64 "\n", line,
		      samples * c->sample_ns, samples);
}

static void add_call(struct callgrind *c, const struct call_edge *e)
{
	const struct reader *r = c->profile->reader;
	bool recursive = e->caller == e->callee;

	add_place(c, "cob", "cfi", "cfn", e->callee);
	buffer_printf(&c->sink->out, "calls=%" PRIu64 " %u\n", e->calls,
		      reader_function(r, e->callee)->line);
	add_cost(c, e->line, recursive ? 0 : e->total);
}

/* One function: own costs, then calls; *edge is the first of its edges. */
static int add_function(struct callgrind *c, uint32_t function, uint32_t *edge)
{
	buffer_add_byte(&c->sink->out, '\n');
	add_place(c, "ob", "fl", "fn", function);
	for (uint32_t node = c->first_node[function]; node != ID_NONE;
	     node = c->next_node[node])
		add_cost(c, frame_of(c, node).line, c->profile->self[node]);
	for (;
	     *edge < c->graph.count && c->graph.edges[*edge].caller == function;
	     ++*edge)
		add_call(c, &c->graph.edges[*edge]);
	return sink_drain(c->sink);
}

static void add_header(struct callgrind *c)
{
	struct buffer *out = &c->sink->out;

	buffer_add_string(out,
			  "# callgrind format\nversion: 1\n"
			  "creator: pyrometer " PYROMETER_VERSION "\ncmd: ");
	label_add_clean(out, label_program(c->profile), "", ' ');
	buffer_printf(out,
		      "\npart: 1\n\npositions: line\n"
		      "event: ns : Nanoseconds\nevent: Samples : Samples\n"
		      "events: ns Samples\n"
		      "summary: %" PRIu64 " %" PRIu64 "\n",
		      c->profile->samples * c->sample_ns, c->profile->samples);
}

static int add_functions(struct callgrind *c)
{
	uint32_t n = reader_functions(c->profile->reader), edge = 0;
	int status = 0;

	for (uint32_t i = 0; i < n && !status; i++)
		if (c->graph.total[i])
			status = add_function(c, i, &edge);
	if (c->profile->no_stack) {
		buffer_add_string(&c->sink->out,
				  "\nfl=???\nfn=" LABEL_NO_STACK "\n");
		add_cost(c, 0, c->profile->no_stack);
	}
	return status;
}

static int write_callgrind(struct profile *p,
			   const struct format_options *options,
			   struct sink *sink, struct error *err)
{
	struct callgrind c = {
		.profile = p,
		.sink = sink,
		.sample_ns = label_sample_ns(p),
	};
	int status = find_calls(&c, err);

	(void)options;
	find_files(&c);
	find_own(&c);
	if (!status) {
		add_header(&c);
		status = add_functions(&c);
	}
	call_graph_release(&c.graph);
	intern_release(&c.files);
	intern_release(&c.objects);
	free(c.file_of);
	free(c.object_of);
	free(c.object_named);
	free(c.file_named);
	free(c.function_named);
	free(c.first_node);
	free(c.next_node);
	return status;
}

const struct format_ops format_callgrind = {
	.name = "callgrind",
	.prefix = "callgrind.out.",
	.suffix = "",
	.summary = "KCachegrind and callgrind_annotate",
	.write = write_callgrind,
};
