/* Write a recording that a test describes exactly, on standard output.
 *
 * Standard input is a line per run, in order of time:
 *
 *   thread TAB state TAB ticks TAB frame RS frame RS ...   outermost first
 *
 * A frame is `name US file US first line US line` (US is byte 0x1f, RS 0x1e);
 * a name may hold any other byte. Behind that may be `US kind US object file`
 * (kind a number of enum function_kind) and, of native code with an address,
 * `US address in hexadecimal US build id`; such a one has no symbol if it has
 * no name, and is inlined into the frame before it if its object file is "^".
 * `state` is a number of enum sample_state. A
 * thread is a name; it is made when it is first met, the first one is the main
 * thread. Ticks are 1 ms apart; each line has its ticks for itself, except that
 * a thread with a "&" before its name shares those of the line before it. A
 * line "marker TAB name TAB text TAB start ms TAB end ms" is a marker of the
 * first thread, "source TAB file TAB line RS line ..." is a file's text. The
 * command line of the process is the first argument. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "record/writer.h"

#define START	   1000000000ull /* clock_now() at time 0 */
#define PERIOD	   1000000ull	 /* 1 ms */
#define PID	   4200
#define MARKER_TAG "marker\t"
#define SOURCE_TAG "source\t"
#define TOGETHER   16 /* threads at the same ticks, at most */
#define INLINED	   8  /* functions at one address, at most */

struct making {
	struct writer *writer;
	struct intern threads; /* names; an id is the thread's id */
	uint32_t process;
	uint64_t ticks, samples, native;
	struct {
		uint32_t thread, state, node;
	} seen[TOGETHER]; /* at the ticks to come */
	uint32_t n_seen;
	uint64_t seen_ticks;
};

static char *next_field(char **rest, const char *separators)
{
	char *field = strsep(rest, separators);

	return field ? field : "";
}

static uint32_t find_thread(struct making *m, const char *name)
{
	uint32_t known = m->threads.count;
	uint32_t id = intern_string(&m->threads, name);
	struct thread_info info = {
		.process = m->process,
		.tid = PID + id,
		.name = name,
		.main = !id,
	};

	return id < known ? id : writer_thread(m->writer, &info);
}

struct frame {
	struct function_info function;
	uint32_t line;
	char *address, *build_id;
};

static struct frame parse_frame(char *text)
{
	struct frame f = { 0 };
	uint32_t kind;

	f.function.name = next_field(&text, "\x1f");
	f.function.file = next_field(&text, "\x1f");
	f.function.line =
		(uint32_t)strtoul(next_field(&text, "\x1f"), NULL, 10);
	f.line = (uint32_t)strtoul(next_field(&text, "\x1f"), NULL, 10);
	kind = (uint32_t)strtoul(next_field(&text, "\x1f"), NULL, 10);
	f.function.kind = kind <= FUNCTION_MARK ? kind : FUNCTION_PYTHON;
	f.function.module = next_field(&text, "\x1f");
	f.address = next_field(&text, "\x1f");
	f.build_id = next_field(&text, "\x1f");
	return f;
}

static uint32_t make_site(struct making *m, const struct frame *f)
{
	struct module_info module = { .path = f->function.module,
				      .build_id = f->build_id,
				      .bias = 0x7f0000000000,
				      .start = 0x7f0000000000,
				      .end = 0x7f0000100000 };
	struct site_info site = {
		.module = writer_module(m->writer, &module),
		.address = strtoull(f->address, NULL, 16),
		.kind = f->function.kind,
	};

	return writer_site(m->writer, &site);
}

/* The frame of frames[0], and of those inlined into it. */
static uint32_t make_native_frame(struct making *m, const struct frame *frames,
				  uint32_t n)
{
	uint32_t site = make_site(m, &frames[0]), lines[INLINED];
	struct function_info functions[INLINED];

	for (uint32_t i = 0; i < n; i++) {
		functions[i] = frames[n - 1 - i].function;
		functions[i].module = NULL; /* the site's */
		lines[i] = frames[n - 1 - i].line;
	}
	if (*functions[0].name)
		writer_symbol(m->writer, site, functions, lines, n);
	return writer_site_frame(m->writer, site);
}

/* The next frame, which takes what is inlined into it along. */
static uint32_t make_frame(struct making *m, char **rest)
{
	struct frame frames[INLINED];
	uint32_t n = 0;

	frames[n++] = parse_frame(strsep(rest, "\x1e"));
	if (!*frames[0].address)
		return writer_frame(m->writer,
				    writer_function(m->writer,
						    &frames[0].function),
				    frames[0].line);
	while (*rest && n < INLINED) {
		char *after = strchr(*rest, '\x1e');
		size_t length = after ? (size_t)(after - *rest) : strlen(*rest);

		if (!memmem(*rest, length, "\x1f^", 2))
			break;
		frames[n++] = parse_frame(strsep(rest, "\x1e"));
	}
	return make_native_frame(m, frames, n);
}

static uint32_t make_stack(struct making *m, char *frames)
{
	uint32_t node = ID_NONE;

	while (frames && *frames)
		node = writer_node(m->writer, node, make_frame(m, &frames));
	return node;
}

/* Write the runs that were kept back. */
static void make_ticks(struct making *m)
{
	for (; m->seen_ticks; m->seen_ticks--) {
		writer_tick(m->writer, START + m->ticks++ * PERIOD);
		for (uint32_t i = 0; i < m->n_seen; i++, m->samples++) {
			writer_sample(m->writer, m->seen[i].thread,
				      m->seen[i].node, m->seen[i].state);
			m->native += !!(m->seen[i].state & STATE_NATIVE);
		}
	}
	m->n_seen = 0;
}

static void make_run(struct making *m, char *line)
{
	bool shared = *line == '&' && m->n_seen && m->n_seen < TOGETHER;
	char *name = next_field(&line, "\t");
	uint32_t state = (uint32_t)strtoul(next_field(&line, "\t"), NULL, 10);
	uint64_t ticks = strtoull(next_field(&line, "\t"), NULL, 10);

	if (!shared) {
		make_ticks(m);
		m->seen_ticks = ticks;
	}
	m->seen[m->n_seen].thread = find_thread(m, name + shared);
	m->seen[m->n_seen].state = state;
	m->seen[m->n_seen++].node = make_stack(m, line);
}

static void make_source(struct making *m, char *line)
{
	char *file = next_field(&line, "\t");

	for (char *at = line; at && *at; at++)
		if (*at == '\x1e')
			*at = '\n';
	writer_source(m->writer, file, line, line ? strlen(line) : 0);
}

static void make_marker(struct making *m, char *line)
{
	struct marker_info info = { .thread = 0 };

	info.name = next_field(&line, "\t");
	info.text = next_field(&line, "\t");
	info.start = strtoull(next_field(&line, "\t"), NULL, 10) * PERIOD;
	info.end = strtoull(next_field(&line, "\t"), NULL, 10) * PERIOD;
	writer_marker(m->writer, &info);
}

static int finish(struct making *m, struct error *err)
{
	struct recording_info info;

	make_ticks(m);
	info = (struct recording_info){
		.wall_start = 1760000000000000000ull,
		.period = PERIOD,
		.duration = m->ticks * PERIOD,
		.ticks = m->ticks,
		.samples = m->samples,
		.native = m->native,
		.registers = m->native ? REGISTERS_CLOCK : REGISTERS_NONE,
		.complete = true,
		.version = PYROMETER_VERSION,
		.host = "example",
		.command = "make_stacks",
		.note = "",
	};

	writer_info(m->writer, &info);
	return writer_finish(m->writer, err);
}

int main(int argc, char **argv)
{
	struct writer_options options = { .period = PERIOD, .start = START };
	struct process_info process = {
		.pid = PID,
		.parent = ID_NONE,
		.command = argc > 1 ? argv[1] : "python app.py",
		.exe = "/usr/bin/python3.12",
		.python = "3.12.1",
	};
	struct making m = { .threads = INTERN_INIT };
	struct error err = ERROR_INIT;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t n;
	int status = writer_new(&m.writer, STDOUT_FILENO, &options, &err);

	if (!status)
		m.process = writer_process(m.writer, &process);
	while (!status && (n = getline(&line, &capacity, stdin)) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, MARKER_TAG, strlen(MARKER_TAG)))
			make_marker(&m, line + strlen(MARKER_TAG));
		else if (!strncmp(line, SOURCE_TAG, strlen(SOURCE_TAG)))
			make_source(&m, line + strlen(SOURCE_TAG));
		else
			make_run(&m, line);
	}
	if (!status)
		status = finish(&m, &err);
	if (status < 0)
		fprintf(stderr, "make_stacks: %s\n", err.text);
	writer_free(m.writer);
	intern_release(&m.threads);
	free(line);
	return status < 0;
}
