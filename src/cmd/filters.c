#include "cmd/filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

#define PIDS_NAMED 8 /* how many PIDs a message lists */

const char *const filter_modes[] = { "wall", "cpu", "gil", NULL };

_Static_assert(MODE_WALL == 0 && MODE_CPU == 1 && MODE_GIL == 2,
	       "filter_modes follows enum profile_mode");

static bool parse_pid(const char *text, uint32_t *pid)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v > UINT32_MAX)
		return false;
	*pid = (uint32_t)v;
	return true;
}

static bool has_pid(const struct reader *reader, uint32_t pid)
{
	for (uint32_t i = 0; i < reader_processes(reader); i++)
		if (reader_process(reader, i)->pid == pid)
			return true;
	return false;
}

static int fail_unknown_pid(const struct reader *reader, uint32_t pid,
			    struct error *err)
{
	struct buffer known = BUFFER_INIT;
	uint32_t n = reader_processes(reader);
	int status;

	for (uint32_t i = 0; i < n && i < PIDS_NAMED; i++)
		buffer_printf(&known, "%s%u", i ? ", " : "",
			      reader_process(reader, i)->pid);
	status = fail(err, ERR_USAGE,
		      "no process %u in this recording; it has %s%s", pid,
		      n ? buffer_text(&known) : "none",
		      n > PIDS_NAMED ? ", ..." : "");
	buffer_release(&known);
	return status;
}

static int resolve_pids(struct filter_options *o, const struct reader *reader,
			struct error *err)
{
	free(o->pids);
	o->pids = xcalloc(o->processes.count + 1, sizeof(*o->pids));
	for (size_t i = 0; i < o->processes.count; i++) {
		const char *text = o->processes.items[i];

		if (!parse_pid(text, &o->pids[i]))
			return fail(err, ERR_USAGE,
				    "--pid takes a process number, not '%s'",
				    text);
		if (!has_pid(reader, o->pids[i]))
			return fail_unknown_pid(reader, o->pids[i], err);
	}
	return 0;
}

static uint64_t nanoseconds(double seconds)
{
	double ns = seconds * NS_PER_SECOND;

	return ns < 1e19 ? (uint64_t)ns : UINT64_MAX;
}

int filter_resolve(struct filter_options *o, const struct reader *reader,
		   struct profile_filter *out, struct error *err)
{
	int status = resolve_pids(o, reader, err);

	if (status < 0)
		return status;
	if (o->to > 0 && o->to <= o->from)
		return fail(err, ERR_USAGE,
			    "--to (%g s) must be later than --from (%g s)",
			    o->to, o->from);
	*out = (struct profile_filter){
		.mode = (enum profile_mode)o->mode,
		.threads = o->threads.items,
		.n_threads = o->threads.count,
		.functions = o->functions.items,
		.n_functions = o->functions.count,
		.files = o->files.items,
		.n_files = o->files.count,
		.pids = o->pids,
		.n_pids = o->processes.count,
		.from = nanoseconds(o->from),
		.to = nanoseconds(o->to),
	};
	return 0;
}

void filter_release(struct filter_options *o)
{
	free(o->threads.items);
	free(o->functions.items);
	free(o->files.items);
	free(o->processes.items);
	free(o->pids);
	memset(o, 0, sizeof(*o));
}
