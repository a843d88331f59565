#include "format/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/unicode.h"

#define TID_MAX (1u << 22) /* the kernel gives smaller ones */

enum label_state label_state(uint32_t state)
{
	if (state & STATE_GC)
		return LABEL_GC;
	if (state & STATE_GIL_WAIT)
		return LABEL_GIL_WAIT;
	if (!(state & STATE_ON_CPU))
		return LABEL_IDLE;
	return state & STATE_GIL ? LABEL_PYTHON : LABEL_NATIVE;
}

const char *label_state_name(enum label_state state)
{
	static const char *const names[LABEL_STATES] = {
		[LABEL_IDLE] = "idle",
		[LABEL_GIL_WAIT] = "waiting for the GIL",
		[LABEL_GC] = "collecting garbage",
		[LABEL_PYTHON] = "running Python",
		[LABEL_NATIVE] = "running without the GIL",
	};

	return names[state];
}

void label_add_frame(struct buffer *out, const struct function_info *function,
		     uint32_t line, size_t base)
{
	bool known = *function->file;

	buffer_add_string(out, function->name);
	if (!known && !*function->module)
		return;
	buffer_printf(out, " (%s",
		      known ? origin_short_file(function, base)
			    : origin_short_module(function->module));
	if (line && known)
		buffer_printf(out, ":%u", line);
	buffer_add_byte(out, ')');
}

const char *label_thread(const struct thread_info *thread)
{
	if (*thread->name)
		return thread->name;
	return thread->main ? "MainThread" : "thread";
}

void label_add_clean(struct buffer *out, const char *s, const char *bad,
		     char instead)
{
	size_t n = strlen(s), size;
	uint32_t c;

	for (; n; s += size, n -= size) {
		size = unicode_decode(s, n, &c);
		if (c == UNICODE_BAD)
			buffer_add_string(out, UNICODE_BAD_UTF8);
		else if (c < 0x20 || c == 0x7f ||
			 (c < 0x80 && strchr(bad, (int)c)))
			buffer_add_byte(out, (unsigned char)instead);
		else
			buffer_add(out, s, size);
	}
}

const char *label_program(const struct profile *p)
{
	return reader_processes(p->reader)
		       ? reader_process(p->reader, 0)->command
		       : "";
}

static bool is_program(const char *word, size_t n, bool first)
{
	return first || (n > 3 && !memcmp(word + n - 3, ".py", 3));
}

void label_add_title(struct buffer *out, const struct profile *p)
{
	const char *command = label_program(p), *word = command;

	while (*word) {
		size_t n = strcspn(word, " ");
		const char *slash = memrchr(word, '/', n);

		if (slash && is_program(word, n, word == command)) {
			n -= (size_t)(slash + 1 - word);
			word = slash + 1;
		}
		buffer_add(out, word, n);
		word += n;
		if (*word == ' ')
			buffer_add_byte(out, (unsigned char)*word++);
	}
}

uint32_t *label_unique_tids(const struct profile *p)
{
	uint32_t n = reader_threads(p->reader);
	uint32_t *tids = xcalloc((size_t)n + 1, sizeof(*tids));
	struct map seen = MAP_INIT;

	for (uint32_t i = 0; i < n; i++) {
		const struct thread_info *t = reader_thread(p->reader, i);
		uint32_t pid = reader_process(p->reader, t->process)->pid;
		uint32_t tid = t->tid;

		if (!tid || map_get(&seen, pid, tid) != MAP_NONE)
			tid = TID_MAX + i;
		map_put(&seen, pid, tid, i);
		tids[i] = tid;
	}
	map_release(&seen);
	return tids;
}

bool label_has_marker(const struct profile *p, const struct marker_info *m)
{
	if (m->end < p->filter.from ||
	    (p->filter.to && m->start >= p->filter.to))
		return false;
	return m->thread == ID_NONE || p->threads[m->thread].samples;
}

uint64_t label_sample_ns(const struct profile *p)
{
	double ns = p->seconds_per_sample * NS_PER_SECOND;

	return ns >= 1 && ns < 1e18 ? (uint64_t)llround(ns) : 1;
}
