#include "os/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

#define MAPPINGS_MAX 1000000

bool maps_parse_line(char *line, struct mapping *out)
{
	char permissions[5] = "";
	unsigned major, minor;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64
		   " %n",
		   &out->start, &out->end, permissions, &out->offset, &major,
		   &minor, &out->inode, &at) < 7 ||
	    out->end <= out->start)
		return false;
	out->device = (uint64_t)major << 32 | minor;
	out->readable = permissions[0] == 'r';
	out->executable = permissions[2] == 'x';
	out->path = line + at;
	return true;
}

int maps_read(struct maps *m, pid_t pid, struct error *err)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file && errno == EACCES)
		return fail(err, ERR_PERMISSION,
			    "no permission to look into process %d; "
			    "'pyrometer doctor %d' tells what to do",
			    (int)pid, (int)pid);
	if (!file && (errno == ENOENT || errno == ESRCH))
		return fail(err, ERR_NO_PROCESS, "no process %d", (int)pid);
	if (!file)
		return fail(err, ERR_IO, "cannot read %s: %s", path,
			    strerror(errno));
	m->count = 0;
	while (m->count < MAPPINGS_MAX && getline(&line, &size, file) > 0) {
		struct mapping *new;

		ALLOC_GROW(m->items, m->count + 1, m->capacity);
		new = &m->items[m->count];
		if (!maps_parse_line(line, new))
			continue;
		new->path =
			*new->path ? arena_strdup(&m->arena, new->path) : "";
		m->count++;
	}
	free(line);
	fclose(file);
	return 0;
}

uint64_t maps_fingerprint(pid_t pid)
{
	struct maps m = MAPS_INIT;
	uint64_t sum = 0;

	if (maps_read(&m, pid, NULL) < 0)
		return 0;
	for (size_t i = 0; i < m.count; i++)
		if (m.items[i].inode)
			sum += map_hash(m.items[i].inode, m.items[i].start);
	maps_release(&m);
	return sum;
}

void maps_release(struct maps *m)
{
	free(m->items);
	arena_release(&m->arena);
	memset(m, 0, sizeof(*m));
}
