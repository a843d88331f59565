#include "sample/native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "os/syscall.h"
#include "os/trial.h"
#include "record/writer.h"
#include "sample/clocks.h"
#include "sample/native_kernel.h"

#define LIST_EVERY    20000000u	 /* ns between looks at how many threads */
#define RELIST	      500000000u /* ns after which they are listed anyway */
#define THREADS_MAX   32768
#define FRAMES_MAX    8192
#define FILES_RESERVE 64
#define SEARCH_WORDS  512 /* of the stack that may be where fp points */
#define SEARCH_MAX    64  /* that are tried */
#define SEARCH_FAR    (UINT64_C(1) << 20) /* bytes, of one frame */

/* ---- sources ---- */

static int try_event(enum perf_kind kind, struct error *err)
{
	struct perf_event e;
	int status = perf_event_open(&e, (pid_t)syscall(SYS_gettid), kind,
				     false, err);

	perf_event_close(&e);
	return status;
}

enum register_source native_best_source(void)
{
	if (try_event(PERF_AT_SWITCH, NULL) == 0)
		return REGISTERS_SWITCH;
	if (try_event(PERF_AT_CLOCK, NULL) == 0)
		return REGISTERS_CLOCK;
	return trial_stop() ? REGISTERS_NONE : REGISTERS_STOP;
}

int native_check_source(enum register_source source, struct error *err)
{
	if (source == REGISTERS_SWITCH && try_event(PERF_AT_SWITCH, err) < 0)
		return fail(err, ERR_PERMISSION,
			    "perf events of the kernel's side are not "
			    "permitted: run as root, give the program "
			    "CAP_PERFMON, or sysctl "
			    "kernel.perf_event_paranoid=1");
	if (source == REGISTERS_CLOCK && try_event(PERF_AT_CLOCK, err) < 0)
		return fail(err, ERR_PERMISSION,
			    "perf events are not permitted: sysctl "
			    "kernel.perf_event_paranoid=2, and in a container "
			    "a seccomp profile that has perf_event_open");
	if (source == REGISTERS_STOP && trial_stop())
		return fail(err, ERR_PERMISSION,
			    "threads may not be stopped here (ptrace): in a "
			    "container add the capability SYS_PTRACE");
	return 0;
}

/* ---- begin and end ---- */

static uint32_t name_frame(struct node_namer *namer,
			   const struct merged_frame *f);

static struct native *new_native(struct memory *memory,
				 const struct native_options *options)
{
	struct native *n = xcalloc(1, sizeof(*n));

	n->namer.frame = name_frame;
	n->options = *options;
	n->memory = memory;
	n->stop = (struct stop){ .own = options->own };
	n->task_fd = -1;
	n->frames = xcalloc(FRAMES_MAX, sizeof(*n->frames));
	return n;
}

static void find_eval(struct native *n, const struct python *python)
{
	struct process_opener files = opener_of_process(n->pid);
	struct maps maps = MAPS_INIT;

	if (maps_read(&maps, n->pid, NULL) == 0)
		n->has_eval = python_eval_find(&n->eval, python, &maps,
					       &files.opener) == 0;
	maps_release(&maps);
}

int native_new(struct native **out, pid_t pid, struct memory *memory,
	       const struct python *python,
	       const struct native_options *options, struct error *err)
{
	struct native *n = new_native(memory, options);
	char path[64];
	int status;

	n->pid = n->stop.process = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	n->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n->files_end = descriptors_raise() - FILES_RESERVE;
	status = unwinder_new(&n->unwinder, pid, memory, err);
	if (status < 0) {
		native_free(n);
		return status;
	}
	find_eval(n, python);
	if (options->kernel && options->source == REGISTERS_SWITCH)
		n->kernel = native_kernel_new();
	*out = n;
	return 0;
}

int native_new_over(struct native **out, struct memory *memory,
		    const struct python *python, const struct maps *maps,
		    const struct opener *opener,
		    const struct native_options *options, struct error *err)
{
	struct native *n = new_native(memory, options);
	int status = unwinder_new_over(&n->unwinder, maps, memory, opener, err);

	if (status < 0) {
		native_free(n);
		return status;
	}
	n->has_eval = python_eval_find(&n->eval, python, maps, opener) == 0;
	*out = n;
	return 0;
}

static void thread_free(struct native_thread *t)
{
	perf_event_close(&t->event);
	os_thread_release(&t->os);
	merged_release(&t->merged);
	merged_path_release(&t->path);
	clock_track_free(t->track);
	free(t->copy);
	free(t);
}

void native_free(struct native *n)
{
	if (!n)
		return;
	stop_end(&n->stop);
	for (uint32_t i = 0; i < n->n_threads; i++)
		thread_free(n->threads[i]);
	free(n->threads);
	native_bury(n);
	free(n->dead);
	map_release(&n->by_tid);
	unwinder_free(n->unwinder);
	python_eval_release(&n->eval);
	native_kernel_free(n->kernel);
	if (n->task_fd >= 0)
		close(n->task_fd);
	free(n->tids);
	free(n->classes);
	free(n->modules);
	free(n->frames);
	free(n->thrown);
	free(n);
}

/* ---- the list of threads ---- */

/* A thread whose event cannot be opened has no native stack; the first reason
 * is kept for the recording's note. */
static const struct error files_error = {
	ERR_LIMIT, "too many open files, some for each thread (ulimit -n)"
};

static void refuse(struct native *n, struct native_thread *t,
		   const struct error *why)
{
	t->refused = true;
	n->n_refused++;
	if (!n->refusal.code)
		n->refusal = *why;
	perf_event_close(&t->event);
	os_thread_release(&t->os);
}

static void watch(struct native *n, struct native_thread *t)
{
	enum perf_kind kind = n->options.source == REGISTERS_SWITCH
				      ? PERF_AT_SWITCH
				      : PERF_AT_CLOCK;
	struct error err = ERROR_INIT;
	int status;

	if (n->options.source == REGISTERS_STOP)
		return;
	status = perf_event_open(&t->event, t->tid, kind,
				 n->options.kernel && kind == PERF_AT_SWITCH,
				 &err);
	t->refused = status < 0;
	if (status < 0 && status != -ERR_GONE)
		refuse(n, t, &err);
	else if (t->event.fd >= n->files_end)
		refuse(n, t, &files_error);
}

static struct native_thread *new_thread(pid_t tid)
{
	struct native_thread *t = xcalloc(1, sizeof(*t));

	t->tid = tid;
	t->present = true;
	t->record = t->node = ID_NONE;
	t->core = -1;
	t->call = -1;
	t->event = (struct perf_event)PERF_EVENT_INIT;
	t->os = (struct os_thread)OS_THREAD_INIT;
	return t;
}

/* Events tell all but what a sleeper sleeps in. errno says why not. */
static bool open_thread(const struct native *n, struct native_thread *t)
{
	char path[96];

	if (n->options.source == REGISTERS_STOP)
		return os_thread_open(&t->os, n->pid, t->tid) == 0 &&
		       t->os.syscall_fd >= 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)n->pid,
		 (int)t->tid);
	t->os.syscall_fd = open(path, O_RDONLY | O_CLOEXEC);
	return t->os.syscall_fd >= 0;
}

static void add_thread(struct native *n, pid_t tid)
{
	struct native_thread *t;

	if (n->n_threads >= THREADS_MAX)
		return;
	t = new_thread(tid);
	errno = 0;
	if (!open_thread(n, t) && errno != EMFILE && errno != ENFILE) {
		thread_free(t);
		return;
	}
	if (t->os.syscall_fd < 0 || t->os.syscall_fd >= n->files_end)
		refuse(n, t, &files_error);
	else
		watch(n, t);
	ALLOC_GROW(n->threads, n->n_threads + 1, n->threads_capacity);
	n->threads[n->n_threads++] = t;
}

struct native_thread *native_stand(struct native *n, pid_t tid,
				   const struct cpu_registers *registers,
				   long call, uint64_t argument)
{
	struct native_thread *t = new_thread(tid);

	t->registers = *registers;
	t->call = call;
	t->argument = argument;
	t->standing = true;
	t->running = call < 0;
	ALLOC_GROW(n->threads, n->n_threads + 1, n->threads_capacity);
	map_put(&n->by_tid, (uint64_t)tid, 0, n->n_threads);
	n->threads[n->n_threads++] = t;
	return t;
}

static void drop_absent(struct native *n)
{
	uint32_t kept = 0;

	map_clear(&n->by_tid);
	for (uint32_t i = 0; i < n->n_threads; i++) {
		struct native_thread *t = n->threads[i];

		if (t->present) {
			map_put(&n->by_tid, (uint64_t)t->tid, 0, kept);
			n->threads[kept++] = t;
			continue;
		}
		if (n->armed == t)
			n->armed = NULL;
		if (n->writer && t->record != ID_NONE)
			writer_thread_end(n->writer, t->record, clock_now());
		t->ended = true;
		ALLOC_GROW(n->dead, n->n_dead + 1, n->dead_capacity);
		n->dead[n->n_dead++] = t;
	}
	n->n_threads = kept;
}

void native_bury(struct native *n)
{
	for (uint32_t i = 0; i < n->n_dead; i++)
		thread_free(n->dead[i]);
	n->n_dead = 0;
}

struct native_thread *native_find(const struct native *n, pid_t tid)
{
	uint32_t i = map_get(&n->by_tid, (uint64_t)tid, 0);

	return i == MAP_NONE ? NULL : n->threads[i];
}

/* How many threads there are, as the directory's count of links has it. */
static uint64_t count_links(const struct native *n)
{
	struct stat st;

	return fstat(n->task_fd, &st) ? 0 : st.st_nlink;
}

/* The number of threads says whether to list them; it stays the same when one
 * ends and another begins, so they are listed now and then anyway. */
static bool list_is_due(struct native *n, uint64_t now, bool force)
{
	uint64_t links;

	if (!n->n_threads || force || now - n->listed >= RELIST)
		return true;
	if (now - n->counted < LIST_EVERY)
		return false;
	n->counted = now;
	links = count_links(n);
	return links != n->links;
}

void native_list(struct native *n, uint64_t now, bool force)
{
	int count;

	if (!list_is_due(n, now, force))
		return;
	n->listed = n->counted = now;
	n->links = count_links(n);
	count = process_threads(n->pid, &n->tids, &n->tids_capacity);
	if (count < 0)
		return;
	native_bury(n);
	for (uint32_t i = 0; i < n->n_threads; i++)
		n->threads[i]->present = false;
	for (int i = 0; i < count; i++) {
		struct native_thread *t = native_find(n, n->tids[i]);

		if (t)
			t->present = true;
		else
			add_thread(n, n->tids[i]);
	}
	drop_absent(n);
}

/* ---- modules and names ---- */

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

static enum module_class classify(const struct native *n,
				  const struct unwind_module_info *m)
{
	const char *slash = strrchr(m->path, '/');
	const char *name = slash ? slash + 1 : m->path;

	if (n->has_eval && m->start < n->eval.end && m->end > n->eval.start)
		return MODULE_INTERPRETER;
	if (begins(name, "python") || begins(name, "libpython"))
		return MODULE_INTERPRETER;
	if (begins(name, "libc.so") || begins(name, "libc-2") ||
	    begins(name, "libpthread") || begins(name, "ld-linux") ||
	    begins(name, "ld-musl"))
		return MODULE_START;
	return MODULE_OTHER;
}

/* The unwinder has met modules that we do not know yet. */
static void learn_modules(struct native *n)
{
	uint32_t count = unwinder_module_count(n->unwinder);

	if (count == n->n_modules)
		return;
	if (count > n->modules_capacity) {
		n->modules_capacity = count * 2;
		n->modules = xreallocarray(n->modules, n->modules_capacity,
					   sizeof(*n->modules));
		n->classes = xreallocarray(n->classes, n->modules_capacity,
					   sizeof(*n->classes));
	}
	for (; n->n_modules < count; n->n_modules++) {
		n->modules[n->n_modules] = ID_NONE;
		n->classes[n->n_modules] =
			(uint8_t)classify(n, unwinder_module(n->unwinder,
							     n->n_modules));
	}
}

const struct unwind_module_info *native_module(const struct native *n,
					       uint32_t module)
{
	return unwinder_module(n->unwinder, module);
}

static uint32_t module_record(struct native *n, uint32_t module)
{
	const struct unwind_module_info *m = native_module(n, module);

	if (!m || module >= n->n_modules)
		return ID_NONE;
	if (n->modules[module] == ID_NONE) {
		struct module_info info = { .path = m->path,
					    .build_id = m->build_id,
					    .bias = m->bias,
					    .start = m->start,
					    .end = m->end };

		n->modules[module] = writer_module(n->writer, &info);
	}
	return n->modules[module];
}

static uint32_t name_mark(struct native *n, uint64_t mark)
{
	char text[NATIVE_MARK_SIZE];
	struct function_info info = {
		.name = text, .file = "", .kind = FUNCTION_MARK, .module = ""
	};

	native_mark_text(mark, text);
	return writer_frame(n->writer, writer_function(n->writer, &info), 0);
}

static uint32_t name_frame(struct node_namer *namer,
			   const struct merged_frame *f)
{
	struct native *n = (struct native *)namer;
	struct site_info site = { .module = ID_NONE,
				  .address = f->address,
				  .kind = f->kind == MERGED_KERNEL
						  ? FUNCTION_KERNEL
						  : FUNCTION_NATIVE };

	if (f->kind == MERGED_MARK)
		return name_mark(n, f->address);
	if (f->kind == MERGED_NATIVE)
		site.module = module_record(n, f->module);
	if (site.module != ID_NONE)
		site.address -= native_module(n, f->module)->bias;
	return writer_site_frame(n->writer, writer_site(n->writer, &site));
}

/* ---- walks ---- */

/* What Python says of a thread. */
struct python_side {
	const struct stack *stack; /* NULL: nothing */
	const struct stack *below; /* in the interpreter that it came from */
};

static void push_kernel(struct native *n, struct native_thread *t)
{
	uint32_t cut = 0;

	if (n->kernel)
		cut = native_kernel_cut(n->kernel, t->kernel, t->n_kernel,
					t->running);
	for (uint32_t i = t->n_kernel; i-- > cut;)
		merged_push(&t->merged, MERGED_KERNEL, t->kernel[i],
			    UNWIND_NO_MODULE);
}

static uint32_t walk(struct native *n, struct native_thread *t,
		     enum unwind_end *why)
{
	const struct cpu_registers *r = &t->registers;
	struct unwind_registers registers = { .pc = r->pc,
					      .sp = r->sp,
					      .fp = r->fp,
					      .lr = r->lr,
					      .rbx = r->rbx,
					      .r10 = r->r10,
					      .rdi = t->call < 0
							     ? 0
							     : t->argument };
	struct unwind_stack stack = { t->stack_at, t->stack, 0 };
	uint32_t count;

	if (t->planned)
		stack.size = t->size;
	count = unwinder_walk(n->unwinder, &registers, &stack, n->frames,
			      FRAMES_MAX, why);
	if (*why == UNWIND_ROOT && n->frames[count - 1].sp > r->sp)
		t->top = n->frames[count - 1].sp;
	return count;
}

/* A thread that was just born stands behind the system call that made it, for
 * which the C library has no rule, and has nothing on its stack. */
static bool is_newborn(const struct native *n, uint32_t count)
{
	uint32_t module = n->frames[0].module;

	return count == 1 && module < n->n_modules &&
	       n->classes[module] == MODULE_START;
}

/* In 3.10 and 3.11 an exception that is thrown into a generator which waits for
 * another one goes through the first without running it, and yet its frame is
 * in the list and says that it begins a run. It does not, then. */
static void withdraw_thrown(struct native *n, const struct stack *python,
			    struct merge_input *in)
{
	uint32_t surplus = merge_surplus(in);

	if (!surplus || in->n_python < 2 ||
	    python->python->version >> 16 < 0x030a ||
	    python->python->version >> 16 > 0x030b)
		return;
	ALLOC_GROW(n->thrown, in->n_python, n->thrown_capacity);
	memcpy(n->thrown, in->python, in->n_python * sizeof(*n->thrown));
	for (uint32_t i = 1; i < in->n_python && surplus; i++)
		if (n->thrown[i].entry && stack_is_generator(python, i) &&
		    stack_is_generator(python, i - 1)) {
			n->thrown[i].entry = false;
			surplus--;
		}
	if (surplus && stack_is_generator(python, 0))
		n->thrown[0].entry = false;
	in->python = n->thrown;
}

/* What is at the leaf beyond the program's own code. */
static void push_leaf(struct native *n, struct native_thread *t)
{
	push_kernel(n, t);
	if (t->ready)
		merged_push(&t->merged, MERGED_MARK, NATIVE_MARK_CPU,
			    UNWIND_NO_MODULE);
	else if (t->gil_wait || os_syscall_wait(t->call))
		merged_push(&t->merged, MERGED_MARK,
			    t->gil_wait ? NATIVE_MARK_GIL : (uint64_t)t->call,
			    UNWIND_NO_MODULE);
}

/* Below what the thread does in one interpreter is what it does in another. */
static void join(struct native *n, const struct stack *below,
		 struct merge_input *in)
{
	uint32_t inner = in->n_python;

	ALLOC_GROW(n->thrown, inner + below->n_frames, n->thrown_capacity);
	memcpy(n->thrown, in->python, inner * sizeof(*n->thrown));
	memcpy(n->thrown + inner, below->frames,
	       below->n_frames * sizeof(*n->thrown));
	if (inner)
		n->thrown[inner - 1].entry = true;
	in->python = n->thrown;
	in->n_python += below->n_frames;
}

static uint32_t walk_and_merge(struct native *n, struct native_thread *t,
			       const struct python_side *python)
{
	enum unwind_end why;
	struct merge_input in = {
		.eval = n->has_eval ? &n->eval : NULL,
		.native = n->frames,
		.internals = n->options.internals,
	};

	in.n_native = walk(n, t, &why);
	learn_modules(n);
	in.complete = why == UNWIND_ROOT || is_newborn(n, in.n_native);
	in.classes = n->classes;
	in.n_classes = n->n_modules;
	if (python->stack) {
		in.python = python->stack->frames;
		in.n_python = python->stack->n_frames;
		in.entered = python->stack->entered;
	}
	if (python->below)
		join(n, python->below, &in);
	else if (python->stack)
		withdraw_thrown(n, python->stack, &in);
	return merge_stacks(&t->merged, &in);
}

static bool fits(uint32_t state)
{
	return !(state & (STATE_BROKEN | STATE_UNMERGED));
}

/* Of a thread that slept before we came the frame pointer is not known, and
 * code that keeps one cannot be walked without it. It points at a word on the
 * stack that points further up, with a return address beside it; there are not
 * many, and that the stack comes to its root and fits Python's tells the right
 * one. Such a thread is walked once. */
static void search_frame_pointer(struct native *n, struct native_thread *t,
				 const struct python_side *python)
{
	uint64_t sp = t->registers.sp, words[SEARCH_WORDS];
	int tries = 0;

	if (memory_read(n->memory, sp, words, sizeof(words)))
		return;
	for (size_t i = 0; i + 1 < SEARCH_WORDS && tries < SEARCH_MAX; i++) {
		uint64_t at = sp + 8 * i;

		if (words[i] <= at || words[i] - at > SEARCH_FAR ||
		    words[i] & 7 || words[i + 1] < 4096)
			continue;
		tries++;
		t->registers.fp = at;
		t->state = walk_and_merge(n, t, python);
		if (fits(t->state))
			return;
	}
	t->registers.fp = 0;
	t->state = walk_and_merge(n, t, python);
}

void native_walk(struct native *n, struct native_thread *t,
		 const struct stack *python, const struct stack *below)
{
	struct python_side side = { python, below };

	t->state = walk_and_merge(n, t, &side);
	if (!fits(t->state) && !t->registers.fp && !t->running)
		search_frame_pointer(n, t, &side);
	push_leaf(n, t);
	t->pictured = t->head;
	t->has_picture = true;
	t->partner = python ? python->tstate : 0;
	t->node = ID_NONE;
}

uint32_t native_node(struct native *n, struct native_thread *t,
		     struct node_table *table, uint64_t generation)
{
	if (t->node == ID_NONE || t->epoch != table->epoch) {
		t->node = node_of_merged(table, &t->path, &t->merged,
					 generation, &n->namer);
		t->epoch = table->epoch;
	}
	return t->node;
}

uint32_t native_ready_node(struct native *n, struct node_table *table,
			   uint32_t node)
{
	struct merged_frame mark = { .kind = MERGED_MARK,
				     .address = NATIVE_MARK_CPU,
				     .module = UNWIND_NO_MODULE };

	return node_below(table, node, &mark, &n->namer);
}
