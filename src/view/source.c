#include "view/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* A recording may name anything: only ordinary files of a sane size are read,
 * and opening must not wait on a pipe. */
static int open_ordinary(const char *file, struct stat *st)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size >= 0 &&
	    st->st_size <= SOURCE_SIZE_MAX)
		return fd;
	close(fd);
	return -1;
}

static size_t read_all(int fd, char *into, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = read(fd, into + done, size - done)) > 0)
		done += (size_t)n;
	return done;
}

static void open_disk(struct source *s, const struct reader *reader,
		      const char *file)
{
	uint64_t start = reader_info(reader)->wall_start / NS_PER_SECOND;
	struct stat st;
	int fd = file[0] == '/' ? open_ordinary(file, &st) : -1;

	if (fd < 0)
		return;
	s->owned = xmalloc((size_t)st.st_size + 1);
	s->size = read_all(fd, s->owned, (size_t)st.st_size);
	s->text = s->owned;
	s->origin = start && (uint64_t)st.st_mtime > start ? SOURCE_CHANGED
							   : SOURCE_DISK;
	close(fd);
}

void source_open(struct source *s, const struct reader *reader,
		 const char *file)
{
	*s = (struct source){ .line = 1 };
	s->text = reader_source(reader, file, &s->size);
	if (s->text)
		s->origin = SOURCE_RECORDED;
	else
		open_disk(s, reader, file);
}

void source_release(struct source *s)
{
	free(s->owned);
}

static bool next_line(struct source *s)
{
	const char *end = memchr(s->text + s->at, '\n', s->size - s->at);

	if (!end)
		return false;
	s->at = (size_t)(end + 1 - s->text);
	s->line++;
	return s->at < s->size;
}

const char *source_line(struct source *s, uint32_t line, size_t *n)
{
	const char *start, *end;

	if (!s->text || !line || s->at >= s->size)
		return NULL;
	if (line < s->line) {
		s->at = 0;
		s->line = 1;
	}
	while (s->line < line)
		if (!next_line(s))
			return NULL;
	start = s->text + s->at;
	end = memchr(start, '\n', s->size - s->at);
	*n = end ? (size_t)(end - start) : s->size - s->at;
	if (*n && start[*n - 1] == '\r')
		--*n;
	return start;
}
