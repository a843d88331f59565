#include "view/heading.h"

#include <math.h>

#include "analyze/origin.h"
#include "base/clock.h"

static const char *const mode_names[] = {
	[MODE_WALL] = "wall",
	[MODE_CPU] = "cpu",
	[MODE_GIL] = "gil",
};

static const char *const kind_names[] = {
	[FUNCTION_PYTHON] = "python",
	[FUNCTION_NATIVE] = "native",
	[FUNCTION_KERNEL] = "kernel",
	[FUNCTION_MARK] = "mark",
};

static const char *const register_names[] = {
	[REGISTERS_NONE] = "none",
	[REGISTERS_SWITCH] = "switch",
	[REGISTERS_CLOCK] = "clock",
	[REGISTERS_STOP] = "stop",
};

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

static void add_processes(struct json *j, const struct reader *reader)
{
	json_open(j, "processes", '[');
	for (uint32_t i = 0; i < reader_processes(reader); i++) {
		const struct process_info *p = reader_process(reader, i);

		json_open(j, NULL, '{');
		json_int(j, "pid", p->pid);
		json_string(j, "command", p->command);
		json_string(j, "exe", p->exe);
		json_string(j, "python", p->python);
		json_close(j);
	}
	json_close(j);
}

static void add_text(struct json *j, const char *key, const char *text)
{
	if (text && *text)
		json_string(j, key, text);
	else
		json_null(j, key);
}

/* When the first sample was taken, since the recording began. */
static void add_first(struct json *j, const struct reader *reader)
{
	uint64_t first, last;

	if (!reader_blocks(reader)) {
		json_null(j, "first_sample");
		return;
	}
	reader_block_times(reader, 0, &first, &last);
	json_double(j, "first_sample", seconds(first));
}

static void add_recording(struct json *j, const struct view_request *r)
{
	const struct reader *reader = r->profile->reader;
	const struct recording_info *info = reader_info(reader);

	json_open(j, "recording", '{');
	add_text(j, "file", r->path);
	json_double(j, "started", seconds(info->wall_start));
	add_first(j, reader);
	json_double(j, "duration", seconds(info->duration));
	json_double(j, "watched", seconds(info->watched));
	json_double(j, "period", seconds(info->period));
	json_int(j, "ticks", (int64_t)info->ticks);
	json_int(j, "drawn", (int64_t)info->drawn);
	json_int(j, "missed", (int64_t)info->missed);
	json_int(j, "samples", (int64_t)info->samples);
	json_int(j, "lost", (int64_t)info->lost);
	json_int(j, "retried", (int64_t)info->retried);
	json_int(j, "ridden", (int64_t)info->ridden);
	json_int(j, "visited", (int64_t)info->visited);
	json_int(j, "clocked", (int64_t)info->clocked);
	json_string(j, "registers",
		    register_names[info->registers <= REGISTERS_STOP
					   ? info->registers
					   : REGISTERS_NONE]);
	json_double(j, "recorder_cpu", seconds(info->recorder_cpu));
	json_bool(j, "complete", info->complete);
	add_text(j, "version", info->version);
	add_text(j, "host", info->host);
	add_text(j, "note", info->note);
	add_text(j, "notice", reader_notice(reader));
	add_processes(j, reader);
	json_close(j);
}

static void add_strings(struct json *j, const char *key,
			const char *const *texts, size_t n)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		json_string(j, NULL, texts[i]);
	json_close(j);
}

static void add_filter(struct json *j, const struct profile *p)
{
	const struct profile_filter *f = &p->filter;

	json_open(j, "filter", '{');
	json_string(j, "mode", mode_names[f->mode]);
	add_strings(j, "threads", f->threads, f->n_threads);
	add_strings(j, "functions", f->functions, f->n_functions);
	add_strings(j, "files", f->files, f->n_files);
	json_open(j, "pids", '[');
	for (size_t i = 0; i < f->n_pids; i++)
		json_int(j, NULL, f->pids[i]);
	json_close(j);
	json_double(j, "from", seconds(f->from));
	json_double(j, "to", seconds(f->from) + p->duration);
	json_close(j);
}

static void add_counts(struct json *j, const struct profile *p)
{
	json_open(j, "profile", '{');
	json_int(j, "samples", (int64_t)p->samples);
	json_int(j, "all_samples", (int64_t)p->all_samples);
	json_double(j, "seconds", p->seconds);
	json_double(j, "seconds_per_sample", p->seconds_per_sample);
	json_double(j, "duration", p->duration);
	json_int(j, "ready", (int64_t)p->ready);
	json_int(j, "torn", (int64_t)p->torn);
	json_int(j, "unproven", (int64_t)p->unproven);
	json_int(j, "unreadable", (int64_t)p->unreadable);
	json_int(j, "nameless", (int64_t)p->nameless);
	json_int(j, "native", (int64_t)p->native);
	json_int(j, "broken", (int64_t)p->broken);
	json_int(j, "unmerged", (int64_t)p->unmerged);
	json_int(j, "no_stack", (int64_t)p->no_stack);
	json_close(j);
}

struct json view_json_begin(struct buffer *out, const struct view_request *r,
			    const char *view)
{
	struct json j = JSON_OVER(out);

	json_open(&j, NULL, '{');
	json_string(&j, "view", view);
	add_recording(&j, r);
	add_filter(&j, r->profile);
	add_counts(&j, r->profile);
	return j;
}

void view_json_end(struct json *j)
{
	json_close(j);
	buffer_add_byte(j->out, '\n');
}

void view_json_share(struct json *j, const char *key, const struct profile *p,
		     const struct share_count *share)
{
	const struct confidence *c = &share->sure;

	json_open(j, key, '{');
	json_int(j, "samples", (int64_t)share->samples);
	json_double(j, "seconds",
		    (double)share->samples * p->seconds_per_sample);
	json_double(j, "share", c->share);
	json_double(j, "low", c->run.low);
	json_double(j, "high", c->run.high);
	json_double(j, "again_low", c->again.low);
	json_double(j, "again_high", c->again.high);
	json_bool(j, "drifts", c->drifts);
	json_close(j);
}

const char *view_kind_name(enum function_kind kind)
{
	return kind_names[kind];
}

void view_json_function(struct json *j, const struct profile *p,
			uint32_t function)
{
	const struct function_info *f = reader_function(p->reader, function);

	json_string(j, "name", f->name);
	json_string(j, "file", f->file);
	json_int(j, "line", f->line);
	json_string(j, "kind", kind_names[f->kind]);
	if (f->kind == FUNCTION_NATIVE || f->kind == FUNCTION_KERNEL)
		json_string(j, "module", f->module);
	json_bool(j, "library", origin_is_library(f));
}
