/* What the tests of analyze and view share: recordings made in memory.
 *
 * A stack is written
 * "main;parse@/app/b.py;loads@/usr/lib/python3.12/json.py:7": outermost first,
 * the file after @, the line after the last colon. "sum+4096@/app/fast.so" is
 * native code at an address of an object file, from the source fast.c. */
#ifndef PYROMETER_TESTS_ANALYZE_SUPPORT_H
#define PYROMETER_TESTS_ANALYZE_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/profile.h"
#include "base/alloc.h"
#include "record/reader.h"
#include "record/writer.h"
#include "unit.h"

#define FAKE_START  7000000000ull
#define FAKE_PERIOD 1000000ull
#define FAKE_CPU    (STATE_ON_CPU | STATE_GIL)

struct fake {
	struct writer *writer;
	int fd;
	uint64_t ticks, samples;
	struct recording_info info;
	struct reader *reader;
	struct profile *profile;
};

static inline uint64_t fake_random(uint64_t *state)
{
	uint64_t x = (*state += 0x9e3779b97f4a7c15u);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* A number from 0 to 1. */
static inline double fake_uniform(uint64_t *state)
{
	return (double)(fake_random(state) >> 11) / 9007199254740992.0;
}

static inline uint32_t fake_process(struct fake *f, uint32_t pid)
{
	struct process_info info = {
		pid, ID_NONE, 0, "python3 app.py", "/usr/bin/python3", "3.12.1"
	};

	return writer_process(f->writer, &info);
}

static inline struct fake fake_begin(void)
{
	struct writer_options options = { .period = FAKE_PERIOD,
					  .start = FAKE_START };
	struct fake f = { .fd = memfd_create("fake", MFD_CLOEXEC) };

	assert_true(f.fd >= 0);
	assert_int_equal(writer_new(&f.writer, f.fd, &options, NULL), 0);
	fake_process(&f, 100);
	return f;
}

static inline uint32_t fake_thread(struct fake *f, uint32_t process,
				   uint32_t tid, const char *name)
{
	struct thread_info info = { process, tid, 0, name, 0, tid == 100 };

	return writer_thread(f->writer, &info);
}

static inline uint32_t fake_native(struct fake *f, const char *name, char *plus,
				   const char *path, uint32_t line)
{
	struct module_info module = { .path = path, .build_id = "ab" };
	struct site_info site = { writer_module(f->writer, &module),
				  strtoull(plus + 1, NULL, 10),
				  FUNCTION_NATIVE };
	struct function_info info = { .name = name, .line = 1 };
	uint32_t id = writer_site(f->writer, &site);

	*plus = '\0';
	info.file = "/app/fast.c";
	if (*name)
		writer_symbol(f->writer, id, &info, &line, 1);
	return writer_site_frame(f->writer, id);
}

static inline uint32_t fake_frame(struct fake *f, char *text)
{
	char *at = strchr(text, '@'), *colon = strrchr(text, ':');
	char *plus = strchr(text, '+');
	struct function_info info = { text, "/app/a.py", 1, FUNCTION_PYTHON,
				      "" };
	uint32_t line = colon ? (uint32_t)atoi(colon + 1) : 1;

	if (colon)
		*colon = '\0';
	if (at) {
		*at = '\0';
		info.file = at + 1;
	}
	if (plus && at)
		return fake_native(f, text, plus, at + 1, line);
	return writer_frame(f->writer, writer_function(f->writer, &info), line);
}

static inline uint32_t fake_stack(struct fake *f, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *frame;
	uint32_t node = ID_NONE;

	while ((frame = strsep(&rest, ";")))
		node = writer_node(f->writer, node, fake_frame(f, frame));
	free(copy);
	return node;
}

static inline void fake_tick(struct fake *f)
{
	writer_tick(f->writer, FAKE_START + f->ticks++ * FAKE_PERIOD);
}

static inline void fake_see(struct fake *f, uint32_t thread, uint32_t node,
			    uint32_t state)
{
	writer_sample(f->writer, thread, node, state);
	f->samples++;
}

/* n ticks at which one thread is seen in one stack, on a CPU. */
static inline void fake_run(struct fake *f, uint32_t thread, uint32_t node,
			    uint32_t n)
{
	while (n-- > 0) {
		fake_tick(f);
		fake_see(f, thread, node, FAKE_CPU);
	}
}

/* End the recording and open it. */
static inline void fake_open(struct fake *f)
{
	char path[64];

	f->info.period = FAKE_PERIOD;
	f->info.duration = f->ticks * FAKE_PERIOD;
	f->info.ticks = f->ticks;
	f->info.samples = f->samples;
	f->info.complete = true;
	f->info.version = f->info.host = f->info.command = "";
	if (!f->info.note)
		f->info.note = "";
	writer_info(f->writer, &f->info);
	assert_int_equal(writer_finish(f->writer, NULL), 0);
	writer_free(f->writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	assert_int_equal(reader_open(&f->reader, path, NULL), 0);
}

/* Open it if need be, and count what passes the filter (NULL: all). */
static inline struct profile *fake_profile(struct fake *f,
					   const struct profile_filter *filter)
{
	if (!f->reader)
		fake_open(f);
	profile_free(f->profile);
	f->profile = NULL;
	assert_int_equal(profile_new(&f->profile, f->reader, filter, NULL), 0);
	return f->profile;
}

static inline void fake_end(struct fake *f)
{
	profile_free(f->profile);
	reader_free(f->reader);
	close(f->fd);
}

/* The function called `name`, which must be there. */
static inline uint32_t fake_function(const struct fake *f, const char *name)
{
	for (uint32_t i = 0; i < reader_functions(f->reader); i++)
		if (!strcmp(reader_function(f->reader, i)->name, name))
			return i;
	print_error("no function %s\n", name);
	assert_true(false);
	return ID_NONE;
}

#endif
