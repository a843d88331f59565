#include "cmd/pids.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

int pids_parse_one(const char *text, pid_t *pid, struct error *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value <= 0 || value > INT32_MAX)
		return fail(err, ERR_USAGE, "'%s' is no process id", text);
	*pid = (pid_t)value;
	return 0;
}

int pids_parse(const struct command *self, int n, char **words, pid_t **out,
	       struct error *err)
{
	int status = 0;

	if (!n)
		return fail(err, ERR_USAGE,
			    "which process? usage: pyrometer %s", self->usage);
	*out = xcalloc((size_t)n, sizeof(**out));
	for (int i = 0; i < n && status == 0; i++)
		status = pids_parse_one(words[i], &(*out)[i], err);
	return status;
}
