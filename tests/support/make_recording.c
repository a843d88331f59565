/* Write a synthetic recording: a made-up program whose threads walk through a
 * call tree, sampled by a made-up clock with the lateness of a real one. The
 * same options and seed always give the same bytes.
 *
 *   make_recording -o FILE [--ticks N] [--threads N] [--processes N]
 *                  [--depth N] [--branching N] [--move PERCENT] [--rate HZ]
 *                  [--flush SECONDS] [--seed N] [--idle PERCENT] [--extras]
 *                  [--native] [--unnamed PERCENT] [--broken-off]
 *
 * --branching 1 is a steady program: each thread keeps one stack for ever.
 * With --extras the file holds one of everything that a recording can hold:
 * markers, source text, native and kernel frames, torn stacks, ends.
 *
 * With --native Python calls native code, which calls inlined functions, the
 * kernel and Python again; the last of at least two threads never runs Python.
 * --unnamed says for how many of the addresses there are no symbols;
 * --broken-off ends without symbols, source text and an end. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/options.h"
#include "make_native.h"
#include "record/writer.h"

#define START	       1000000000ull /* clock_now() at time 0 */
#define MAX_DEPTH      20000
#define MAX_THREADS    100000
#define LATENESS       55000.0 /* ns, mean of what a timer costs */
#define LATENESS_NOISE 9000.0

struct plan {
	long ticks, threads, processes, depth, branching, move, seed, idle;
	double rate, flush;
	const char *output;
	long unnamed;
	bool extras, native, broken_off;
};

struct walker {
	uint32_t thread, idle_node;
	uint32_t *path; /* node at each level */
	uint32_t depth;
	bool idle;
};

struct program {
	struct plan plan;
	struct writer *writer;
	struct native_code *native; /* or NULL */
	struct walker *walkers;
	uint32_t *frames; /* [level * branching + choice] */
	uint64_t random, now, period;
	struct recording_info info;
};

static const char *const files[] = {
	"/srv/shop/app/views.py",
	"/srv/shop/app/models.py",
	"/srv/shop/app/pricing.py",
	"/usr/lib/python3.12/json/decoder.py",
	"/usr/lib/python3.12/asyncio/base_events.py",
	"/srv/shop/venv/lib/python3.12/site-packages/django/core/handlers/base.py",
	"/srv/shop/venv/lib/python3.12/site-packages/sqlalchemy/orm/query.py",
	"<frozen importlib._bootstrap>",
};
static const char *const classes[] = { "Order",	 "Cart.",     "Session.",
				       "",	 "Parser",    "Query.",
				       "Loader", "Scheduler." };
static const char *const verbs[] = { "load",	   "parse",    "dispatch",
				     "render",	   "__call__", "visit",
				     "<listcomp>", "flush" };

#define N_FILES	  (sizeof(files) / sizeof(files[0]))
#define N_CLASSES (sizeof(classes) / sizeof(classes[0]))
#define N_VERBS	  (sizeof(verbs) / sizeof(verbs[0]))

static uint64_t random_next(struct program *p)
{
	uint64_t x = p->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	p->random = x;
	return x * 0x2545f4914f6cdd1dull >> 11;
}

static uint32_t random_below(struct program *p, uint32_t n)
{
	return (uint32_t)(random_next(p) % n);
}

static bool chance(struct program *p, long percent)
{
	return random_below(p, 100) < (uint32_t)percent;
}

static uint32_t make_frame(struct program *p, uint32_t level, uint32_t choice)
{
	uint32_t n = level * 7 + choice * 3;
	char *name = xasprintf("%s%s%s_%u", classes[n % N_CLASSES],
			       n % N_CLASSES == 3 ? "" : ".",
			       verbs[(n / 5 + choice) % N_VERBS], level);
	struct function_info f = { .name = name,
				   .file = files[n / 11 % N_FILES],
				   .line = 10 + n % 900,
				   .module = "" };
	uint32_t function = writer_function(p->writer, &f);

	free(name);
	return writer_frame(p->writer, function, f.line + 1 + choice);
}

static void make_frames(struct program *p)
{
	uint32_t width = (uint32_t)p->plan.branching;

	p->frames = xcalloc((size_t)p->plan.depth * width, sizeof(*p->frames));
	for (uint32_t level = 0; level < p->plan.depth; level++)
		for (uint32_t choice = 0; choice < width; choice++)
			p->frames[level * width + choice] =
				make_frame(p, level, choice);
}

static uint32_t named_node(struct program *p, uint32_t parent, const char *name,
			   const char *file, uint32_t line,
			   enum function_kind kind, const char *module)
{
	struct function_info f = { name, file, line, kind, module };
	uint32_t function = writer_function(p->writer, &f);

	return writer_node(p->writer, parent,
			   writer_frame(p->writer, function, line + 3));
}

static uint32_t make_idle_node(struct program *p)
{
	uint32_t node = named_node(p, ID_NONE, "Thread._bootstrap",
				   "/usr/lib/python3.12/threading.py", 1016,
				   FUNCTION_PYTHON, "");

	node = named_node(p, node, "Thread.run",
			  "/usr/lib/python3.12/threading.py", 970,
			  FUNCTION_PYTHON, "");
	return named_node(p, node, "Condition.wait",
			  "/usr/lib/python3.12/threading.py", 323,
			  FUNCTION_PYTHON, "");
}

static uint32_t make_process(struct program *p, uint32_t n)
{
	struct process_info info = {
		.pid = 4200 + n * 11,
		.parent = n ? 0 : ID_NONE,
		.start = n * 1000000ull,
		.command = n ? "python3 worker.py --queue mail"
			     : "python3 manage.py runserver 8000",
		.exe = "/usr/bin/python3.12",
		.python = "3.12.1",
	};

	return writer_process(p->writer, &info);
}

static void make_thread(struct program *p, uint32_t n, uint32_t process)
{
	bool main = n < p->plan.processes;
	char *name = main ? xstrdup("MainThread")
			  : xasprintf("ThreadPoolExecutor-0_%u", n);
	struct thread_info info = { .process = process,
				    .tid = 4200 + process * 11 + n,
				    .start = n * 2000000ull,
				    .name = name,
				    .main = main };
	struct walker *w = &p->walkers[n];

	w->thread = writer_thread(p->writer, &info);
	w->path = xcalloc((size_t)p->plan.depth, sizeof(*w->path));
	w->idle_node = make_idle_node(p);
	w->idle = !main && chance(p, p->plan.idle);
	free(name);
}

/* Leave some of the innermost frames and call others. */
static void move(struct program *p, struct walker *w)
{
	uint32_t width = (uint32_t)p->plan.branching;
	uint32_t keep = w->depth, target = (uint32_t)p->plan.depth;

	while (keep && chance(p, 60))
		keep--;
	if (keep && chance(p, 1))
		keep = random_below(p, keep);
	if (width > 1 && target > 4)
		target -= random_below(p, 4);
	for (w->depth = keep; w->depth < target; w->depth++) {
		uint32_t choice = random_below(p, width);
		uint32_t parent = w->depth ? w->path[w->depth - 1] : ID_NONE;

		/* The first callee is the likely one, as it is in life. */
		if (chance(p, 50))
			choice = 0;
		if (p->native && w->depth % 9 == 8)
			parent = native_callback(p->native, parent, choice);
		w->path[w->depth] =
			writer_node(p->writer, parent,
				    p->frames[w->depth * width + choice]);
	}
}

static void count(struct program *p, uint32_t state)
{
	p->info.samples++;
	p->info.torn += !!(state & STATE_TORN);
	p->info.unproven += !!(state & STATE_UNPROVEN);
	p->info.ridden += !!(state & STATE_RIDDEN);
	p->info.native += !!(state & STATE_NATIVE);
	p->info.broken += !!(state & STATE_BROKEN);
	p->info.unmerged += !!(state & STATE_UNMERGED);
}

/* The native part of a sample: mostly some below the Python code. */
static uint32_t go_native(struct program *p, const struct walker *w,
			  uint32_t node, uint32_t *state)
{
	if (!p->native)
		return node;
	*state |= STATE_NATIVE;
	if (random_below(p, 400) == 0)
		*state |= STATE_BROKEN;
	else if (random_below(p, 600) == 0)
		*state |= STATE_UNMERGED;
	if (p->plan.threads > 1 && w->thread == p->plan.threads - 1)
		return native_thread(p->native, random_below(p, 64));
	return w->idle || chance(p, 30)
		       ? node
		       : native_stack(p->native, node, random_below(p, 1000));
}

static void sample(struct program *p, struct walker *w)
{
	uint32_t state = STATE_ON_CPU | STATE_GIL | STATE_RIDDEN;
	uint32_t node;

	if (w->thread >= p->plan.processes && p->plan.idle < 100 &&
	    random_below(p, 1000) < 2)
		w->idle = chance(p, p->plan.idle);
	if (!w->idle && (!w->depth || chance(p, p->plan.move)))
		move(p, w);
	node = w->idle ? w->idle_node : w->path[w->depth - 1];
	if (w->idle)
		state = 0;
	else if (p->plan.extras && chance(p, 3))
		state = STATE_GIL_WAIT;
	else if (p->plan.extras && random_below(p, 500) == 0)
		state |= STATE_GC;
	else if (p->plan.extras && random_below(p, 900) == 0)
		state |= STATE_TORN;
	node = go_native(p, w, node, &state);
	writer_sample(p->writer, w->thread, node, state);
	count(p, state);
}

static uint64_t lateness(struct program *p)
{
	double u = (random_next(p) % 1000000 + 1) / 1000001.0;
	double v = (random_next(p) % 1000000 + 1) / 1000001.0;
	double late = LATENESS +
		      LATENESS_NOISE * sqrt(-2 * log(u)) * cos(6.283185 * v);

	if (random_below(p, 200) == 0)
		late += 40000 * -log(u); /* somebody else had the core */
	return late > 0 ? (uint64_t)late : 0;
}

static void tick(struct program *p, long n)
{
	uint64_t due = START + (uint64_t)((double)n * 1e9 / p->plan.rate);

	/* Fast clocks are not timers: they are loops, evenly late. */
	p->now = due +
		 (p->period > 100000
			  ? lateness(p)
			  : random_below(p, (uint32_t)(p->period / 4 + 1)));
	writer_tick(p->writer, p->now);
	for (long i = 0; i < p->plan.threads; i++)
		sample(p, &p->walkers[i]);
	p->info.ticks++;
}

/* One of everything else that a recording can hold. */
static void make_extras(struct program *p)
{
	static const char source[] = "import time\n\n\ndef main():\n"
				     "\twhile True:\n\t\ttime.sleep(1)\n";
	struct writer *w = p->writer;
	uint32_t node = named_node(p, ID_NONE, "main", "/srv/shop/main.py", 4,
				   FUNCTION_PYTHON, "");
	struct marker_info span = { 20000000, 50000000, 0, "request",
				    "GET /cart?id=7" };
	struct marker_info instant = { 30000000, 30000000, ID_NONE, "gc",
				       "generation 2" };

	writer_source(w, "/srv/shop/main.py", source, strlen(source));
	writer_tick(w, p->now += p->period);
	writer_sample(w, 0, node, STATE_GIL);
	node = named_node(p, node, "floatsleep", "", 0, FUNCTION_NATIVE,
			  "/usr/lib/libpython3.12.so.1.0");
	writer_tick(w, p->now += p->period);
	writer_sample(w, 0, node, STATE_GIL);
	node = named_node(p, node, "do_nanosleep", "", 0, FUNCTION_KERNEL,
			  "[kernel]");
	writer_tick(w, p->now += p->period);
	writer_sample(w, 0, node, 0);
	writer_tick(w, p->now += p->period);
	writer_sample(w, 0, ID_NONE, STATE_UNREADABLE);
	writer_marker(w, &span);
	writer_marker(w, &instant);
	writer_thread_name(w, (uint32_t)p->plan.threads - 1, "mail-sender");
	writer_thread_ran(w, 0, 1000);
	writer_tick(w, p->now += p->period);
	writer_sample(w, 0, ID_NONE, STATE_ON_CPU);
	writer_thread_ran(w, 0, 301000);
	writer_thread_end(w, (uint32_t)p->plan.threads - 1, p->now);
	writer_process_end(w, (uint32_t)p->plan.processes - 1, p->now, 0);
	p->info.ticks += 5;
	p->info.samples += 5;
	p->info.unreadable++;
}

static void tell(struct program *p)
{
	p->info.duration = p->now - START;
	p->info.recorder_cpu = p->info.samples * 1500;
	writer_info(p->writer, &p->info);
}

static int record(struct program *p, struct error *err)
{
	uint64_t flushed = START;
	uint64_t step = (uint64_t)(p->plan.flush * 1e9);
	int rc = 0;

	tell(p);
	for (long n = 0; n < p->plan.ticks && !rc; n++) {
		tick(p, n + 1);
		if (p->now - flushed < step)
			continue;
		flushed = p->now;
		tell(p);
		rc = writer_flush(p->writer, err);
	}
	if (rc || p->plan.broken_off)
		return rc;
	if (p->plan.extras)
		make_extras(p);
	if (p->native)
		native_symbols(p->native);
	tell(p);
	return writer_finish(p->writer, err);
}

static void populate(struct program *p)
{
	uint32_t n;

	if (p->plan.native) {
		p->native =
			native_code_new(p->writer, (uint32_t)p->plan.unnamed);
		p->info.registers = REGISTERS_SWITCH;
	}
	p->walkers = xcalloc((size_t)p->plan.threads, sizeof(*p->walkers));
	for (n = 0; n < p->plan.processes; n++)
		make_process(p, n);
	make_frames(p);
	for (n = 0; n < p->plan.threads; n++)
		make_thread(p, n, n % (uint32_t)p->plan.processes);
}

static int check(const struct plan *plan, struct error *err)
{
	if (plan->rate <= 0 || plan->flush <= 0 || plan->depth < 1 ||
	    plan->depth > MAX_DEPTH || plan->branching < 1 ||
	    plan->branching > 1000 || plan->threads < 1 ||
	    plan->threads > MAX_THREADS || plan->processes < 1 ||
	    plan->processes > plan->threads || plan->unnamed < 0 ||
	    plan->unnamed > 100)
		return fail(err, ERR_USAGE, "a number is out of range");
	return 0;
}

static int run(struct program *p, struct error *err)
{
	struct plan *plan = &p->plan;
	struct writer_options options = { .start = START };
	int fd = plan->output ? open(plan->output, O_WRONLY | O_CREAT | O_TRUNC,
				     0666)
			      : STDOUT_FILENO;
	int rc;

	if (fd < 0)
		return fail(err, ERR_IO, "cannot write %s", plan->output);
	p->random = (uint64_t)plan->seed * 0x9e3779b97f4a7c15ull + 1;
	p->period = options.period = (uint64_t)(1e9 / plan->rate);
	p->info = (struct recording_info){
		.wall_start = 1760000000ull * 1000000000,
		.period = p->period,
		.version = PYROMETER_VERSION,
		.host = "example",
		.command = "pyrometer run -s manage.py runserver 8000",
	};
	rc = writer_new(&p->writer, fd, &options, err);
	if (!rc) {
		populate(p);
		rc = record(p, err);
		fprintf(stderr,
			"%" PRIu64 " samples, %" PRIu64 " bytes, %.3f each\n",
			p->info.samples, writer_bytes(p->writer),
			(double)writer_bytes(p->writer) / p->info.samples);
	}
	writer_free(p->writer);
	return rc;
}

int main(int argc, char **argv)
{
	struct program p = { .plan = { .ticks = 10000,
				       .threads = 1,
				       .processes = 1,
				       .depth = 20,
				       .branching = 3,
				       .move = 100,
				       .seed = 1,
				       .idle = 80,
				       .rate = 1000,
				       .flush = 1 } };
	struct plan *plan = &p.plan;
	struct option options[] = {
		{ OPTION_STRING, 'o', "output", "FILE", &plan->output,
		  "default stdout" },
		{ OPTION_NUMBER, 0, "ticks", "N", &plan->ticks,
		  "default 10000" },
		{ OPTION_NUMBER, 0, "threads", "N", &plan->threads,
		  "default 1" },
		{ OPTION_NUMBER, 0, "processes", "N", &plan->processes,
		  "default 1" },
		{ OPTION_NUMBER, 0, "depth", "N", &plan->depth, "default 20" },
		{ OPTION_NUMBER, 0, "branching", "N", &plan->branching,
		  "default 3" },
		{ OPTION_NUMBER, 0, "move", "PERCENT", &plan->move,
		  "default 100" },
		{ OPTION_NUMBER, 0, "seed", "N", &plan->seed, "default 1" },
		{ OPTION_NUMBER, 0, "idle", "PERCENT", &plan->idle,
		  "default 80" },
		{ OPTION_RATE, 0, "rate", "HZ", &plan->rate, "default 1k" },
		{ OPTION_TIME, 0, "flush", "TIME", &plan->flush, "default 1s" },
		{ OPTION_FLAG, 0, "extras", NULL, &plan->extras,
		  "one of everything" },
		{ OPTION_FLAG, 0, "native", NULL, &plan->native,
		  "native and kernel frames" },
		{ OPTION_NUMBER, 0, "unnamed", "PERCENT", &plan->unnamed,
		  "default 0" },
		{ OPTION_FLAG, 0, "broken-off", NULL, &plan->broken_off,
		  "no symbols, no end" },
		{ OPTION_END },
	};
	struct error err = ERROR_INIT;
	int operands,
		rc = options_parse(options, argc, argv, false, &operands, &err);

	if (!rc)
		rc = check(plan, &err);
	if (!rc)
		rc = run(&p, &err);
	if (rc)
		fprintf(stderr, "make_recording: %s\n", err.text);
	for (long i = 0; p.walkers && i < plan->threads; i++)
		free(p.walkers[i].path);
	native_code_free(p.native);
	free(p.walkers);
	free(p.frames);
	return error_exit_status(rc);
}
