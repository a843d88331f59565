/* The input is a core file; the files that it names may be this very program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/unwind.h"
#include "sample/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* Sorted, apart, and readable or not. */
static void read_everywhere(const struct corefile *core)
{
	unsigned char bytes[8192];
	uint64_t end = 0;

	for (size_t i = 0; i < core->maps.count; i++) {
		const struct mapping *m = &core->maps.items[i];

		require(m->start < m->end && m->start >= end && m->path);
		end = m->end;
		memory_read(core->memory, m->start, bytes, sizeof(bytes));
		memory_read(core->memory, m->end - 1, bytes, 2);
	}
}

/* Stacks from registers that are anything, in code that is this program's. */
static void walk(const struct corefile *core)
{
	struct native_frame frames[64];
	struct unwinder *u = NULL;
	enum unwind_end why;

	require(!unwinder_new_over(&u, &core->maps, core->memory, core->opener,
				   NULL));
	for (uint32_t i = 0; i < core->n_threads && i < 8; i++) {
		const struct cpu_registers *r = &core->threads[i].registers;
		struct unwind_registers from = { .pc = r->pc,
						 .sp = r->sp,
						 .fp = r->fp,
						 .lr = r->lr,
						 .rbx = r->rbx,
						 .r10 = r->r10 };
		uint32_t n = unwinder_walk(u, &from, NULL, frames, 64, &why);

		require(n >= 1 && n <= 64 && frames[0].pc == r->pc);
	}
	unwinder_free(u);
}

static void take(struct corefile *core)
{
	struct snapshot_options options = { .locals = true, .ends = 10 };
	struct error err = ERROR_INIT;
	struct snapshot *s = NULL;
	int status = snapshot_take_core(&s, core, &options, &err);

	require(status == 0 ? s != NULL : err.text[0] != 0);
	snapshot_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("core", MFD_CLOEXEC);
	struct error err = ERROR_INIT;
	struct corefile *core = NULL;
	char path[64];
	int status;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = corefile_open(&core, path, "", &err);
	require(status == 0 || err.text[0]);
	if (status == 0) {
		require(core->n_threads && core->command && core->exe);
		read_everywhere(core);
		walk(core);
		take(core);
	}
	corefile_free(core);
	close(fd);
	return 0;
}
