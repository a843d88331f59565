#include "os/visit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/cores.h"
#include "os/visit_program.h"

struct visitor {
	struct visit_layout layout;
	int map_fd, program_fd;
	size_t size;
	struct visit_record *record;
};

static int refuse(struct visitor *v, const char *what, struct error *err)
{
	int why = errno;

	visitor_free(v);
	return visit_refuse(what, why, err);
}

int visitor_new(struct visitor **out, const struct visit_shape *shape,
		struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct visit_question nobody = { 0 };
	struct visit_layout layout;
	struct visitor *v;
	int status = visit_layout_make(&layout, shape, err);
	void *memory;

	if (status < 0)
		return status;
	v = xcalloc(1, sizeof(*v));
	v->layout = layout;
	v->size = (layout.record_max + page - 1) / page * page;
	v->program_fd = -1;
	v->map_fd = visit_map(v->size, 1);
	if (v->map_fd < 0)
		return refuse(v, "no BPF map", err);
	memory = mmap(NULL, v->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      v->map_fd, 0);
	if (memory == MAP_FAILED)
		return refuse(v, "no BPF map in memory", err);
	v->record = memory;
	v->program_fd = visit_program(&layout, v->map_fd);
	if (v->program_fd < 0)
		return refuse(v, "no BPF program", err);
	if (visit_run(v->program_fd, &nobody, sched_core()) < 0)
		return refuse(v, "no BPF program on a core", err);
	*out = v;
	return 0;
}

void visitor_free(struct visitor *v)
{
	if (!v)
		return;
	if (v->record)
		munmap(v->record, v->size);
	if (v->program_fd >= 0)
		close(v->program_fd);
	if (v->map_fd >= 0)
		close(v->map_fd);
	free(v);
}

enum visit_result visitor_visit(struct visitor *v, struct visit *visit)
{
	struct visit_question q = {
		.device = visit->namespace_device,
		.inode = visit->namespace_inode,
		.thread = { .pid = (uint32_t)visit->tid,
			    .tgid = (uint32_t)visit->pid },
		.head = visit->head,
		.stack_top = visit->stack_top,
	};

	memcpy(q.fields, visit->fields, sizeof(q.fields));
	if (visit_run(v->program_fd, &q, visit->core) < 0) {
		visit->n_items = visit->stack_size = 0;
		return VISIT_AWAY;
	}
	return visit_unpack(&v->layout, v->record, visit);
}

const unsigned char *visit_item(const struct visit *visit, uint32_t i,
				uint64_t *address)
{
	const unsigned char *item = visit->items + (size_t)i * visit->stride;

	memcpy(address, item, sizeof(*address));
	return item + sizeof(*address);
}

bool visit_namespace(pid_t pid, uint64_t *device, uint64_t *inode)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &st) < 0)
		return false;
	/* As the kernel has it, not as it tells us. */
	*device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	*inode = st.st_ino;
	return true;
}
