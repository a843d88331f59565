#include "elf/perfmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/rooted.h"

#define CHUNK	 (1u << 20)   /* bytes read at once */
#define FILE_MAX (1ull << 30) /* bytes taken of one file */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hexadecimal number with a blank behind it, perhaps with 0x in front. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
	const char *s = *at, *first;

	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	first = s;
	for (*value = 0; s < end && digit(*s) >= 0; s++) {
		if (*value >> 60)
			return false;
		*value = *value << 4 | (uint64_t)digit(*s);
	}
	if (s == first || s == end || (*s != ' ' && *s != '\t'))
		return false;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	*at = s;
	return true;
}

static void parse_line(struct code_names *names, const char *at,
		       const char *end)
{
	uint64_t start, size;

	if (!take_number(&at, end, &start) || !take_number(&at, end, &size))
		return;
	while (end > at && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	code_names_add(names, start, size, at, (size_t)(end - at));
}

size_t perfmap_parse(struct code_names *names, const char *bytes, size_t size)
{
	const char *at = bytes, *end = bytes + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		parse_line(names, at, newline);
		at = newline + 1;
	}
	return (size_t)(at - bytes);
}

static bool belongs(int fd, uid_t owner)
{
	struct stat st;

	return !fstat(fd, &st) &&
	       (st.st_uid == owner || st.st_uid == 0 || st.st_uid == geteuid());
}

bool perfmap_open(struct perfmap *m, const char *root, pid_t inner, uid_t owner)
{
	char path[64];
	int folder = rooted_begin(root), fd = -1;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner);
	if (folder >= 0) {
		fd = rooted_open(folder, path);
		close(folder);
	}
	if (fd >= 0 && !belongs(fd, owner)) {
		close(fd);
		fd = -1;
	}
	perfmap_open_fd(m, fd);
	return fd >= 0;
}

void perfmap_open_fd(struct perfmap *m, int fd)
{
	*m = (struct perfmap){ CODE_NAMES_INIT, fd, 0 };
	perfmap_update(m);
}

void perfmap_release(struct perfmap *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	code_names_release(&m->names);
}

/* A line longer than what is read at once is passed over. */
void perfmap_update(struct perfmap *m)
{
	char *bytes = m->fd >= 0 ? xmalloc(CHUNK) : NULL;
	ssize_t n;

	while (bytes && m->read < FILE_MAX &&
	       (n = pread(m->fd, bytes, CHUNK, (off_t)m->read)) > 0) {
		size_t taken = perfmap_parse(&m->names, bytes, (size_t)n);

		if (!taken && n < (ssize_t)CHUNK)
			break;
		m->read += taken ? taken : (size_t)n;
	}
	free(bytes);
}
