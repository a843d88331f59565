/* Opening by path: the only part of the reader that talks to the system.
 *
 * A regular file is read piece by piece with pread rather than mapped: a file
 * that shrinks while we read it is then a damaged recording and not a SIGBUS,
 * and a recording of any size takes no more of our memory than one block. What
 * cannot be read at an offset (a pipe, a terminal) is read to its end first. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "record/format.h"
#include "record/reader_private.h"

struct file {
	int fd;
	struct buffer bytes; /* of a pipe */
};

static void close_file(void *context)
{
	struct file *f = context;

	if (f->fd >= 0)
		close(f->fd);
	buffer_release(&f->bytes);
	free(f);
}

static bool read_file(void *context, uint64_t offset, void *out, size_t n)
{
	struct file *f = context;
	unsigned char *p = out;

	while (n) {
		ssize_t got = pread(f->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

/* Something without an end, perhaps: what is there tells already. */
static bool is_foreign(const struct file *f)
{
	return f->bytes.size >= FILE_HEADER_SIZE &&
	       file_header_check(f->bytes.data, f->bytes.size, "", NULL) < 0;
}

static int read_to_end(struct file *f, const char *name, struct error *err)
{
	for (;;) {
		unsigned char *p = buffer_reserve(&f->bytes, 65536);
		ssize_t got = read(f->fd, p, 65536);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(err, ERR_IO, "cannot read %s: %s", name,
				    strerror(errno));
		f->bytes.size += (size_t)got;
		if (!got || is_foreign(f))
			return 0;
	}
}

static int fill_source(struct source *source, struct file *f, const char *name,
		       struct error *err)
{
	struct stat st;
	int rc;

	if (fstat(f->fd, &st))
		return fail(err, ERR_IO, "cannot read %s: %s", name,
			    strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail(err, ERR_IO, "%s is a directory, not a recording",
			    name);
	if (S_ISREG(st.st_mode) && !lseek(f->fd, 0, SEEK_CUR)) {
		source->size = (uint64_t)st.st_size;
		source->read = read_file;
		return 0;
	}
	rc = read_to_end(f, name, err);
	buffer_reserve(&f->bytes, 1); /* so that data is never NULL */
	source->data = f->bytes.data;
	source->size = f->bytes.size;
	return rc;
}

static int open_fd(const char *path, int *fd, struct error *err)
{
	bool standard_input = !strcmp(path, "-");

	*fd = standard_input ? dup(STDIN_FILENO)
			     : open(path, O_RDONLY | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	return fail(err,
		    errno == ENOENT   ? ERR_NOT_FOUND
		    : errno == EACCES ? ERR_PERMISSION
				      : ERR_IO,
		    "cannot open %s: %s",
		    standard_input ? "standard input" : path, strerror(errno));
}

int reader_open(struct reader **out, const char *path, struct error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct file *f = xcalloc(1, sizeof(*f));
	struct source source = { .close = close_file, .context = f };
	int rc = open_fd(path, &f->fd, err);

	if (!rc)
		rc = fill_source(&source, f, name, err);
	if (!rc)
		return reader_open_source(out, &source, name, err);
	close_file(f);
	return rc;
}
