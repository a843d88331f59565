#include "sample/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/process.h"
#include "python/code.h"
#include "sample/naming.h"
#include "sample/sampler.h"

#define PERIOD	    1000000u /* ns between looks; slow enough for riding */
#define LOOKS	    20	     /* until every stack is proven */
#define ATTEMPTS    5	     /* to read variables while a thread stands still */
#define LOCALS_MAX  64	     /* of a frame */
#define VALUE_MAX   200	     /* bytes of a value, about */
#define VALUE_DEPTH 3	     /* of containers in a value */

/* A snapshot being taken. */
struct taking {
	struct snapshot *out;
	struct target *target;
	struct sampler sampler;
	const struct snapshot_options *options;
	struct map by_address; /* code objects: index into codes */
	struct code *codes;    /* name NULL: no code object */
	uint32_t n_codes, codes_capacity;
	struct raw_frame *frames; /* of the thread that is being read */
	uint32_t n_frames, frames_capacity;
	struct local locals[LOCALS_MAX + 1];
};

/* ---- stacks ---- */

/* Memory is read a little before the kernel is asked, and the GIL may have
 * changed hands between: a thread that holds it rarely sleeps. */
static bool is_doubtful(const struct target_thread *thread)
{
	return !thread->good || thread->state & (STATE_TORN | STATE_UNPROVEN) ||
	       (thread->state & STATE_GIL && thread->os_state == 'S');
}

static bool some_doubtful(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (is_doubtful(t->threads[i]))
			return true;
	return false;
}

/* The first look finds out where things are (the GIL among them); a later one
 * is mostly better. */
static int look(struct taking *k)
{
	int status = 0;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t now = clock_now();

		status = sampler_take(&k->sampler, k->target, now);
		if (status == -ERR_GONE ||
		    (i && !status && !some_doubtful(k->target)))
			break;
		sampler_settle(&k->sampler, &k->target, 1);
		clock_sleep_until(now + PERIOD);
	}
	return status;
}

static const struct code *find_code(struct taking *k, uint64_t address)
{
	const struct python *p = &k->target->python;
	uint32_t i = map_get(&k->by_address, address, 0);
	struct code *code;

	if (i != MAP_NONE)
		return &k->codes[i];
	ALLOC_GROW(k->codes, k->n_codes + 1, k->codes_capacity);
	code = &k->codes[k->n_codes];
	if (code_read(code, p->memory, &p->layout, address, p->code_type,
		      &k->out->arena) < 0)
		memset(code, 0, sizeof(*code));
	map_put(&k->by_address, address, 0, k->n_codes++);
	return code;
}

static const char *render(struct taking *k, uint64_t value)
{
	const struct python *p = &k->target->python;
	struct buffer text = BUFFER_INIT;
	const char *kept;

	if (value_render(&text, p->memory, &p->layout, value, VALUE_DEPTH,
			 VALUE_MAX) < 0) {
		buffer_reset(&text);
		buffer_add_string(&text, "<unreadable>");
	}
	kept = arena_strdup(&k->out->arena, buffer_text(&text));
	buffer_release(&text);
	return kept;
}

static void read_locals(struct taking *k, struct snapshot_frame *f,
			const struct raw_frame *raw)
{
	const struct python *p = &k->target->python;
	struct arena *arena = &k->out->arena;
	int n = frame_locals(k->locals, LOCALS_MAX + 1, p->memory, &p->layout,
			     raw->frame, raw->code);

	if (n <= 0)
		return;
	f->more_locals = n > LOCALS_MAX;
	f->n_locals = n > LOCALS_MAX ? LOCALS_MAX : (uint32_t)n;
	f->locals = arena_calloc(arena, f->n_locals, sizeof(*f->locals));
	for (uint32_t i = 0; i < f->n_locals; i++) {
		const struct local *local = &k->locals[i];

		f->locals[i].name = arena_strdup(arena, local->name);
		f->locals[i].argument = local->argument;
		if (local->value)
			f->locals[i].value = render(k, local->value);
	}
}

static void read_frame(struct taking *k, struct snapshot_frame *f,
		       const struct raw_frame *raw)
{
	const struct python *p = &k->target->python;
	const struct code *code = find_code(k, raw->code);

	*f = (struct snapshot_frame){ .function = "<unreadable>", .file = "" };
	if (!code->name)
		return;
	f->internal = code->internal;
	f->function = code->name;
	f->file = code->file;
	f->line = code_line(code, &p->layout, raw->instruction,
			    codes_tlbc_base(p, raw));
	if (k->options->locals)
		read_locals(k, f, raw);
}

/* ---- threads ---- */

static void copy_frames(struct taking *k, const struct stack *stack)
{
	ALLOC_GROW(k->frames, stack->n_frames, k->frames_capacity);
	k->n_frames = stack->n_frames;
	if (k->n_frames)
		memcpy(k->frames, stack->frames,
		       k->n_frames * sizeof(*k->frames));
}

/* The frame of a thread that is kept as the i-th one. */
static uint32_t kept_index(const struct snapshot_thread *out, uint32_t i)
{
	return i < out->cut ? i : i + (out->depth - out->n_frames);
}

static void read_frames(struct taking *k, struct snapshot_thread *out)
{
	uint32_t ends = k->options->ends;

	out->depth = out->n_frames = out->cut = k->n_frames;
	if (ends && out->depth / 2 > ends) {
		out->n_frames = 2 * ends;
		out->cut = ends;
	}
	out->frames = arena_calloc(&k->out->arena, out->n_frames,
				   sizeof(*out->frames));
	for (uint32_t i = 0; i < out->n_frames; i++)
		read_frame(k, &out->frames[i], &k->frames[kept_index(out, i)]);
}

/* Frames from the outermost on that are still what they were. The innermost
 * one may have gone on to another instruction: it is running. */
static uint32_t count_unmoved(const struct taking *k, const struct stack *now)
{
	uint32_t n = 0;

	while (n < k->n_frames && n < now->n_frames) {
		const struct raw_frame *a = &k->frames[k->n_frames - 1 - n];
		const struct raw_frame *b = &now->frames[now->n_frames - 1 - n];
		bool leaf = n + 1 == k->n_frames && n + 1 == now->n_frames;

		if (a->frame != b->frame || a->code != b->code ||
		    (a->instruction != b->instruction && !leaf))
			break;
		n++;
	}
	return n;
}

/* Look again: mark the frames that have moved on. True when none has. */
static bool check_frames(struct taking *k, struct snapshot_thread *out,
			 struct target_thread *thread)
{
	uint32_t unmoved = 0;

	if (target_look_thread(k->target, thread) == 0)
		unmoved = count_unmoved(k, &thread->stack);
	for (uint32_t i = 0; i < out->n_frames; i++)
		out->frames[i].moved =
			kept_index(out, i) < k->n_frames - unmoved;
	return unmoved == k->n_frames;
}

/* Variables take some hundred reads. A thread that runs meanwhile is read from
 * its own core, where it can hardly go on. */
static void read_stack(struct taking *k, struct snapshot_thread *out,
		       struct target_thread *thread)
{
	copy_frames(k, &thread->stack);
	read_frames(k, out);
	for (int i = 1; k->options->locals; i++) {
		if (check_frames(k, out, thread) || i == ATTEMPTS)
			break;
		rider_go(&k->sampler.rider, thread);
		if (target_look_thread(k->target, thread) < 0 ||
		    !stack_stood_still(&thread->stack))
			continue;
		copy_frames(k, &thread->stack);
		read_frames(k, out);
	}
}

static void drop_internal(struct snapshot_thread *out)
{
	uint32_t kept = 0, cut = 0;

	for (uint32_t i = 0; i < out->n_frames; i++)
		if (!out->frames[i].internal) {
			out->frames[kept++] = out->frames[i];
			cut += i < out->cut;
		}
	out->depth -= out->n_frames - kept;
	out->n_frames = kept;
	out->cut = cut;
}

static void read_thread(struct taking *k, struct snapshot_thread *out,
			struct target_thread *thread)
{
	struct target *t = k->target;

	out->tid = thread->tid;
	out->ident = thread->pthread;
	out->interpreter = t->interpreters[thread->interpreter].number;
	out->main = thread->tid == t->pid;
	out->state = thread->state;
	out->os_state = os_thread_letter(&thread->os);
	out->readable = thread->good;
	naming_best(t, thread, out->name);
	if (thread->good)
		read_stack(k, out, thread);
	drop_internal(out);
}

static void read_process(struct taking *k)
{
	const struct target *t = k->target;
	struct snapshot *s = k->out;
	struct buffer command = BUFFER_INIT;
	char exe[PATH_MAX], version[64];

	process_command(t->pid, &command);
	process_exe(t->pid, exe);
	python_version_text(&t->python, version, sizeof(version));
	s->pid = t->pid;
	s->with_locals = k->options->locals;
	s->command = arena_strdup(&s->arena, buffer_text(&command));
	s->exe = arena_strdup(&s->arena, exe);
	s->python = arena_strdup(&s->arena, version);
	s->module = arena_strdup(&s->arena, t->python.module);
	s->free_threaded = t->python.layout.free_threaded;
	buffer_release(&command);
}

/* The lists begin with the youngest thread; people think of the oldest. */
static void read_threads(struct taking *k)
{
	struct target *t = k->target;
	struct snapshot *s = k->out;

	naming_update(t, clock_now(), true);
	s->n_threads = t->n_threads;
	s->threads = arena_calloc(&s->arena, s->n_threads, sizeof(*s->threads));
	for (uint32_t i = 0; i < t->n_threads; i++)
		read_thread(k, &s->threads[i],
			    t->threads[t->n_threads - 1 - i]);
}

static int take(struct taking *k, struct error *err)
{
	int status;

	sampler_init(&k->sampler, RIDE_AUTO, PERIOD);
	status = look(k);
	if (status == 0) {
		read_process(k);
		read_threads(k);
	}
	rider_leave(&k->sampler.rider);
	if (status < 0)
		return fail(err, -status, "process %d %s", (int)k->target->pid,
			    status == -ERR_GONE ? "has ended meanwhile"
						: "cannot be read");
	return 0;
}

int snapshot_take(struct snapshot **out, pid_t pid,
		  const struct snapshot_options *options, struct error *err)
{
	struct taking k = { .options = options };
	int status;

	if (!process_exists(pid))
		return fail(err, ERR_NO_PROCESS, "no process %d", (int)pid);
	status = target_new(&k.target, pid, err);
	if (status < 0)
		return status;
	k.out = xcalloc(1, sizeof(*k.out));
	status = take(&k, err);
	if (status == 0)
		*out = k.out;
	else
		snapshot_free(k.out);
	target_free(k.target);
	map_release(&k.by_address);
	free(k.codes);
	free(k.frames);
	return status;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	arena_release(&s->arena);
	free(s);
}
