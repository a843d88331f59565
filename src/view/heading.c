#include "view/heading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* An interval so much wider than another is worth a word. */
#define WIDER 1.25

static const char *const mode_texts[] = {
	[MODE_WALL] = "wall time",
	[MODE_CPU] = "time on a CPU",
	[MODE_GIL] = "time with the GIL",
};

const char *view_program(const struct profile *p)
{
	const struct process_info *process;

	if (!reader_processes(p->reader))
		return "";
	process = reader_process(p->reader, 0);
	return process->command[0] ? process->command : process->exe;
}

static void add_program(struct buffer *out, const struct view_request *r)
{
	struct view_line line = view_line(out, r->style);
	uint32_t n = reader_processes(r->profile->reader);

	view_add_cut(&line, INK_STRONG, view_program(r->profile),
		     line.left - (n > 1 ? 24 : 0), false);
	if (n > 1)
		view_add_format(&line, INK_PLAIN, "  and %u more process%s",
				n - 1, n > 2 ? "es" : "");
	view_end(&line);
}

static void add_start(struct view_facts *facts, uint64_t wall_start)
{
	time_t seconds = (time_t)(wall_start / NS_PER_SECOND);
	struct tm tm;
	char text[32];

	if (!wall_start || !localtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	view_fact(facts, INK_DIM, "recorded %s", text);
}

static void add_rate(struct view_facts *facts,
		     const struct recording_info *info)
{
	double seconds = (double)info->duration / NS_PER_SECOND;
	struct view_number length = view_seconds(seconds);

	if (info->period)
		view_fact(facts, INK_DIM, "%s at %s/s", length.text,
			  view_count(NS_PER_SECOND / info->period).text);
	else
		view_fact(facts, INK_DIM, "%s as fast as possible",
			  length.text);
}

static uint32_t threads_seen(const struct profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_threads; i++)
		n += p->threads[i].samples > 0;
	return n;
}

static uint64_t samples_on_cpu(const struct profile *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n_threads; i++)
		n += p->threads[i].on_cpu;
	return n;
}

double view_cpu_seconds(const struct profile *p)
{
	return (double)(samples_on_cpu(p) - p->ready) * p->seconds_per_sample;
}

/* How much of the samples has native frames, and where those began. */
static void add_native(struct buffer *out, const struct view_request *r)
{
	static const char *const sources[] = {
		[REGISTERS_NONE] = "registers of unknown origin",
		[REGISTERS_SWITCH] = "registers from context switches",
		[REGISTERS_CLOCK] = "registers from a clock of each thread",
		[REGISTERS_STOP] = "registers from stopping threads shortly",
	};
	const struct profile *p = r->profile;
	uint32_t source = reader_info(p->reader)->registers;
	struct view_facts facts = view_facts(out, r->style);
	double all = p->samples ? (double)p->samples : 1;

	if (!source && !p->native)
		return;
	view_fact(&facts, INK_DIM, "native stacks in %s of samples",
		  view_percent((double)p->native / all).text);
	view_fact(&facts, INK_DIM, "%s",
		  sources[source <= REGISTERS_STOP ? source : REGISTERS_NONE]);
	view_facts_end(&facts);
}

static void add_counts(struct view_facts *facts, const struct profile *p)
{
	uint32_t threads = threads_seen(p);

	view_fact(facts, INK_DIM, "%s sample%s of %u thread%s",
		  view_count(p->samples).text, view_plural(p->samples), threads,
		  view_plural(threads));
	view_fact(facts, INK_DIM, "CPU time %s",
		  view_seconds(view_cpu_seconds(p)).text);
}

static void add_patterns(struct view_facts *facts, const char *what,
			 const char *const *patterns, size_t n)
{
	struct buffer list = BUFFER_INIT;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		buffer_printf(&list, "%s%s", i ? " or " : "", patterns[i]);
	view_fact(facts, INK_WARM, "%s %s", what, buffer_text(&list));
	buffer_release(&list);
}

static bool has_filter(const struct profile_filter *f)
{
	return f->mode != MODE_WALL || f->n_threads || f->n_functions ||
	       f->n_files || f->n_pids || f->from || f->to;
}

static void add_window(struct view_facts *facts, const struct profile *p)
{
	double from = (double)p->filter.from / NS_PER_SECOND;

	if (p->filter.from || p->filter.to)
		view_fact(facts, INK_WARM, "from %s to %s",
			  view_seconds(from).text,
			  view_seconds(from + p->duration).text);
}

static void add_pids(struct view_facts *facts, const struct profile_filter *f)
{
	for (size_t i = 0; i < f->n_pids; i++)
		view_fact(facts, INK_WARM, "process %u", f->pids[i]);
}

static void add_filter(struct buffer *out, const struct view_request *r)
{
	const struct profile *p = r->profile;
	const struct profile_filter *f = &p->filter;
	struct view_facts facts = view_facts(out, r->style);

	if (!has_filter(f))
		return;
	view_fact(&facts, INK_WARM, "showing %s", mode_texts[f->mode]);
	add_patterns(&facts, "thread", f->threads, f->n_threads);
	add_patterns(&facts, "function", f->functions, f->n_functions);
	add_patterns(&facts, "file", f->files, f->n_files);
	add_pids(&facts, f);
	add_window(&facts, p);
	if (p->samples < p->all_samples)
		view_fact(&facts, INK_WARM, "%s of %s sample%s there",
			  view_count(p->samples).text,
			  view_count(p->all_samples).text,
			  view_plural(p->all_samples));
	view_facts_end(&facts);
}

static void add_python(struct view_facts *facts, const struct profile *p)
{
	const struct process_info *process;

	if (!reader_processes(p->reader))
		return;
	process = reader_process(p->reader, 0);
	if (process->python[0])
		view_fact(facts, INK_DIM, "Python %s", process->python);
	view_fact(facts, INK_DIM, "pid %u", process->pid);
}

void view_heading(struct buffer *out, const struct view_request *r)
{
	const struct profile *p = r->profile;
	const struct recording_info *info = reader_info(p->reader);
	struct view_facts facts = view_facts(out, r->style);

	add_program(out, r);
	add_python(&facts, p);
	add_start(&facts, info->wall_start);
	add_rate(&facts, info);
	add_counts(&facts, p);
	view_facts_end(&facts);
	add_native(out, r);
	add_filter(out, r);
	buffer_add_byte(out, '\n');
}

void view_nothing(struct buffer *out, const struct view_request *r)
{
	struct view_line line = view_line(out, r->style);
	const struct profile *p = r->profile;

	view_add(&line, INK_ALERT,
		 p->all_samples ? "No sample passes the filters."
		 : p->filter.from || p->filter.to
			 ? "There are no samples in this time."
			 : "The recording has no samples.");
	view_end(&line);
	buffer_add_byte(out, '\n');
}

/* `things`: what there are several of, "" for samples. */
static void add_problem(struct view_facts *facts, uint64_t n, uint64_t of,
			const char *things, const char *what)
{
	int length = (int)strlen(things) - (n == 1 && *things);
	double share = of ? (double)n / (double)of : 0;

	if (n)
		view_fact(facts, share > 0.01 ? INK_ALERT : INK_DIM,
			  "%s %.*s%s%s (%.2g%%)", view_count(n).text, length,
			  things, *things ? " " : "", what, 100 * share);
}

static void add_native_problems(struct view_facts *facts,
				const struct profile *p)
{
	add_problem(facts, p->broken, p->native, "native stacks", "broken");
	add_problem(facts, p->unmerged, p->native, "native stacks", "unmerged");
	if (!p->broken && !p->unmerged)
		view_fact(facts, INK_DIM, "no native stack broken or unmerged");
}

static void add_problems(struct view_facts *facts, const struct profile *p)
{
	const struct recording_info *info = reader_info(p->reader);

	add_problem(facts, info->missed, info->ticks + info->missed, "ticks",
		    "missed");
	add_problem(facts, info->drawn, info->ticks, "ticks",
		    "drawn out of looks that took longer");
	add_problem(facts, info->lost, info->samples + info->lost, "", "lost");
	add_problem(facts, p->torn, p->samples, "", "torn");
	add_problem(facts, p->unreadable, p->samples, "", "partly unreadable");
	add_problem(facts, p->nameless, p->samples, "",
		    "with an " UNREADABLE_FUNCTION " function");
	add_problem(facts, p->unproven, p->samples, "", "unproven");
	if (p->native)
		add_native_problems(facts, p);
	if (!info->missed && !info->drawn && !info->lost && !p->torn &&
	    !p->unreadable && !p->nameless && !p->unproven)
		view_fact(facts, INK_DIM, "none missed, torn or unproven");
}

/* They are in every view as if they had run; CPU times leave them out. */
static void add_ready(struct view_facts *facts, const struct profile *p)
{
	double on_cpu = (double)samples_on_cpu(p);

	if (p->ready)
		view_fact(facts, INK_WARM,
			  "%s of the on-CPU samples were ready but "
			  "waiting for a core",
			  view_percent((double)p->ready / on_cpu).text);
}

static void add_cost(struct view_facts *facts,
		     const struct recording_info *info)
{
	double percent;

	if (!info->duration)
		return;
	percent = 100 * (double)info->recorder_cpu / (double)info->duration;
	/* Two digits, but not as a power of ten. */
	view_fact(facts, INK_DIM, "recorder used %.*g%% of a core",
		  percent >= 99.5 ? 3 : 2, percent);
}

static void add_left_out(struct view_facts *facts, uint32_t filter)
{
	if (filter & FILTER_CPU)
		view_fact(facts, INK_WARM, "recorded only on a CPU");
	if (filter & FILTER_GIL)
		view_fact(facts, INK_WARM, "recorded only with the GIL");
	if (filter & FILTER_THREADS)
		view_fact(facts, INK_WARM, "recorded only some threads");
}

static void add_sentence(struct buffer *out, const struct view_style *style,
			 enum ink ink, const char *text)
{
	struct view_facts facts = view_facts(out, style);

	if (text && *text) {
		view_fact(&facts, ink, "%s", text);
		view_facts_end(&facts);
	}
}

/* Of the threads that are shown the first is what people look at; that a small
 * one is less sure must not make it look so. */
static void add_certainty(struct view_facts *facts,
			  const struct view_certainty *c)
{
	const char *sign = facts->line.style->unicode ? "\xc2\xb1" : "+-";

	if (c->widest > WIDER * c->half)
		view_fact(facts, INK_DIM,
			  "shares within %s%s points (95%%), in smaller "
			  "threads up to %s%s",
			  sign, view_points(c->half).text, sign,
			  view_points(c->widest).text);
	else
		view_fact(facts, INK_DIM, "shares within %s%s points (95%%)",
			  sign, view_points(fmax(c->half, c->widest)).text);
}

void view_footing(struct buffer *out, const struct profile *p,
		  const struct view_style *style,
		  const struct view_certainty *certainty)
{
	const struct recording_info *info = reader_info(p->reader);
	struct view_facts facts = view_facts(out, style);

	view_fact(&facts, INK_DIM, "%s sample%s in %s",
		  view_count(p->samples).text, view_plural(p->samples),
		  view_seconds(p->duration).text);
	add_problems(&facts, p);
	add_ready(&facts, p);
	add_cost(&facts, info);
	add_left_out(&facts, info->filter);
	if (certainty->half > 0)
		add_certainty(&facts, certainty);
	view_facts_end(&facts);
	if (certainty->drifts)
		add_sentence(
			out, style, INK_DIM,
			"~ changes over time: another recording may differ by more");
	add_sentence(out, style, INK_ALERT, reader_notice(p->reader));
	add_sentence(out, style, INK_WARM, info->note);
}
