/* The input is a request of the viewer. Whatever it is, the answer is one JSON
 * object without a control character in it, and the next request is answered
 * as if nothing had been. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/engine.h"
#include "base/alloc.h"
#include "record/writer.h"

#define LONGEST 4096 /* bytes of a request */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static uint32_t make_stack(struct writer *w, uint32_t parent, const char *name,
			   const char *file)
{
	struct function_info f = { name, file, 1, FUNCTION_PYTHON, "" };

	return writer_node(w, parent,
			   writer_frame(w, writer_function(w, &f), 7));
}

static void make_samples(struct writer *w)
{
	struct process_info process = { 1, ID_NONE, 0, "python", "", "3.12" };
	struct thread_info thread = { 0, 1, 0, "Main", 0, true };
	uint32_t node = make_stack(w, ID_NONE, "main", "/app/a.py");

	writer_process(w, &process);
	writer_thread(w, &thread);
	thread.tid = 2;
	writer_thread(w, &thread);
	node = make_stack(w, node, "loads", "/usr/lib/python3.12/json/x.py");
	writer_source(w, "/app/a.py", "x = 1\n", 6);
	for (uint64_t i = 0; i < 40; i++) {
		writer_tick(w, i * 1000000);
		writer_sample(w, 0, i % 3 ? node : ID_NONE, (uint32_t)i % 16);
		writer_sample(w, 1, 0, STATE_GIL_WAIT);
	}
}

static struct reader *make_reader(void)
{
	struct writer_options options = { .period = 1000000 };
	struct recording_info info = { .period = 1000000,
				       .duration = 40000000,
				       .ticks = 40,
				       .samples = 80,
				       .version = "",
				       .host = "",
				       .command = "",
				       .note = "" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct reader *reader;
	struct writer *w;
	char path[64];

	require(!writer_new(&w, fd, &options, NULL));
	make_samples(w);
	writer_info(w, &info);
	require(!writer_finish(w, NULL));
	writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	require(!reader_open(&reader, path, NULL));
	close(fd);
	return reader;
}

static void check(const struct buffer *answer)
{
	require(answer->size >= 2 && answer->data[0] == '{' &&
		answer->data[answer->size - 1] == '}');
	for (size_t i = 0; i < answer->size; i++)
		require(answer->data[i] >= 0x20);
}

/* One engine for all inputs: what it remembers is part of what is tried. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct engine *engine;
	struct buffer answer = BUFFER_INIT;
	char request[LONGEST + 1];

	if (!engine) {
		engine = engine_new(50);
		require(!engine_add(engine, make_reader(), "a", NULL));
		require(!engine_add(engine, make_reader(), "b", NULL));
	}
	size = size < LONGEST ? size : LONGEST;
	memcpy(request, data, size);
	request[size] = '\0';
	engine_answer(engine, request, &answer);
	check(&answer);
	buffer_reset(&answer);
	engine_answer(engine, "view=flame&exact=1", &answer);
	require(strstr((char *)answer.data, "\"samples\":80,") != NULL);
	buffer_release(&answer);
	return 0;
}
