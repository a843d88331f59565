/* make_sites LIBRARY COUNT RECORDING: a recording that broke off before names
 * were looked up, with COUNT samples spread over the functions of a library. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/symbols.h"
#include "record/writer.h"

#define PERIOD 1000000u

struct functions {
	uint64_t *addresses, *sizes;
	size_t count, capacity, sizes_capacity;
};

static bool take(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct functions *f = context;

	(void)name;
	ALLOC_GROW(f->addresses, f->count + 1, f->capacity);
	ALLOC_GROW(f->sizes, f->count + 1, f->sizes_capacity);
	f->addresses[f->count] = address;
	f->sizes[f->count++] = size;
	return true;
}

static void add_sample(struct writer *w, uint32_t module,
		       const struct functions *f, uint64_t n)
{
	size_t i = n % f->count;
	struct site_info info = { module,
				  f->addresses[i] + n / f->count % f->sizes[i],
				  FUNCTION_NATIVE };
	uint32_t frame = writer_site_frame(w, writer_site(w, &info));

	writer_tick(w, n * PERIOD);
	writer_sample(w, 0, writer_node(w, ID_NONE, frame),
		      STATE_NATIVE | STATE_ON_CPU);
}

static int record(int fd, const char *path, struct symbols *s, uint64_t count)
{
	struct writer_options options = { .period = PERIOD };
	struct process_info process = { 1, ID_NONE, 0, "made", path, "3.12" };
	struct thread_info thread = { 0, 1, 0, "MainThread", 0, true };
	struct module_info module = { path, symbols_build_id(s), 0, 0, 0 };
	struct functions f = { 0 };
	struct writer *w;
	uint32_t id;

	symbols_range(s, "", take, &f);
	if (!f.count || writer_new(&w, fd, &options, NULL))
		return 1;
	writer_process(w, &process);
	writer_thread(w, &thread);
	id = writer_module(w, &module);
	for (uint64_t n = 0; n < count; n++)
		add_sample(w, id, &f, n);
	free(f.addresses);
	free(f.sizes);
	id = (uint32_t)writer_flush(w, NULL);
	writer_free(w);
	return id != 0;
}

int main(int argc, char **argv)
{
	struct symbols *s;
	int fd, status;

	if (argc != 4) {
		fprintf(stderr, "usage: make_sites LIBRARY COUNT RECORDING\n");
		return 2;
	}
	fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || symbols_open(&s, NULL, argv[1], NULL, NULL))
		return 1;
	status = record(fd, argv[1], s, strtoull(argv[2], NULL, 10));
	symbols_free(s);
	close(fd);
	return status;
}
