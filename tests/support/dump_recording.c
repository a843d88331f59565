/* Print all that the reader gives for a recording, one thing per line, as
 * read_recording.py prints it. */
#include <inttypes.h>
#include <stdio.h>

#include "record/reader.h"

static void print_info(const struct recording_info *i)
{
	printf("info %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %d %s|%s|%s|%s %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n",
	       i->wall_start, i->period, i->duration, i->ticks, i->missed,
	       i->samples, i->torn, i->unproven, i->unreadable, i->lost,
	       i->retried, i->ridden, i->recorder_cpu, i->filter, i->complete,
	       i->version, i->host, i->command, i->note, i->native, i->broken,
	       i->unmerged, i->registers, i->visited, i->clocked);
}

static void print_processes(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_processes(r); i++) {
		const struct process_info *p = reader_process(r, i);
		int status;
		uint64_t end = reader_process_end(r, i, &status);

		printf("process %u %d %" PRIu64 " %" PRId64 " %d %s|%s|%s\n",
		       p->pid, (int)p->parent, p->start, (int64_t)end, status,
		       p->command, p->exe, p->python);
	}
}

static void print_threads(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_threads(r); i++) {
		const struct thread_info *t = reader_thread(r, i);
		struct thread_times times = reader_thread_times(r, i);

		printf("thread %u %u %" PRIu64 " %" PRId64 " %u %d %s|%" PRIu64
		       " %" PRIu64 "\n",
		       t->process, t->tid, t->start,
		       (int64_t)reader_thread_end(r, i), t->interpreter,
		       t->main, t->name, times.ran, times.on_cpu);
	}
}

static void print_stacks(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_functions(r); i++) {
		const struct function_info *f = reader_function(r, i);

		printf("function %s|%s|%s %u %d\n", f->name, f->file, f->module,
		       f->line, f->kind);
	}
	for (uint32_t i = 0; i < reader_frames(r); i++)
		printf("frame %u %u %d\n", reader_frame(r, i).function,
		       reader_frame(r, i).line, (int)reader_frame(r, i).site);
	for (uint32_t i = 0; i < reader_nodes(r); i++)
		printf("node %d %u\n", (int)reader_node(r, i).parent,
		       reader_node(r, i).frame);
}

static void print_sites(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_modules(r); i++) {
		const struct module_info *m = reader_module(r, i);

		printf("module %s|%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       m->path, m->build_id, m->bias, m->start, m->end);
	}
	for (uint32_t i = 0; i < reader_sites(r); i++) {
		struct site_info s = reader_site(r, i);

		printf("site %d %" PRIu64 " %d %u\n", (int)s.module, s.address,
		       s.kind, reader_site_depth(r, i));
	}
}

static void print_markers(const struct reader *r)
{
	for (uint32_t i = 0; i < reader_markers(r); i++) {
		const struct marker_info *m = reader_marker(r, i);

		printf("marker %" PRIu64 " %" PRIu64 " %d %s|%s\n", m->start,
		       m->end, (int)m->thread, m->name, m->text);
	}
}

static void print_block(const struct sample_block *b)
{
	printf("block %u %u\n", b->n_ticks, b->n_runs);
	for (uint32_t i = 0; i < b->n_ticks; i++)
		printf("tick %" PRIu64 "\n", b->ticks[i]);
	for (uint32_t i = 0; i < b->n_runs; i++)
		printf("run %u %u %u %d %u\n", b->runs[i].first_tick,
		       b->runs[i].thread, b->runs[i].ticks,
		       (int)b->runs[i].node, b->runs[i].state);
}

static int print_blocks(struct reader *r, struct error *err)
{
	for (size_t i = 0; i < reader_blocks(r); i++) {
		struct sample_block block;
		int rc = reader_block(r, i, &block, err);

		if (rc)
			return rc;
		print_block(&block);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct reader *r = NULL;
	int rc = argc == 2 ? reader_open(&r, argv[1], &err)
			   : fail(&err, ERR_USAGE, "give one file");

	if (!rc) {
		print_info(reader_info(r));
		print_processes(r);
		print_threads(r);
		print_stacks(r);
		print_sites(r);
		print_markers(r);
		rc = print_blocks(r, &err);
	}
	if (rc)
		fprintf(stderr, "dump_recording: %s\n", err.text);
	else if (reader_notice(r))
		fprintf(stderr, "dump_recording: %s\n", reader_notice(r));
	reader_free(r);
	return error_exit_status(rc);
}
