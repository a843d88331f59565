#include "view/heading.h"
#include "view/tree.h"

static const char *const kind_names[] = {
	[OUTLINE_CALL] = "call",
	[OUTLINE_SELF] = "self",
	[OUTLINE_REST] = "rest",
};

static void add_call_json(struct json *j, const struct profile *p,
			  const struct outline_line *l)
{
	view_json_function(j, p, l->function);
	json_int(j, "self", (int64_t)l->self);
	json_bool(j, "recursive", l->recursive);
	json_int(j, "hidden", l->hidden);
	json_open(j, "packages", '[');
	for (int i = 0; i < OUTLINE_PACKAGES && l->packages[i]; i++)
		json_string(j, NULL, l->packages[i]);
	json_close(j);
}

static void add_line_json(struct json *j, const struct profile *p,
			  const struct outline *o, const struct outline_line *l)
{
	json_open(j, NULL, '{');
	json_string(j, "is", kind_names[l->kind]);
	json_int(j, "depth", l->depth);
	json_int(j, "samples", (int64_t)l->samples);
	json_double(j, "seconds", (double)l->samples * p->seconds_per_sample);
	json_double(j, "share", (double)l->samples / (double)o->samples);
	if (l->line)
		json_int(j, "self_line", l->line);
	if (l->kind == OUTLINE_CALL)
		add_call_json(j, p, l);
	else if (l->kind == OUTLINE_REST)
		json_int(j, "count", l->count);
	json_close(j);
}

void tree_outline_json(struct json *j, const char *key, const struct profile *p,
		       const struct outline *outline)
{
	json_open(j, key, '[');
	for (uint32_t i = 0; i < outline->n_lines; i++)
		add_line_json(j, p, outline, &outline->lines[i]);
	json_close(j);
}

static void add_group_json(struct json *j, const struct view_request *r,
			   struct tree_data *d,
			   const struct thread_group *group)
{
	const struct reader *reader = d->profile->reader;
	struct outline_options options = tree_options(r, d, group);
	struct outline outline;

	tree_outline(&outline, d, group, &options);
	json_open(j, NULL, '{');
	json_string(j, "name", group->name);
	json_int(j, "pid", reader_process(reader, group->process)->pid);
	json_open(j, "tids", '[');
	for (uint32_t i = 0; i < group->n_threads; i++)
		json_int(j, NULL,
			 reader_thread(reader, group->threads[i])->tid);
	json_close(j);
	json_bool(j, "idle", group->idle);
	json_int(j, "samples", (int64_t)group->counts.samples);
	json_int(j, "on_cpu", (int64_t)group->counts.on_cpu);
	json_int(j, "ready", (int64_t)group->counts.ready);
	json_double(j, "half", tree_group_half(group));
	tree_outline_json(j, "lines", d->profile, &outline);
	json_close(j);
}

int view_tree_json(struct buffer *out, const struct view_request *r,
		   struct error *err)
{
	struct tree_data d;
	int status = tree_data_init(&d, r, err);
	struct json j;

	if (status == 0) {
		j = view_json_begin(out, r, "tree");
		json_open(&j, "trees", '[');
		for (uint32_t i = 0; i < d.groups.n_groups; i++)
			add_group_json(&j, r, &d, &d.groups.groups[i]);
		json_close(&j);
		view_json_end(&j);
	}
	tree_data_release(&d);
	return status;
}
