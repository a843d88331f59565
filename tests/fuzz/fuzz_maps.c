/* The input is /proc/PID/maps, line by line. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "os/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* A path is inside its line. */
static void parse(char *line, size_t size)
{
	struct mapping m;

	if (!maps_parse_line(line, &m))
		return;
	require(m.start < m.end);
	require(m.path > line && m.path <= line + size);
	require(strlen(m.path) <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		size_t n =
			newline ? (size_t)(newline - data) - at + 1 : size - at;
		char *line = xmalloc(n + 1);

		memcpy(line, data + at, n);
		line[n] = 0;
		parse(line, n);
		free(line);
		at += n;
	}
	return 0;
}
