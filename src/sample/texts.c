#include "sample/texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

#define FILE_MOST (1u << 20)  /* bytes: larger ones were not written by hand */
#define ALL_MOST  (16u << 20) /* bytes */

struct texts {
	struct writer *writer;
	bool (*keeps)(const struct function_info *function);
	pid_t pid;
	size_t left; /* bytes that may still be added */
	struct buffer path, text;
};

static int open_file(struct texts *t, const char *file)
{
	int fd = -1;

	buffer_reset(&t->path);
	buffer_printf(&t->path, "/proc/%d/root%s", (int)t->pid, file);
	if (t->pid)
		fd = open(buffer_text(&t->path),
			  O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 ? fd : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The name in a code object is the target's to choose. Who is root must not be
 * led to copy what only root may read. */
static bool is_public(const struct stat *st)
{
	return st->st_mode & S_IROTH || (geteuid() && st->st_uid == geteuid());
}

static bool read_text(struct texts *t, int fd)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_public(&st) ||
	    st.st_size <= 0 || (size_t)st.st_size > FILE_MOST ||
	    (size_t)st.st_size > t->left)
		return false;
	buffer_reset(&t->text);
	n = read(fd, buffer_reserve(&t->text, (size_t)st.st_size),
		 (size_t)st.st_size);
	t->text.size = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool record_file(void *context, const struct function_info *function)
{
	struct texts *t = context;
	const char *file = function->file;
	int fd;

	if (file[0] != '/' || !t->keeps(function))
		return false;
	fd = open_file(t, file);
	if (fd < 0)
		return true;
	if (read_text(t, fd)) {
		writer_source(t->writer, file, t->text.data, t->text.size);
		t->left -= t->text.size;
	}
	close(fd);
	return true;
}

void texts_record(struct writer *w,
		  bool (*keeps)(const struct function_info *function),
		  pid_t pid)
{
	struct texts t = {
		.writer = w, .keeps = keeps, .pid = pid, .left = ALL_MOST
	};

	writer_each_file(w, record_file, &t);
	buffer_release(&t.path);
	buffer_release(&t.text);
}
