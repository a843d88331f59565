/* The input is what is wrong with a Python that was right: interpreters with
 * threads with frames, laid out as the version has them, of which some words
 * are changed. It is watched as a process would be, look after look, and moves
 * in between, so that nothing is where it was predicted.
 *
 * Byte 0 chooses the version, byte 1 what is known of the target and whether it
 * is watched as fast as can be, byte 2 how far it moves. The last bytes are
 * changes, eleven each; a Python of 3.13 or later may also describe itself, in
 * the bytes from the third on. It has no process: the kernel knows nothing of
 * its threads. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "liar.h"
#include "python/layouts/layouts.h"
#include "record/writer.h"
#include "sample/naming.h"
#include "sample/sampler.h"

#define READS_MAX 100000 /* of one look */
#define LOOKS	  5
#define MS	  1000000u
#define US	  1000u

/* The image: addresses are offsets in it, as the liar wraps them around. */
#define IMAGE	     (24u << 10)
#define INTERPRETERS 2
#define THREADS	     3 /* of each */
#define FRAMES	     6 /* of each thread */
#define HEAD	     8
#define CODE_TYPE    32
#define FIRST	     0x100
#define THREAD_ROOM  0x300
#define CHUNK_ROOM   0x800
#define FRAME_ROOM   0x80
#define CODE_ROOM    0x100

#define CHANGES_MAX 16
#define CHANGE_SIZE 11

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct layout *const layouts[] = {
	&layout_2_7,  &layout_3_6,   &layout_3_7,  &layout_3_8,	  &layout_3_9,
	&layout_3_10, &layout_3_11,  &layout_3_12, &layout_3_13,  &layout_3_13t,
	&layout_3_14, &layout_3_14t, &layout_3_15, &layout_3_15t,
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static void put(uint8_t *image, uint64_t address, uint64_t word)
{
	uint64_t at = address % IMAGE;

	if (at <= IMAGE - sizeof(word))
		memcpy(image + at, &word, sizeof(word));
}

static void put_field(uint8_t *image, uint64_t base, uint32_t field,
		      uint64_t word)
{
	if (field != LAYOUT_NONE && field != LAYOUT_RUNTIME_NONE)
		put(image, base + field, word);
}

static uint64_t thread_at(uint32_t n)
{
	return FIRST + (uint64_t)n * THREAD_ROOM;
}

static uint64_t chunk_at(uint32_t n)
{
	return thread_at(INTERPRETERS * THREADS) + (uint64_t)n * CHUNK_ROOM;
}

/* Not where threads and frames are, wherever its long structure wraps to. */
static uint64_t interpreter_at(const struct layout *l, uint32_t n)
{
	uint64_t room = chunk_at(INTERPRETERS * THREADS) + 0x200;

	return room + n * 0x200 + IMAGE * 8ull - l->interpreter.threads_head;
}

static uint64_t code_at(uint32_t n)
{
	return IMAGE - (n % 2 + 1) * CODE_ROOM;
}

/* A chunk with the frames of a thread; returns its leaf. */
static uint64_t build_frames(uint8_t *image, const struct layout *l, uint32_t n)
{
	uint64_t chunk = chunk_at(n), frame = 0;

	put(image, chunk + 8, CHUNK_ROOM);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint64_t next = chunk + 24 + i * FRAME_ROOM;

		put_field(image, next, l->frame.previous, frame);
		put_field(image, next, l->frame.code, code_at(i));
		put_field(image, next, l->frame.instruction,
			  l->frames == FRAME_OBJECTS
				  ? i
				  : code_at(i) + l->code.code + 2 * i);
		frame = next;
	}
	return frame;
}

static void build_thread(uint8_t *image, const struct layout *l, uint32_t n)
{
	uint64_t thread = thread_at(n), leaf = build_frames(image, l, n);

	if (l->frames == FRAME_CFRAME) {
		put_field(image, chunk_at(n) + CHUNK_ROOM - 64,
			  l->cframe.current_frame, leaf);
		leaf = chunk_at(n) + CHUNK_ROOM - 64;
	}
	put_field(image, thread, l->thread.interpreter,
		  interpreter_at(l, n / THREADS));
	put_field(image, thread, l->thread.frame, leaf);
	put_field(image, thread, l->thread.datastack_chunk, chunk_at(n));
	put_field(image, thread, l->thread.thread_id, thread);
	put_field(image, thread, l->thread.id, n);
	if ((n + 1) % THREADS)
		put_field(image, thread, l->thread.next, thread_at(n + 1));
	if (n % THREADS)
		put_field(image, thread, l->thread.previous, thread_at(n - 1));
}

static void build(uint8_t *image, const struct layout *l)
{
	memset(image, 0, IMAGE);
	put(image, HEAD, interpreter_at(l, 0));
	for (uint32_t i = 0; i < INTERPRETERS; i++) {
		uint64_t here = interpreter_at(l, i);

		put_field(image, here, l->interpreter.threads_head,
			  thread_at(i * THREADS));
		put_field(image, here, l->interpreter.next,
			  i + 1 < INTERPRETERS ? interpreter_at(l, i + 1) : 0);
	}
	for (uint32_t n = 0; n < INTERPRETERS * THREADS; n++)
		build_thread(image, l, n);
	for (uint32_t n = 0; n < 2; n++)
		put_field(image, code_at(n), l->object.type, CODE_TYPE);
}

/* A change: what kind, where, and a word; or what stands elsewhere. */
static void change(uint8_t *image, const uint8_t bytes[CHANGE_SIZE])
{
	uint16_t where;
	uint64_t word, there;

	memcpy(&where, bytes + 1, sizeof(where));
	memcpy(&word, bytes + 3, sizeof(word));
	if (bytes[0] % 4 == 0)
		word %= IMAGE;
	if (bytes[0] % 4 == 1) {
		there = word % (IMAGE - 8);
		memcpy(&word, image + there, sizeof(word));
	}
	put(image, bytes[0] & 4 ? where : where & ~7u, word);
}

static void apply_changes(uint8_t *image, const uint8_t *data, size_t size)
{
	for (int n = 0; n < CHANGES_MAX && size >= CHANGE_SIZE; n++) {
		size -= CHANGE_SIZE;
		change(image, data + size);
	}
}

/* What python_open() would have found. */
static void find_python(struct python *p, struct liar *l, uint8_t how)
{
	p->memory = &l->memory;
	p->runtime = how & 1 ? 64 : 0;
	p->interpreters = HEAD;
	p->current = how & 2 ? 16 : 0;
	p->gil_start = how & 4 ? 24 : 0;
	p->gil_end = how & 4 ? 280 : 0;
	p->code_type = how & 8 ? CODE_TYPE : 0;
	p->has_rseq = (how & 16) != 0;
	p->pthread_tid = how & 32 ? 720 : LAYOUT_NONE;
}

/* Of an image that nothing was changed in, everything must be seen. */
static bool is_whole(const struct target *t)
{
	bool whole = t->n_threads == INTERPRETERS * THREADS;

	for (uint32_t i = 0; i < t->n_threads; i++)
		whole &= t->threads[i]->good &&
			 t->threads[i]->stack.n_frames == FRAMES;
	return whole;
}

static void check_thread(const struct target *t,
			 const struct target_thread *thread)
{
	char name[THREAD_NAME_SIZE];

	require(thread->interpreter < t->n_interpreters);
	require(thread->stack.n_frames <= STACK_DEPTH_MAX);
	naming_best(t, thread, name);
	require(strnlen(name, sizeof(name)) < sizeof(name));
}

static void write_threads(struct target *t, struct writer *w, uint32_t thread)
{
	for (uint32_t i = 0; i < t->n_threads; i++) {
		struct target_thread *x = t->threads[i];
		uint32_t node;

		if (!x->good)
			continue;
		check_thread(t, x);
		node = node_of_stack(
			&t->table, &x->path, &x->stack,
			t->interpreters[x->interpreter].code_generation);
		writer_sample(w, thread, node, x->state);
	}
}

/* The other looks that the same read brought. */
static void write_burst(struct target *t, struct sampler *s, struct writer *w,
			uint32_t thread)
{
	uint64_t when;

	while (sampler_next(s, t, &when)) {
		writer_tick(w, when);
		write_threads(t, w, thread);
	}
}

/* During the first two looks it stands still. */
static void watch(struct target *t, struct liar *l, struct writer *w,
		  const uint8_t choice[3], bool unchanged)
{
	uint64_t step = choice[1] & 128 ? US : MS;
	struct sampler s;
	uint32_t thread;

	sampler_init(&s, choice[1] & 64 ? RIDE_ALWAYS : RIDE_NEVER, MS);
	s.bursts = step == US;
	target_record(t, w, ID_NONE, 0);
	thread = writer_thread(w, &(struct thread_info){ .process = t->record,
							 .name = "liar" });
	for (uint64_t i = 0, now = MS; i < LOOKS; i++, now += step) {
		l->reads = 0;
		if (i > 1)
			l->shift += choice[2];
		if (sampler_take(&s, t, now) < 0)
			continue;
		require(!unchanged || l->shift || is_whole(t));
		naming_update(t, now, true);
		writer_tick(w, now);
		write_threads(t, w, thread);
		write_burst(t, &s, w, thread);
	}
	rider_leave(&s.rider);
}

static void watch_image(const uint8_t *image, const struct layout *layout,
			const uint8_t choice[3], bool unchanged)
{
	struct writer_options options = { .period = MS };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct python python = { 0 };
	struct target *target;
	struct writer *writer;
	struct error err;
	struct liar liar;

	liar_init(&liar, image, IMAGE, READS_MAX);
	find_python(&python, &liar, choice[1]);
	python.layout = *layout;
	require(writer_new(&writer, fd, &options, &err) == 0);
	target_new_over(&target, &liar.memory, &python);
	watch(target, &liar, writer, choice, unchanged);
	target_free(target);
	require(writer_finish(writer, &err) == 0);
	writer_free(writer);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[IMAGE];
	const struct layout *layout;
	struct layout told;
	struct liar liar;

	if (size < 4)
		return 0;
	layout = layouts[data[0] % N_LAYOUTS];
	liar_init(&liar, data + 3, size - 3, READS_MAX);
	if (!layout_from_debug_offsets(&told, &liar.memory, 0, NULL))
		layout = &told;
	build(image, layout);
	apply_changes(image, data + 3, size - 3);
	watch_image(image, layout, data, size - 3 < CHANGE_SIZE);
	return 0;
}
