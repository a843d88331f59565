/* speedscope's own format: one "sampled" profile per thread, over one list of
 * frames.
 *
 * A sample there is its whole stack written out, so the size of the file goes
 * by the number of changes of the stack times its depth. Frames are functions,
 * not lines (speedscope draws a box per frame), and consecutive samples in the
 * same functions are one, weighted. Memory: see lanes.h. */
#include "format/format.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "format/function_tree.h"
#include "format/label.h"
#include "format/lanes.h"

struct speedscope {
	struct profile *profile;
	struct sink *sink;
	struct json json;
	struct function_tree tree;
	uint32_t *path; /* tree nodes of the stack at hand, innermost first */
	size_t path_capacity;
	int n_profiles, active; /* index of the profile to show first */
	uint64_t active_samples;
};

/* A stretch of runs in the same functions. */
struct stretch {
	uint32_t place;
	uint64_t samples;
};

/* The stretch that begins at run *i; moves *i behind it. */
static struct stretch next_stretch(struct speedscope *s,
				   const struct lane *lane, uint32_t *i)
{
	struct stretch found = { 0 };

	found.place = function_tree_place(&s->tree, 0, lane->runs[*i].node);
	do
		found.samples += lane->runs[(*i)++].ticks;
	while (*i < lane->count &&
	       function_tree_place(&s->tree, 0, lane->runs[*i].node) ==
		       found.place);
	return found;
}

static void add_stack(struct speedscope *s, uint32_t place)
{
	size_t depth = 0;

	for (; place; place = s->tree.nodes[place].parent) {
		ALLOC_GROW(s->path, depth + 1, s->path_capacity);
		s->path[depth++] = place;
	}
	json_open(&s->json, NULL, '[');
	while (depth--) {
		const struct tree_node *n = &s->tree.nodes[s->path[depth]];

		json_int(&s->json, NULL,
			 n->kind == TREE_FUNCTION ? (int64_t)n->id + 1 : 0);
	}
	json_close(&s->json);
}

static int add_samples(struct speedscope *s, const struct lane *lane)
{
	int status = 0;

	json_open(&s->json, "samples", '[');
	for (uint32_t i = 0; i < lane->count && !status;) {
		add_stack(s, next_stretch(s, lane, &i).place);
		status = sink_drain(s->sink);
	}
	json_close(&s->json);
	return status;
}

static int add_weights(struct speedscope *s, const struct lane *lane)
{
	double seconds = s->profile->seconds_per_sample;
	int status = 0;

	json_open(&s->json, "weights", '[');
	for (uint32_t i = 0; i < lane->count && !status;) {
		struct stretch stretch = next_stretch(s, lane, &i);

		json_double(&s->json, NULL, (double)stretch.samples * seconds);
		status = sink_drain(s->sink);
	}
	json_close(&s->json);
	return status;
}

static void add_thread_name(struct speedscope *s, uint32_t thread)
{
	const struct reader *r = s->profile->reader;
	const struct thread_info *t = reader_thread(r, thread);
	struct buffer name = BUFFER_INIT;

	buffer_printf(&name, "%s (%u)", label_thread(t), t->tid);
	if (reader_processes(r) > 1)
		buffer_printf(&name, ", process %u",
			      reader_process(r, t->process)->pid);
	json_string(&s->json, "name", buffer_text(&name));
	buffer_release(&name);
}

static int add_thread(void *context, const struct lane *lane)
{
	struct speedscope *s = context;
	uint64_t samples = s->profile->threads[lane->thread].samples;
	double start = (double)lane->runs[0].first / NS_PER_SECOND;
	int status;

	if (samples > s->active_samples) {
		s->active = s->n_profiles;
		s->active_samples = samples;
	}
	s->n_profiles++;
	json_open(&s->json, NULL, '{');
	json_string(&s->json, "type", "sampled");
	add_thread_name(s, lane->thread);
	json_string(&s->json, "unit", "seconds");
	json_double(&s->json, "startValue", start);
	json_double(&s->json, "endValue",
		    start + (double)samples * s->profile->seconds_per_sample);
	status = add_samples(s, lane);
	if (!status)
		status = add_weights(s, lane);
	json_close(&s->json);
	return status;
}

static int add_frames(struct speedscope *s)
{
	const struct reader *r = s->profile->reader;
	int status = 0;

	json_open(&s->json, "shared", '{');
	json_open(&s->json, "frames", '[');
	json_open(&s->json, NULL, '{');
	json_string(&s->json, "name", LABEL_NO_STACK);
	json_close(&s->json);
	for (uint32_t i = 0; i < reader_functions(r) && !status; i++) {
		const struct function_info *f = reader_function(r, i);

		json_open(&s->json, NULL, '{');
		json_string(&s->json, "name", f->name);
		if (*f->file || *f->module)
			json_string(&s->json, "file",
				    *f->file ? f->file : f->module);
		if (f->line)
			json_int(&s->json, "line", f->line);
		json_close(&s->json);
		status = sink_drain(s->sink);
	}
	json_close(&s->json);
	json_close(&s->json);
	return status;
}

static void add_title(struct speedscope *s)
{
	struct buffer title = BUFFER_INIT;

	label_add_title(&title, s->profile);
	json_string(&s->json, "name", buffer_text(&title));
	buffer_release(&title);
}

static int write_all(struct speedscope *s, struct error *err)
{
	int status;

	json_open(&s->json, NULL, '{');
	json_string(&s->json, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(&s->json, "exporter", "pyrometer@" PYROMETER_VERSION);
	add_title(s);
	json_open(&s->json, "profiles", '[');
	status = lanes_each(s->profile, add_thread, s, err);
	json_close(&s->json);
	if (!status)
		status = add_frames(s);
	if (s->n_profiles)
		json_int(&s->json, "activeProfileIndex", s->active);
	json_close(&s->json);
	return status;
}

static int write_speedscope(struct profile *p,
			    const struct format_options *options,
			    struct sink *sink, struct error *err)
{
	struct speedscope s = {
		.profile = p,
		.sink = sink,
		.json = JSON_OVER(&sink->out),
	};
	int status;

	(void)options;
	function_tree_init(&s.tree, p);
	status = write_all(&s, err);
	function_tree_release(&s.tree);
	free(s.path);
	return status;
}

const struct format_ops format_speedscope = {
	.name = "speedscope",
	.prefix = "",
	.suffix = ".speedscope.json",
	.summary = "speedscope.app",
	.write = write_speedscope,
};
