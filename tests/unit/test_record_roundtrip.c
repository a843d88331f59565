/* Random recordings, written and read back, against what was meant. */
#include "test_record_support.h"

#define N_PROCESSES 3
#define N_THREADS   7
#define N_FUNCTIONS 40
#define N_NODES	    300

struct seen {
	uint32_t tick, thread, node, state;
};

struct model {
	uint64_t random, now;
	uint64_t *ticks; /* ns since the start, as given */
	uint32_t n_ticks, ticks_capacity;
	struct seen *seen;
	uint32_t n_seen, seen_capacity;
	struct node_info nodes[N_NODES];
	uint32_t n_nodes;
	uint32_t frame_function[N_FUNCTIONS * 4], frame_line[N_FUNCTIONS * 4];
	uint32_t n_frames;
};

static char *function_name(uint32_t i)
{
	return xasprintf("Class%u.method_\xc3\xa9%u", i % 5, i / 2);
}

static void define_functions(struct writer *w)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		char *name = function_name(i);
		struct function_info f = { name, i % 3 ? "/a.py" : "", i * 7,
					   i % 4, i % 4 ? "/lib/x.so" : "" };

		assert_int_equal(writer_function(w, &f), i);
		assert_int_equal(writer_function(w, &f), i);
		free(name);
	}
}

static uint32_t model_frame(struct model *m, struct writer *w)
{
	uint32_t function = random_below(&m->random, N_FUNCTIONS);
	uint32_t line = random_below(&m->random, 4) * 100;
	uint32_t id = writer_frame(w, function, line);

	assert_true(id <= m->n_frames);
	if (id == m->n_frames) {
		m->frame_function[id] = function;
		m->frame_line[id] = line;
		m->n_frames++;
	}
	assert_int_equal(m->frame_function[id], function);
	assert_int_equal(m->frame_line[id], line);
	return id;
}

static uint32_t model_node(struct model *m, struct writer *w)
{
	uint32_t parent = ID_NONE, frame, id;

	if (m->n_nodes == N_NODES || random_below(&m->random, 3))
		return random_below(&m->random, 20) && m->n_nodes
			       ? random_below(&m->random, m->n_nodes)
			       : ID_NONE;
	if (m->n_nodes && random_below(&m->random, 8))
		parent = random_below(&m->random, m->n_nodes);
	frame = model_frame(m, w);
	id = writer_node(w, parent, frame);
	assert_true(id <= m->n_nodes);
	if (id == m->n_nodes) {
		m->nodes[m->n_nodes++] = (struct node_info){ parent, frame };
	}
	assert_int_equal(m->nodes[id].parent, parent);
	assert_int_equal(m->nodes[id].frame, frame);
	return id;
}

static void model_sample(struct model *m, struct writer *w, uint32_t thread,
			 uint32_t node, uint32_t state)
{
	ALLOC_GROW(m->seen, m->n_seen + 1, m->seen_capacity);
	m->seen[m->n_seen++] =
		(struct seen){ m->n_ticks - 1, thread, node, state };
	writer_sample(w, thread, node, state);
}

static void model_tick(struct model *m, struct writer *w)
{
	/* Mostly even steps, some none at all, a few of minutes and of days. */
	uint32_t kind = random_below(&m->random, 1000);

	if (kind == 0)
		m->now += 86400ull * 1000000000 * 200;
	else if (kind < 5)
		m->now += 60000000000ull;
	else if (kind < 900)
		m->now += PERIOD + random_below(&m->random, 100000);
	ALLOC_GROW(m->ticks, m->n_ticks + 1, m->ticks_capacity);
	m->ticks[m->n_ticks++] = m->now - START;
	writer_tick(w, m->now);
}

static void write_model(struct model *m, struct writer *w, uint32_t n)
{
	uint32_t node[N_THREADS], state[N_THREADS] = { 0 };

	memset(node, 0xff, sizeof(node));
	m->now = START;
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		struct process_info p = { 10 + i,   i ? i - 1 : ID_NONE,
					  i * 5,    "run me",
					  "/bin/x", "3.8.1" };

		assert_int_equal(writer_process(w, &p), i);
	}
	define_functions(w);
	for (uint32_t i = 0; i < N_THREADS; i++) {
		struct thread_info t = { i % N_PROCESSES, 100 + i, i,
					 "name",	  i,	   i == 0 };

		assert_int_equal(writer_thread(w, &t), i);
	}
	for (uint32_t i = 0; i < n; i++) {
		model_tick(m, w);
		for (uint32_t t = 0; t < N_THREADS; t++) {
			if (random_below(&m->random, 10) == 0)
				continue; /* not looked at */
			if (random_below(&m->random, 4) == 0)
				node[t] = model_node(m, w);
			if (random_below(&m->random, 9) == 0)
				state[t] = random_below(&m->random, 65536);
			model_sample(m, w, t, node[t], state[t]);
		}
		if (random_below(&m->random, 100) == 0)
			assert_int_equal(writer_flush(w, NULL), 0);
	}
	assert_int_equal(writer_finish(w, NULL), 0);
}

static void check_definitions(const struct model *m, const struct reader *r)
{
	assert_int_equal(reader_processes(r), N_PROCESSES);
	assert_int_equal(reader_threads(r), N_THREADS);
	assert_int_equal(reader_functions(r), N_FUNCTIONS);
	assert_int_equal(reader_frames(r), m->n_frames);
	assert_int_equal(reader_nodes(r), m->n_nodes);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		const struct function_info *f = reader_function(r, i);
		char *name = function_name(i);

		assert_string_equal(f->name, name);
		assert_string_equal(f->file, i % 3 ? "/a.py" : "");
		assert_string_equal(f->module, i % 4 ? "/lib/x.so" : "");
		assert_int_equal(f->line, i * 7);
		assert_int_equal(f->kind, i % 4);
		free(name);
	}
	for (uint32_t i = 0; i < m->n_frames; i++) {
		assert_int_equal(reader_frame(r, i).function,
				 m->frame_function[i]);
		assert_int_equal(reader_frame(r, i).line, m->frame_line[i]);
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		assert_int_equal(reader_node(r, i).parent, m->nodes[i].parent);
		assert_int_equal(reader_node(r, i).frame, m->nodes[i].frame);
	}
	for (uint32_t i = 0; i < N_THREADS; i++) {
		const struct thread_info *t = reader_thread(r, i);

		assert_int_equal(t->process, i % N_PROCESSES);
		assert_int_equal(t->tid, 100 + i);
		assert_int_equal(t->start, i);
		assert_int_equal(t->interpreter, i);
		assert_int_equal(t->main, i == 0);
	}
}

/* Where in `m->seen` each (tick, thread) is; filled once. */
static void check_samples(const struct model *m, struct reader *r)
{
	uint32_t *where =
		xcalloc((size_t)m->n_ticks * N_THREADS, sizeof(*where));
	uint32_t base = 0, n = 0;

	for (uint32_t i = 0; i < m->n_seen; i++)
		where[m->seen[i].tick * N_THREADS + m->seen[i].thread] = i + 1;
	for (size_t i = 0; i < reader_blocks(r); i++) {
		struct sample_block b;

		assert_int_equal(reader_block(r, i, &b, NULL), 0);
		for (uint32_t k = 0; k < b.n_ticks; k++)
			assert_int_equal(b.ticks[k],
					 m->ticks[base + k] & ~65535ull);
		for (uint32_t k = 0; k < b.n_runs; k++)
			for (uint32_t j = 0; j < b.runs[k].ticks; j++) {
				const struct run *run = &b.runs[k];
				uint32_t tick = base + run->first_tick + j;
				uint32_t at =
					where[tick * N_THREADS + run->thread];

				assert_true(at);
				assert_int_equal(m->seen[at - 1].node,
						 run->node);
				assert_int_equal(m->seen[at - 1].state,
						 run->state);
				n++;
			}
		base += b.n_ticks;
	}
	assert_int_equal(base, m->n_ticks);
	assert_int_equal(n, m->n_seen);
	free(where);
}

static void check_model(const struct model *m, const void *data, size_t size,
			bool whole)
{
	struct reader *r = NULL;

	assert_int_equal(reader_open_memory(&r, data, size, NULL), 0);
	assert_int_equal(reader_info(r)->complete, whole);
	assert_int_equal(reader_notice(r) == NULL, whole);
	check_definitions(m, r);
	check_samples(m, r);
	reader_free(r);
}

static void test_random_models(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct model *m = xcalloc(1, sizeof(*m));
		int fd = memory_file();
		struct writer *w = new_writer(fd);
		struct buffer bytes;

		m->random = seed;
		write_model(m, w, 100 + (uint32_t)seed * 100);
		assert_int_equal(writer_bytes(w), lseek(fd, 0, SEEK_END));
		writer_free(w);
		bytes = file_bytes(fd);
		check_model(m, bytes.data, bytes.size, true);
		/* Without its end there is no index: the same by hopping. */
		check_model(m, bytes.data,
			    bytes.size - BLOCK_HEADER_SIZE - END_SIZE, false);
		buffer_release(&bytes);
		close(fd);
		free(m->ticks);
		free(m->seen);
		free(m);
	}
}

/* Blocks close by themselves when they are full, whoever forgets to flush. */
static void test_blocks_close_when_full(void **state)
{
	int fd = memory_file();
	struct writer *w = new_writer(fd);
	struct reader *r = NULL;
	struct buffer bytes;
	uint32_t a, b;

	define_process_and_thread(w);
	a = define_stack(w, ID_NONE, "a", 1);
	b = define_stack(w, a, "b", 1);
	for (uint32_t i = 0; i < 150000; i++) {
		writer_tick(w, START + i * PERIOD);
		writer_sample(w, 0, i % 2 ? a : b, 0);
		writer_sample(w, 0, b, 7); /* a second look counts nothing */
	}
	assert_true(writer_bytes(w) > 1000);
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	bytes = file_bytes(fd);
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_int_equal(reader_blocks(r), 3);
	assert_int_equal(check_sound(r), 150000);
	reader_free(r);
	buffer_release(&bytes);
	close(fd);
}

static void test_everything_else_comes_back(void **state)
{
	struct buffer bytes = small_recording();
	struct reader *r = NULL;
	int status = 0;
	size_t size = 0;

	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_null(reader_notice(r));
	assert_int_equal(check_sound(r), SMALL_TICKS);
	assert_int_equal(reader_info(r)->samples, SMALL_TICKS);
	assert_int_equal(reader_info(r)->period, PERIOD);
	assert_string_equal(reader_info(r)->version, "1");
	assert_string_equal(reader_info(r)->note, "");
	assert_int_equal(reader_markers(r), 1);
	assert_int_equal(reader_marker(r, 0)->start, 10);
	assert_int_equal(reader_marker(r, 0)->end, 20);
	assert_string_equal(reader_marker(r, 0)->text, "text");
	assert_int_equal(reader_process_end(r, 0, &status), 78);
	assert_int_equal(status, 9);
	assert_int_equal(reader_thread_end(r, 0), 77);
	assert_string_equal(reader_source(r, "/a.py", &size), "x = 1\n");
	assert_int_equal(size, 6);
	assert_null(reader_source(r, "/b.py", &size));
	reader_free(r);
	buffer_release(&bytes);
}

static void test_thread_times_come_back(void **state)
{
	int fd = memory_file();
	struct writer *w = new_writer(fd);
	struct reader *r = NULL;
	struct thread_times times;
	struct buffer bytes;

	define_process_and_thread(w);
	writer_thread_ran(w, 0, 0); /* not known yet */
	for (uint64_t i = 0; i < 10; i++) {
		if (i == 2 || i == 7)
			writer_thread_ran(w, 0, 500 + 100 * i);
		writer_tick(w, START + i * PERIOD);
		writer_sample(w, 0, ID_NONE, i % 2 ? STATE_ON_CPU : 0);
	}
	writer_thread_ran(w, 0, 0); /* it is gone */
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	bytes = file_bytes(fd);
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	times = reader_thread_times(r, 0);
	assert_int_equal(times.ran, 500);
	assert_int_equal(times.on_cpu, 2); /* at 3 and 5 */
	reader_free(r);
	buffer_release(&bytes);
	close(fd);
}

static void test_late_names_and_open_ends(void **state)
{
	int fd = memory_file();
	struct writer *w = new_writer(fd);
	struct reader *r = NULL;
	struct buffer bytes;
	int status = 0;

	define_process_and_thread(w);
	assert_int_equal(writer_flush(w, NULL), 0);
	writer_thread_name(w, 0, "late");
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	bytes = file_bytes(fd);
	assert_int_equal(reader_open_memory(&r, bytes.data, bytes.size, NULL),
			 0);
	assert_string_equal(reader_thread(r, 0)->name, "late");
	assert_true(reader_thread_end(r, 0) == UINT64_MAX);
	assert_true(reader_process_end(r, 0, &status) == UINT64_MAX);
	assert_int_equal(status, -1);
	assert_int_equal(reader_blocks(r), 0);
	reader_free(r);
	buffer_release(&bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_models),
		cmocka_unit_test(test_blocks_close_when_full),
		cmocka_unit_test(test_everything_else_comes_back),
		cmocka_unit_test(test_thread_times_come_back),
		cmocka_unit_test(test_late_names_and_open_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
