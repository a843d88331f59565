/* The memory of a live process.
 *
 * process_vm_readv reads many pieces in one system call, without stopping the
 * target. Some sandboxes forbid that call and still allow /proc/PID/mem, which
 * needs one call per piece; the first refusal switches over for good. */
#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/process.h"

struct process_memory {
	struct memory memory;
	pid_t pid;
	int fd; /* /proc/PID/mem once it is needed; -1 before */
	struct iovec local[MEMORY_PIECES_MAX], remote[MEMORY_PIECES_MAX];
};

static int code_of_errno(void)
{
	switch (errno) {
	case EPERM:
	case EACCES:
		return -ERR_PERMISSION;
	case ESRCH:
		return -ERR_GONE;
	default:
		return -ERR_UNREADABLE;
	}
}

static int open_mem_file(struct process_memory *p)
{
	char path[64];

	if (p->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	return p->fd < 0 ? code_of_errno() : 0;
}

/* A process that has ended reads as an empty file, also while its parent has
 * not asked for its exit code. */
static bool has_ended(pid_t pid)
{
	char state = process_state(pid);

	return !state || state == 'Z' || state == 'X';
}

static ssize_t read_mem_file(struct process_memory *p,
			     const struct memory_piece *pieces, size_t n)
{
	ssize_t total = 0;
	int status = open_mem_file(p);

	if (status < 0)
		return status;
	for (size_t i = 0; i < n; i++) {
		ssize_t got = pread(p->fd, pieces[i].into, pieces[i].size,
				    (off_t)pieces[i].address);

		if (got > 0)
			total += got;
		if (got != (ssize_t)pieces[i].size)
			break;
	}
	if (!total)
		return has_ended(p->pid) ? -ERR_GONE : -ERR_UNREADABLE;
	return total;
}

static ssize_t read_process(struct memory *m, const struct memory_piece *pieces,
			    size_t n)
{
	struct process_memory *p = (struct process_memory *)m;
	ssize_t got;

	if (n > MEMORY_PIECES_MAX)
		n = MEMORY_PIECES_MAX;
	if (p->fd >= 0)
		return read_mem_file(p, pieces, n);
	for (size_t i = 0; i < n; i++) {
		p->local[i].iov_base = pieces[i].into;
		p->remote[i].iov_base = (void *)(uintptr_t)pieces[i].address;
		p->local[i].iov_len = p->remote[i].iov_len = pieces[i].size;
	}
	got = process_vm_readv(p->pid, p->local, n, p->remote, n, 0);
	if (got >= 0)
		return got;
	if (errno == ENOSYS || errno == EPERM)
		return read_mem_file(p, pieces, n);
	return code_of_errno();
}

static void free_process(struct memory *m)
{
	struct process_memory *p = (struct process_memory *)m;

	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

static const struct memory_ops process_ops = {
	.read = read_process,
	.free = free_process,
};

int memory_open_process(struct memory **out, pid_t pid, struct error *err)
{
	struct process_memory *p;

	if (pid <= 0)
		return fail(err, ERR_NO_PROCESS, "%d is no process id",
			    (int)pid);
	p = xcalloc(1, sizeof(*p));
	p->memory.ops = &process_ops;
	p->pid = pid;
	p->fd = -1;
	*out = &p->memory;
	return 0;
}

void memory_free(struct memory *m)
{
	if (m && m->ops->free)
		m->ops->free(m);
}

int memory_read(struct memory *m, uint64_t address, void *into, size_t size)
{
	struct memory_piece piece = { address, into, size };
	ssize_t got = memory_readv(m, &piece, 1);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -ERR_UNREADABLE;
}

int memory_read_u64(struct memory *m, uint64_t address, uint64_t *value)
{
	return memory_read(m, address, value, sizeof(*value));
}

int memory_read_u32(struct memory *m, uint64_t address, uint32_t *value)
{
	return memory_read(m, address, value, sizeof(*value));
}

/* In small aligned blocks, so that a string at the end of a mapping can be
 * read. */
int memory_read_string(struct memory *m, uint64_t address, char *into,
		       size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t n = 256 - ((address + done) & 255);
		int status;

		if (n > size - done)
			n = size - done;
		status = memory_read(m, address + done, into + done, n);
		if (status < 0)
			return status;
		if (memchr(into + done, 0, n))
			return 0;
		done += n;
	}
	return -ERR_LIMIT;
}
