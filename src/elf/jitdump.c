#include "elf/jitdump.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/rooted.h"

#define MAGIC	    0x4a695444u /* "JiTD" */
#define HEADER_MAX  4096
#define RECORDS_MAX 5000000 /* of one file */
#define NAME_MAX_   4096    /* bytes of a name that are read */

enum { CODE_LOAD, CODE_MOVE };

struct file_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time, flags;
};

struct record_header {
	uint32_t kind, size; /* of the whole record */
	uint64_t time;
};

/* The name follows a load, ended by NUL, then the code. */
struct code_load {
	uint32_t pid, tid;
	uint64_t address_in_file, address, size, index;
};

struct code_move {
	uint32_t pid, tid;
	uint64_t address_in_file, old, address, size, index;
};

static bool read_at(const struct jitdump *j, uint64_t at, void *into,
		    size_t size)
{
	return pread(j->fd, into, size, (off_t)at) == (ssize_t)size;
}

static void take_load(struct jitdump *j, uint64_t at, uint64_t size)
{
	struct code_load load;
	char name[NAME_MAX_];
	ssize_t n;

	if (size <= sizeof(load) || !read_at(j, at, &load, sizeof(load)))
		return;
	size -= sizeof(load);
	n = pread(j->fd, name, size < sizeof(name) ? size : sizeof(name),
		  (off_t)(at + sizeof(load)));
	if (n > 0)
		code_names_add(&j->names, load.address, load.size, name,
			       strnlen(name, (size_t)n));
}

/* Code that has moved keeps its name. */
static void take_move(struct jitdump *j, uint64_t at, uint64_t size)
{
	struct code_move move;
	const struct code_piece *piece;
	const char *name;

	if (size < sizeof(move) || !read_at(j, at, &move, sizeof(move)))
		return;
	piece = code_names_find(&j->names, move.old);
	if (!piece)
		return;
	name = code_names_text(&j->names, piece->name);
	code_names_add(&j->names, move.address, move.size, name, strlen(name));
}

void jitdump_update(struct jitdump *j)
{
	struct record_header h;
	struct stat st;

	if (j->fd < 0 || !j->read || fstat(j->fd, &st))
		return;
	for (uint32_t n = 0; n < RECORDS_MAX; n++) {
		uint64_t content = j->read + sizeof(h);

		if (!read_at(j, j->read, &h, sizeof(h)) || h.size < sizeof(h) ||
		    h.size > (uint64_t)st.st_size - j->read)
			return;
		if (h.kind == CODE_LOAD)
			take_load(j, content, h.size - sizeof(h));
		else if (h.kind == CODE_MOVE)
			take_move(j, content, h.size - sizeof(h));
		j->read += h.size;
	}
}

bool jitdump_open_fd(struct jitdump *j, int fd)
{
	struct file_header h;

	*j = (struct jitdump){ .names = CODE_NAMES_INIT, .fd = fd };
	if (fd < 0 || !read_at(j, 0, &h, sizeof(h)) || h.magic != MAGIC ||
	    h.size < sizeof(h) || h.size > HEADER_MAX) {
		jitdump_release(j);
		return false;
	}
	j->read = h.size;
	jitdump_update(j);
	return true;
}

bool jitdump_open(struct jitdump *j, const char *root, const char *path,
		  uid_t owner)
{
	int folder = rooted_begin(root), fd = -1;
	struct stat st;

	if (folder >= 0) {
		fd = rooted_open(folder, path);
		close(folder);
	}
	if (fd >= 0 && (fstat(fd, &st) || (st.st_uid != owner && st.st_uid &&
					   st.st_uid != geteuid()))) {
		close(fd);
		fd = -1;
	}
	return jitdump_open_fd(j, fd);
}

void jitdump_release(struct jitdump *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
	code_names_release(&j->names);
}
