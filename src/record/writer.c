/* The writer is three parts and the order between them: the definer gives ids
 * and collects rows, the samples collect ticks and runs, the output appends
 * blocks. The order is the format's one promise: whatever a block mentions
 * was written before it, so the rows that wait always go out before the
 * samples that may use them. */
#include "record/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/block.h"
#include "record/define.h"
#include "record/info.h"
#include "record/output.h"
#include "record/samples.h"

#define MAX_PENDING (4u << 20)	/* bytes of rows that wait, about */
#define MAX_SOURCE  (16u << 20) /* bytes of a source file worth keeping */

/* The counters of struct recording_info change all the time; writing them once
 * a second would cost as much as the samples of a thread that waits. */
#define INFO_PERIOD (5ull * NS_PER_SECOND)

struct writer {
	struct output output;
	struct definer definer;
	struct samples samples;
	uint64_t start;
	struct recording_info info, written; /* as it is; as the file has it */
	uint64_t info_due;		     /* when to write it again */
	struct thread_counts {
		struct thread_times first, now;
		uint64_t told; /* now.on_cpu when it was written last */
	} * threads;
	uint32_t threads_capacity;
};

int writer_new(struct writer **out, int fd,
	       const struct writer_options *options, struct error *err)
{
	unsigned char header[FILE_HEADER_SIZE];
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc = output_init(&w->output, fd, err);

	if (rc) {
		free(w);
		return rc;
	}
	w->definer = (struct definer)DEFINER_INIT;
	samples_init(&w->samples, options->period);
	w->start = options->start;
	file_header_put(header);
	output_bytes(&w->output, header, sizeof(header));
	*out = w;
	return 0;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	output_release(&w->output);
	definer_release(&w->definer);
	samples_release(&w->samples);
	info_release(&w->info);
	info_release(&w->written);
	free(w->threads);
	free(w);
}

/* A clock reading as time of the recording. */
static uint64_t since_start(const struct writer *w, uint64_t when)
{
	return when > w->start ? when - w->start : 0;
}

/* One block out of whatever `bytes` holds, about now. */
static void write_block(struct writer *w, enum block_kind kind,
			struct buffer *bytes)
{
	uint64_t now = w->samples.last;

	if (bytes->size)
		output_block(&w->output, kind, now, now,
			     &(struct part){ bytes->data, bytes->size }, 1);
	buffer_release(bytes);
}

static void write_definitions(struct writer *w)
{
	struct buffer rows = BUFFER_INIT, markers = BUFFER_INIT;

	definer_flush(&w->definer, &rows);
	write_block(w, BLOCK_DEFINITIONS, &rows);
	definer_flush_markers(&w->definer, &markers);
	write_block(w, BLOCK_MARKERS, &markers);
}

static void write_samples(struct writer *w)
{
	struct samples *s = &w->samples;
	struct part parts[SAMPLE_COLUMNS];

	write_definitions(w);
	if (!s->n_ticks)
		return;
	samples_encode(s);
	for (int i = 0; i < SAMPLE_COLUMNS; i++)
		parts[i] =
			(struct part){ s->column[i].data, s->column[i].size };
	output_block(&w->output, BLOCK_SAMPLES, s->first, s->last, parts,
		     SAMPLE_COLUMNS);
	samples_clear(s);
}

static void write_info(struct writer *w)
{
	struct buffer fields = BUFFER_INIT;

	info_encode(&fields, &w->info, &w->written);
	write_block(w, BLOCK_INFO, &fields);
	info_copy(&w->written, &w->info);
	w->info_due = w->samples.last + INFO_PERIOD;
}

/* Pass an id on, after making sure that not too much waits to be written. */
static uint32_t defined(struct writer *w, uint32_t id)
{
	if (w->definer.pending > MAX_PENDING)
		write_definitions(w);
	return id;
}

uint32_t writer_process(struct writer *w, const struct process_info *info)
{
	return defined(w, define_process(&w->definer, info));
}

uint32_t writer_thread(struct writer *w, const struct thread_info *info)
{
	uint32_t id = w->definer.n_threads;

	samples_thread(&w->samples);
	ALLOC_GROW(w->threads, id + 1, w->threads_capacity);
	w->threads[id] = (struct thread_counts){ 0 };
	return defined(w, define_thread(&w->definer, info));
}

void writer_thread_name(struct writer *w, uint32_t thread, const char *name)
{
	define_thread_name(&w->definer, thread, name);
	defined(w, thread);
}

uint32_t writer_function(struct writer *w, const struct function_info *info)
{
	return defined(w, define_function(&w->definer, info));
}

uint32_t writer_frame(struct writer *w, uint32_t function, uint32_t line)
{
	return defined(w, define_frame(&w->definer, function, line));
}

uint32_t writer_node(struct writer *w, uint32_t parent, uint32_t frame)
{
	return defined(w, define_node(&w->definer, parent, frame));
}

uint32_t writer_module(struct writer *w, const struct module_info *info)
{
	return defined(w, define_module(&w->definer, info));
}

uint32_t writer_site(struct writer *w, const struct site_info *info)
{
	return defined(w, define_site(&w->definer, info));
}

uint32_t writer_site_frame(struct writer *w, uint32_t site)
{
	return defined(w, define_site_frame(&w->definer, site));
}

void writer_symbol(struct writer *w, uint32_t site,
		   const struct function_info *functions, const uint32_t *lines,
		   uint32_t n)
{
	define_symbol(&w->definer, site, functions, lines, n);
	defined(w, site);
}

void writer_each_site(struct writer *w, site_visitor *visit, void *context)
{
	struct definer *d = &w->definer;

	for (uint32_t i = 0; i < d->n_sites; i++) {
		struct site_info info = d->sites[i].info;

		if (!d->sites[i].named)
			visit(context, i, &info,
			      info.module == ID_NONE
				      ? NULL
				      : &d->modules[info.module]);
	}
}

void writer_process_end(struct writer *w, uint32_t process, uint64_t when,
			int status)
{
	define_process_end(&w->definer, process, since_start(w, when), status);
	defined(w, process);
}

void writer_thread_end(struct writer *w, uint32_t thread, uint64_t when)
{
	define_thread_end(&w->definer, thread, since_start(w, when));
	defined(w, thread);
}

void writer_thread_ran(struct writer *w, uint32_t thread, uint64_t ran)
{
	struct thread_counts *t = &w->threads[thread];
	struct thread_times times;

	t->now.ran = ran;
	/* A thread state may have become another thread's, which ran less. */
	if (ran && (!t->first.ran || ran < t->first.ran))
		t->first = t->now;
	if (!ran || t->now.on_cpu == t->told || ran == t->first.ran)
		return;
	times = (struct thread_times){ ran - t->first.ran,
				       t->now.on_cpu - t->first.on_cpu };
	t->told = t->now.on_cpu;
	define_thread_times(&w->definer, thread, &times);
	defined(w, thread);
}

void writer_marker(struct writer *w, const struct marker_info *info)
{
	define_marker(&w->definer, info);
	defined(w, 0);
}

void writer_each_file(struct writer *w,
		      bool (*visit)(void *context,
				    const struct function_info *function),
		      void *context)
{
	bool *done = xcalloc(w->definer.strings.count, sizeof(*done));

	define_each_file(&w->definer, FUNCTION_PYTHON, done, visit, context);
	define_each_file(&w->definer, FUNCTION_NATIVE, done, visit, context);
	free(done);
}

void writer_source(struct writer *w, const char *file, const void *text,
		   size_t size)
{
	struct buffer bytes = BUFFER_INIT;

	if (size > MAX_SOURCE)
		return;
	buffer_add_varint(&bytes, define_string(&w->definer, file));
	buffer_add(&bytes, text, size);
	write_definitions(w);
	write_block(w, BLOCK_SOURCE, &bytes);
}

void writer_tick(struct writer *w, uint64_t when)
{
	when = since_start(w, when);
	if (samples_full(&w->samples, when))
		write_samples(w);
	samples_tick(&w->samples, when);
}

void writer_sample(struct writer *w, uint32_t thread, uint32_t node,
		   uint32_t state)
{
	w->threads[thread].now.on_cpu += state & STATE_ON_CPU ? 1 : 0;
	samples_add(&w->samples, thread, node, state);
}

int writer_failed(const struct writer *w)
{
	return w->output.failure.code != 0;
}

void writer_info(struct writer *w, const struct recording_info *info)
{
	info_copy(&w->info, info);
}

static int result(const struct writer *w, struct error *err)
{
	if (!w->output.failure.code)
		return 0;
	if (err)
		*err = w->output.failure;
	return -w->output.failure.code;
}

int writer_flush(struct writer *w, struct error *err)
{
	write_samples(w);
	if (w->samples.last >= w->info_due)
		write_info(w);
	return result(w, err);
}

int writer_finish(struct writer *w, struct error *err)
{
	write_samples(w);
	w->info.complete = true;
	write_info(w);
	output_end(&w->output);
	return result(w, err);
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->output.bytes;
}
