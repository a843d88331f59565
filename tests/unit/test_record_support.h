/* What the tests of the recording share: a small recording in memory. */
#ifndef PYROMETER_TESTS_RECORD_SUPPORT_H
#define PYROMETER_TESTS_RECORD_SUPPORT_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "record/format.h"
#include "record/reader.h"
#include "record/writer.h"
#include "unit.h"

#define START  5000000000ull
#define PERIOD 1000000ull

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = (*state += 0x9e3779b97f4a7c15u);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(random_next(state) % n);
}

static inline int memory_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* All the bytes of a file, to be released by the caller. */
static inline struct buffer file_bytes(int fd)
{
	struct buffer b = BUFFER_INIT;
	off_t size = lseek(fd, 0, SEEK_END);

	assert_true(size >= 0);
	buffer_reserve(&b, (size_t)size + 1);
	assert_int_equal(pread(fd, b.data, (size_t)size, 0), size);
	b.size = (size_t)size;
	return b;
}

static inline struct writer *new_writer(int fd)
{
	struct writer_options options = { .period = PERIOD, .start = START };
	struct writer *w = NULL;

	assert_int_equal(writer_new(&w, fd, &options, NULL), 0);
	return w;
}

static inline void define_process_and_thread(struct writer *w)
{
	struct process_info process = {
		42, ID_NONE, 0, "p", "/usr/bin/python3", "3.12.1"
	};
	struct thread_info thread = { 0, 43, 1000, "MainThread", 0, true };

	assert_int_equal(writer_process(w, &process), 0);
	assert_int_equal(writer_thread(w, &thread), 0);
}

static inline uint32_t define_stack(struct writer *w, uint32_t parent,
				    const char *name, uint32_t line)
{
	struct function_info f = { name, "/a.py", 1, FUNCTION_PYTHON, "" };

	return writer_node(w, parent,
			   writer_frame(w, writer_function(w, &f), line));
}

#define SMALL_TICKS 60 /* of the small recording, in three blocks */

/* What thread 0 does at each of its ticks. */
static inline uint32_t small_node(uint32_t tick)
{
	return tick / 4 % 3;
}

/* A recording with something of everything, finished. */
static inline struct buffer small_recording(void)
{
	int fd = memory_file();
	struct writer *w = new_writer(fd);
	struct marker_info marker = { 10, 20, 0, "mark", "text" };
	struct recording_info info = { .period = PERIOD,
				       .samples = SMALL_TICKS,
				       .version = "1",
				       .host = "h" };
	uint32_t node = ID_NONE;
	struct buffer bytes;

	define_process_and_thread(w);
	writer_info(w, &info);
	for (uint32_t i = 0; i < SMALL_TICKS; i++) {
		writer_tick(w, START + i * PERIOD);
		if (i % 4 == 0 && i < 12)
			node = define_stack(w, node, "function", i + 1);
		writer_sample(w, 0, small_node(i), STATE_GIL);
		if (i % 20 == 19)
			assert_int_equal(writer_flush(w, NULL), 0);
		if (i == 30)
			writer_marker(w, &marker);
	}
	writer_source(w, "/a.py", "x = 1\n", 6);
	writer_thread_name(w, 0, "renamed");
	writer_thread_end(w, 0, START + 77);
	writer_process_end(w, 0, START + 78, 9);
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	bytes = file_bytes(fd);
	close(fd);
	return bytes;
}

static inline void check_sound_stacks(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_functions(r); i++) {
		assert_true(reader_function(r, i)->kind <= FUNCTION_MARK);
		assert_non_null(reader_function(r, i)->name);
	}
	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info frame = reader_frame(r, i);

		assert_true(frame.function < reader_functions(r));
		assert_true(frame.site == ID_NONE ||
			    frame.site < reader_sites(r));
	}
	for (uint32_t i = 0; i < reader_sites(r); i++) {
		struct site_info site = reader_site(r, i);

		assert_true(site.module == ID_NONE ||
			    site.module < reader_modules(r));
	}
	for (uint32_t i = 0; i < reader_nodes(r); i++) {
		struct node_info node = reader_node(r, i);

		assert_true(node.frame < reader_frames(r));
		assert_true(node.parent == ID_NONE || node.parent < i);
	}
}

static inline void check_sound_threads(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_processes(r); i++) {
		uint32_t parent = reader_process(r, i)->parent;

		assert_true(parent == ID_NONE || parent < i);
		assert_non_null(reader_process(r, i)->command);
	}
	for (uint32_t i = 0; i < reader_threads(r); i++) {
		assert_true(reader_thread(r, i)->process < reader_processes(r));
		assert_non_null(reader_thread(r, i)->name);
	}
	for (uint32_t i = 0; i < reader_markers(r); i++) {
		const struct marker_info *m = reader_marker(r, i);

		assert_true(m->start <= m->end);
		assert_true(m->thread == ID_NONE ||
			    m->thread < reader_threads(r));
	}
}

static inline void check_sound_run(const struct reader *r,
				   const struct sample_block *b, uint32_t i)
{
	const struct run *run = &b->runs[i];

	assert_true(run->thread < reader_threads(r));
	assert_true(run->node == ID_NONE || run->node < reader_nodes(r));
	assert_true(run->ticks >= 1 && run->first_tick < b->n_ticks &&
		    run->ticks <= b->n_ticks - run->first_tick);
	assert_true(!i || b->runs[i - 1].first_tick <= run->first_tick);
}

/* Ask the reader for everything and check that each id it hands out is in
 * range and each run within its block; returns how many samples there are. */
static inline uint64_t check_sound(struct reader *r)
{
	uint64_t samples = 0, before = 0;

	check_sound_threads(r);
	check_sound_stacks(r);
	for (size_t i = 0; i < reader_blocks(r); i++) {
		struct sample_block b;

		assert_int_equal(reader_block(r, i, &b, NULL), 0);
		for (uint32_t k = 0; k < b.n_ticks; k++) {
			assert_true(b.ticks[k] >= before);
			before = b.ticks[k];
		}
		for (uint32_t k = 0; k < b.n_runs; k++) {
			check_sound_run(r, &b, k);
			samples += b.runs[k].ticks;
		}
	}
	return samples;
}

#endif
