#include "view/dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "os/signals.h"

/* What the kernel's letter for a thread means. */
static const struct os_state {
	char letter;
	const char *word; /* in JSON */
	const char *text;
} os_states[] = {
	{ 'R', "running", "running" },
	{ 'S', "sleeping", "sleeping" },
	{ 'D', "blocked", "blocked in the kernel" },
	{ 'T', "stopped", "stopped" },
	{ 't', "stopped", "stopped by a debugger" },
	{ 'I', "sleeping", "sleeping" },
	{ 'Z', "ended", "ended" },
	{ 'X', "ended", "ended" },
	{ 0, "unknown", "in an unknown state" },
};

static const struct os_state *find_os_state(char letter)
{
	const struct os_state *s = os_states;

	while (s->letter && s->letter != letter)
		s++;
	return s;
}

/* What else a thread's state says. */
static const struct remark {
	uint32_t bit;
	bool with_gil; /* only where there is a GIL */
	enum ink ink;
	const char *text;
} remarks[] = {
	{ STATE_GIL, true, INK_WARM, "holds the GIL" },
	{ STATE_GIL_WAIT, true, INK_HOT, "waits for the GIL" },
	{ STATE_GC, false, INK_WARM, "collecting garbage" },
	{ STATE_TORN, false, INK_ALERT,
	  "(moved while it was read: its innermost calls are missing)" },
	{ STATE_UNREADABLE, false, INK_ALERT,
	  "(part of it could not be read)" },
	{ STATE_TRUNCATED, false, INK_ALERT,
	  "(too deep: the outermost calls are missing)" },
	{ STATE_BROKEN, false, INK_ALERT,
	  "(the outermost native calls are missing)" },
	{ STATE_UNMERGED, false, INK_ALERT,
	  "(native and Python calls do not fit together)" },
};

#define N_REMARKS (sizeof(remarks) / sizeof(remarks[0]))

/* ---- text ---- */

static void add_note(struct buffer *out, const struct view_style *style,
		     enum ink ink, const char *text)
{
	struct view_line line = view_line(out, style);

	view_add(&line, ink, text);
	view_end(&line);
}

/* What ended the program, unless it was only stopped for the core file. */
static void add_signal(struct view_facts *facts, const struct snapshot *s)
{
	char name[32];

	if (!s->core || !signal_dumps_core(s->signal))
		return;
	signal_name(s->signal, name);
	if (s->address)
		view_fact(facts, INK_HOT, "ended by %s at address 0x%" PRIx64,
			  name, s->address);
	else
		view_fact(facts, INK_HOT, "ended by %s", name);
}

static void add_process(struct buffer *out, const struct snapshot *s,
			const struct view_style *style)
{
	struct view_line line = view_line(out, style);
	struct view_facts facts;

	view_add_format(&line, INK_STRONG,
			"%srocess %d: ", s->core ? "Core file of p" : "P",
			(int)s->pid);
	view_add(&line, INK_PLAIN, s->command);
	view_end(&line);
	facts = view_facts(out, style);
	view_fact(&facts, INK_DIM, "Python %s in %s", s->python, s->module);
	view_fact(&facts, INK_DIM, "%" PRIu32 " thread%s", s->n_threads,
		  s->n_threads == 1 ? "" : "s");
	view_fact(&facts, INK_DIM, "innermost call first");
	add_signal(&facts, s);
	view_facts_end(&facts);
	for (uint32_t i = 0; i < s->n_notes; i++)
		add_note(out, style, INK_ALERT, s->notes[i]);
}

static void add_core_state(struct view_facts *facts, const struct snapshot *s,
			   const struct snapshot_thread *thread)
{
	char name[32];

	signal_name(s->signal, name);
	if (thread->culprit && signal_dumps_core(s->signal))
		view_fact(facts, INK_HOT, "got %s", name);
	else if (thread->call)
		view_fact(facts, INK_PLAIN, "waits in %s", thread->call);
}

static void add_thread(struct buffer *out, const struct snapshot *s,
		       const struct snapshot_thread *thread,
		       const struct view_style *style)
{
	struct view_facts facts = view_facts(out, style);
	char tid[16] = "?";

	if (thread->tid)
		snprintf(tid, sizeof(tid), "%d", (int)thread->tid);
	if (thread->name[0])
		view_fact(&facts, INK_STRONG, "Thread %s \"%s\"", tid,
			  thread->name);
	else
		view_fact(&facts, INK_STRONG, "Thread %s", tid);
	if (thread->interpreter)
		view_fact(&facts, INK_PLAIN, "interpreter %" PRIu32,
			  thread->interpreter);
	if (s->core)
		add_core_state(&facts, s, thread);
	else
		view_fact(&facts, INK_PLAIN, "%s",
			  find_os_state(thread->os_state)->text);
	for (size_t i = 0; i < N_REMARKS; i++)
		if (thread->state & remarks[i].bit &&
		    !(remarks[i].with_gil && s->free_threaded))
			view_fact(&facts, remarks[i].ink, "%s",
				  remarks[i].text);
	view_facts_end(&facts);
}

/* The place gets what the name leaves, and at least half of the line. */
static void add_frame(struct buffer *out, const struct snapshot_frame *f,
		      const struct view_style *style)
{
	struct view_line line = view_line(out, style);
	char number[16];

	view_add(&line, INK_PLAIN, "    ");
	view_add_cut(&line, f->module ? INK_DIM : INK_PLAIN, f->function,
		     line.left / 2, false);
	if (f->module && !f->file[0] && f->module[0]) {
		view_add(&line, INK_DIM, " in ");
		view_add_cut(&line, INK_DIM, path_base(f->module), line.left,
			     true);
	}
	if (f->file[0] && !f->line) {
		view_add(&line, INK_DIM, " (");
		view_add_cut(&line, INK_DIM, f->file, line.left - 1, true);
		view_add(&line, INK_DIM, ")");
	} else if (f->file[0]) {
		snprintf(number, sizeof(number), ":%" PRIu32 ")", f->line);
		view_add(&line, INK_DIM, " (");
		view_add_cut(&line, INK_DIM, f->file,
			     line.left - text_width(number), true);
		view_add(&line, INK_DIM, number);
	}
	view_end(&line);
}

static void add_locals(struct buffer *out, const struct snapshot_frame *f,
		       const struct view_style *style)
{
	if (f->moved && f->n_locals)
		add_note(out, style, INK_ALERT,
			 "          (went on while these were read)");
	for (uint32_t i = 0; i < f->n_locals; i++) {
		const struct snapshot_local *local = &f->locals[i];
		struct view_line line = view_line(out, style);

		view_add(&line, INK_DIM,
			 local->argument ? "      arg " : "          ");
		view_add(&line, INK_PLAIN, local->name);
		view_add(&line, INK_DIM, local->value ? " = " : " is unbound");
		if (local->value)
			view_add(&line, INK_PLAIN, local->value);
		view_end(&line);
	}
	if (f->more_locals)
		add_note(out, style, INK_DIM, "          (and more)");
}

static void add_left_out(struct buffer *out,
			 const struct snapshot_thread *thread,
			 const struct view_style *style)
{
	struct view_line line = view_line(out, style);

	view_add_format(&line, INK_WARM,
			"    ... %s calls left out (--all shows them) ...",
			view_count(thread->depth - thread->n_frames).text);
	view_end(&line);
}

static void add_stack(struct buffer *out, const struct snapshot_thread *thread,
		      const struct view_style *style)
{
	if (!thread->readable)
		add_note(out, style, INK_ALERT, "    (could not be read)");
	else if (!thread->depth)
		add_note(out, style, INK_DIM, "    (runs no Python now)");
	for (uint32_t i = 0; i < thread->n_frames; i++) {
		if (i == thread->cut)
			add_left_out(out, thread, style);
		add_frame(out, &thread->frames[i], style);
		add_locals(out, &thread->frames[i], style);
	}
}

void dump_text(struct buffer *out, const struct snapshot *s,
	       const struct view_style *style)
{
	add_process(out, s, style);
	for (uint32_t i = 0; i < s->n_threads; i++) {
		buffer_add_byte(out, '\n');
		add_thread(out, s, &s->threads[i], style);
		add_stack(out, &s->threads[i], style);
	}
}

/* ---- JSON ---- */

static void json_locals(struct json *j, const struct snapshot_frame *f)
{
	json_open(j, "locals", '[');
	for (uint32_t i = 0; i < f->n_locals; i++) {
		const struct snapshot_local *local = &f->locals[i];

		json_open(j, NULL, '{');
		json_string(j, "name", local->name);
		json_bool(j, "argument", local->argument);
		if (local->value)
			json_string(j, "value", local->value);
		else
			json_null(j, "value");
		json_close(j);
	}
	json_close(j);
	json_bool(j, "more_locals", f->more_locals);
	json_bool(j, "moved", f->moved);
}

static void json_text(struct json *j, const char *key, const char *text)
{
	if (text)
		json_string(j, key, text);
	else
		json_null(j, key);
}

static void json_frames(struct json *j, const struct snapshot *s,
			const struct snapshot_thread *thread)
{
	json_open(j, "frames", '[');
	for (uint32_t i = 0; i < thread->n_frames; i++) {
		const struct snapshot_frame *f = &thread->frames[i];

		json_open(j, NULL, '{');
		json_string(j, "function", f->function);
		json_string(j, "file", f->file);
		json_int(j, "line", f->line);
		if (s->with_native) {
			json_text(j, "module", f->module);
			json_bool(j, "inlined", f->inlined);
		}
		if (s->with_locals && !f->module)
			json_locals(j, f);
		json_close(j);
	}
	json_close(j);
}

/* A core file's own keys; null for a live process. */
static void json_core(struct json *j, const struct snapshot *s)
{
	char name[32];

	if (!s->core) {
		json_null(j, "core");
		return;
	}
	json_open(j, "core", '{');
	json_string(j, "path", s->core);
	signal_name(s->signal, name);
	json_text(j, "signal", s->signal ? name : NULL);
	json_int(j, "address", (int64_t)s->address);
	json_open(j, "notes", '[');
	for (uint32_t i = 0; i < s->n_notes; i++)
		json_string(j, NULL, s->notes[i]);
	json_close(j);
	json_close(j);
}

static void json_gil(struct json *j, const struct snapshot *s, uint32_t state)
{
	if (s->free_threaded || !(state & (STATE_GIL | STATE_GIL_WAIT)))
		json_null(j, "gil");
	else
		json_string(j, "gil", state & STATE_GIL ? "holds" : "waits");
}

static void json_thread(struct json *j, const struct snapshot *s,
			const struct snapshot_thread *thread)
{
	uint32_t state = thread->state;

	json_open(j, NULL, '{');
	json_int(j, "tid", thread->tid);
	json_int(j, "ident", (int64_t)thread->ident);
	json_string(j, "name", thread->name);
	json_bool(j, "main", thread->main);
	json_bool(j, "culprit", thread->culprit);
	json_int(j, "interpreter", thread->interpreter);
	json_string(j, "state", find_os_state(thread->os_state)->word);
	json_text(j, "call", thread->call);
	json_gil(j, s, state);
	json_bool(j, "attached", state & STATE_GIL);
	json_bool(j, "collecting", state & STATE_GC);
	json_bool(j, "torn", state & (STATE_TORN | STATE_UNPROVEN));
	json_bool(j, "unreadable",
		  !thread->readable || state & STATE_UNREADABLE);
	json_bool(j, "truncated", state & STATE_TRUNCATED);
	if (s->with_native) {
		json_bool(j, "broken", state & STATE_BROKEN);
		json_bool(j, "unmerged", state & STATE_UNMERGED);
	}
	json_int(j, "depth", thread->depth);
	json_int(j, "cut", thread->cut);
	json_frames(j, s, thread);
	json_close(j);
}

void dump_json(struct json *j, const struct snapshot *s)
{
	json_open(j, NULL, '{');
	json_int(j, "pid", s->pid);
	json_string(j, "command", s->command);
	json_string(j, "exe", s->exe);
	json_string(j, "python", s->python);
	json_string(j, "module", s->module);
	json_bool(j, "free_threaded", s->free_threaded);
	json_core(j, s);
	json_open(j, "threads", '[');
	for (uint32_t i = 0; i < s->n_threads; i++)
		json_thread(j, s, &s->threads[i]);
	json_close(j);
	json_close(j);
}
