#include "sample/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/process.h"
#include "python/code.h"
#include "sample/naming.h"
#include "sample/native_names.h"
#include "sample/sampler.h"

#define PERIOD	    1000000u /* ns between looks; slow enough for riding */
#define LOOKS	    20	     /* until every stack is proven */
#define ATTEMPTS    5	     /* to read variables while a thread stands still */
#define LOCALS_MAX  64	     /* of a frame */
#define VALUE_MAX   200	     /* bytes of a value, about */
#define VALUE_DEPTH 3	     /* of containers in a value */
#define INLINED_MAX 16	     /* calls at one address */
#define NOT_PYTHON  UINT32_MAX

/* A line of a stack: a Python frame by its index, or a native one. */
struct item {
	uint32_t python; /* NOT_PYTHON: native */
	struct symbol symbol;
	const char *module;
};

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
	struct item *items; /* the same with native frames, innermost first */
	uint32_t n_items, items_capacity;
	struct native_names *names;
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

/* A thread whose native stack was not caught. */
static bool some_missed(const struct native *n)
{
	for (uint32_t i = 0; n && i < n->n_threads; i++)
		if (!n->threads[i]->good && !n->threads[i]->refused)
			return true;
	return false;
}

static bool some_doubtful(const struct target *t)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (is_doubtful(t->threads[i]))
			return true;
	return some_missed(t->native);
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

static struct item *add_item(struct taking *k)
{
	ALLOC_GROW(k->items, k->n_items + 1, k->items_capacity);
	return &k->items[k->n_items++];
}

static void add_native_items(struct taking *k, const struct merged_frame *f)
{
	struct symbol found[INLINED_MAX];
	uint32_t n = native_names_find(k->names, f, &k->out->arena, found,
				       INLINED_MAX);

	for (uint32_t i = 0; i < n; i++)
		*add_item(k) =
			(struct item){ NOT_PYTHON, found[i],
				       native_names_module(k->names, f) };
}

static void make_items(struct taking *k, const struct native_thread *native)
{
	uint32_t python = 0;

	k->n_items = 0;
	if (!native)
		for (uint32_t i = 0; i < k->n_frames; i++)
			add_item(k)->python = i;
	for (uint32_t i = native ? native->merged.count : 0; i-- > 0;) {
		const struct merged_frame *f = &native->merged.frames[i];

		if (f->kind != MERGED_PYTHON)
			add_native_items(k, f);
		else if (python < k->n_frames)
			add_item(k)->python = python++;
	}
}

/* The item of a thread that is kept as the i-th one. */
static const struct item *kept_item(const struct taking *k,
				    const struct snapshot_thread *out,
				    uint32_t i)
{
	return &k->items[i < out->cut ? i : i + (out->depth - out->n_frames)];
}

static void read_item(struct taking *k, struct snapshot_frame *f,
		      const struct item *item)
{
	struct arena *arena = &k->out->arena;

	if (item->python != NOT_PYTHON) {
		read_frame(k, f, &k->frames[item->python]);
		return;
	}
	*f = (struct snapshot_frame){
		.function = arena_strdup(arena, item->symbol.name),
		.file = arena_strdup(arena, item->symbol.file),
		.line = item->symbol.line,
		.module = arena_strdup(arena, item->module),
		.inlined = item->symbol.inlined,
	};
}

static void read_frames(struct taking *k, struct snapshot_thread *out)
{
	uint32_t ends = k->options->ends;

	out->depth = out->n_frames = out->cut = k->n_items;
	if (ends && out->depth / 2 > ends) {
		out->n_frames = 2 * ends;
		out->cut = ends;
	}
	out->frames = arena_calloc(&k->out->arena, out->n_frames,
				   sizeof(*out->frames));
	for (uint32_t i = 0; i < out->n_frames; i++)
		read_item(k, &out->frames[i], kept_item(k, out, i));
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
			kept_item(k, out, i)->python < k->n_frames - unmoved;
	return unmoved == k->n_frames;
}

static const struct native_thread *native_of(const struct target_thread *t)
{
	return t->native && t->native->good ? t->native : NULL;
}

/* Variables take some hundred reads. A thread that runs meanwhile is read from
 * its own core, where it can hardly go on; but with native frames all is of one
 * moment, and what has moved on since is marked. */
static void read_stack(struct taking *k, struct snapshot_thread *out,
		       struct target_thread *thread)
{
	const struct native_thread *native = native_of(thread);

	copy_frames(k, &thread->stack);
	make_items(k, native);
	read_frames(k, out);
	for (int i = 1; k->options->locals; i++) {
		if (check_frames(k, out, thread) || i == ATTEMPTS || native)
			break;
		rider_go(&k->sampler.rider, thread);
		if (target_look_thread(k->target, thread) < 0 ||
		    !stack_stood_still(&thread->stack))
			continue;
		copy_frames(k, &thread->stack);
		make_items(k, NULL);
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
	out->main = thread->tid && thread->tid == t->main_tid;
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
	char exe[PATH_MAX];

	process_command(t->pid, &command);
	process_exe(t->pid, exe);
	s->pid = t->pid;
	s->command = arena_strdup(&s->arena, buffer_text(&command));
	s->exe = arena_strdup(&s->arena, exe);
	buffer_release(&command);
}

static void read_python(struct taking *k)
{
	const struct target *t = k->target;
	struct snapshot *s = k->out;
	char version[64];

	python_version_text(&t->python, version, sizeof(version));
	s->with_locals = k->options->locals;
	s->python = arena_strdup(&s->arena, version);
	s->module = arena_strdup(&s->arena, t->python.module);
	s->free_threaded = t->python.layout.free_threaded;
}

/* A thread that Python does not know. */
static void read_other(struct taking *k, struct snapshot_thread *out,
		       struct native_thread *native)
{
	struct os_thread os = OS_THREAD_INIT;
	char name[32];

	out->tid = native->tid;
	out->state = native->state;
	if (os_thread_open(&os, k->target->pid, native->tid) == 0)
		out->os_state = os_thread_letter(&os);
	os_thread_release(&os);
	out->readable = true;
	os_thread_name(k->target->pid, native->tid, name);
	snprintf(out->name, sizeof(out->name), "%s", name);
	k->n_frames = 0;
	make_items(k, native);
	read_frames(k, out);
}

static bool is_other(const struct native_thread *t)
{
	return !t->python && t->good;
}

static void read_others(struct taking *k)
{
	struct native *n = k->target->native;

	for (uint32_t i = 0; n && i < n->n_threads; i++)
		if (is_other(n->threads[i]))
			read_other(k, &k->out->threads[k->out->n_threads++],
				   n->threads[i]);
}

static uint32_t count_others(const struct native *n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; n && i < n->n_threads; i++)
		count += is_other(n->threads[i]);
	return count;
}

/* Where the files of native code are. */
static void find_names(struct taking *k)
{
	const struct target *t = k->target;
	const char *root = k->options->root ? k->options->root : "";
	char own[64];

	if (!t->native)
		return;
	snprintf(own, sizeof(own), "/proc/%d/root", (int)t->pid);
	k->names = native_names_new(t->native, t->pid ? own : root);
	k->out->with_native = true;
}

/* The lists begin with the youngest thread; people think of the oldest. */
static void read_threads(struct taking *k)
{
	struct target *t = k->target;
	struct snapshot *s = k->out;

	naming_update(t, clock_now(), true);
	find_names(k);
	s->n_threads = t->n_threads;
	s->threads =
		arena_calloc(&s->arena, t->n_threads + count_others(t->native),
			     sizeof(*s->threads));
	for (uint32_t i = 0; i < t->n_threads; i++)
		read_thread(k, &s->threads[i],
			    t->threads[t->n_threads - 1 - i]);
	read_others(k);
}

static int take(struct taking *k, struct error *err)
{
	int status;

	sampler_init(&k->sampler, RIDE_AUTO, PERIOD);
	if (k->options->native.source != REGISTERS_NONE) {
		status = native_new(&k->target->native, k->target->pid,
				    k->target->memory, &k->target->python,
				    &k->options->native, err);
		if (status < 0)
			return status;
		rider_insist(&k->sampler.rider);
	}
	status = look(k);
	if (status == 0) {
		read_process(k);
		read_python(k);
		read_threads(k);
	}
	rider_leave(&k->sampler.rider);
	if (status < 0)
		return fail(err, -status, "process %d %s", (int)k->target->pid,
			    status == -ERR_GONE ? "has ended meanwhile"
						: "cannot be read");
	return 0;
}

static void taking_release(struct taking *k)
{
	map_release(&k->by_address);
	free(k->codes);
	free(k->frames);
	free(k->items);
	native_names_free(k->names);
}

int snapshot_take(struct snapshot **out, pid_t pid,
		  const struct snapshot_options *options, struct error *err)
{
	struct taking k = { .options = options };
	int status;

	status = process_find(pid, err);
	if (status == 0)
		status = target_new(&k.target, pid, err);
	if (status < 0)
		return status;
	k.out = xcalloc(1, sizeof(*k.out));
	status = take(&k, err);
	if (status == 0)
		*out = k.out;
	else
		snapshot_free(k.out);
	taking_release(&k);
	target_free(k.target);
	return status;
}

struct snapshot *snapshot_read(struct target *t,
			       const struct snapshot_options *options)
{
	struct taking k = { .options = options, .target = t };

	k.out = xcalloc(1, sizeof(*k.out));
	sampler_init(&k.sampler, RIDE_NEVER, PERIOD);
	read_python(&k);
	read_threads(&k);
	taking_release(&k);
	return k.out;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	arena_release(&s->arena);
	free(s);
}
