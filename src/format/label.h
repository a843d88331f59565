/* How the things of a recording are called in other tools' files. */
#ifndef PYROMETER_FORMAT_LABEL_H
#define PYROMETER_FORMAT_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/buffer.h"
#include "record/model.h"

/* The frame that stands for samples without any Python stack. */
#define LABEL_NO_STACK "<no Python stack>"

/* What a thread was doing, as one of a few words. */
enum label_state {
	LABEL_IDLE,	/* waiting for something else than the GIL */
	LABEL_GIL_WAIT, /* waiting for the GIL */
	LABEL_GC,	/* collecting garbage */
	LABEL_PYTHON,	/* on a CPU with the GIL */
	LABEL_NATIVE,	/* on a CPU without the GIL */
	LABEL_STATES,
};

enum label_state label_state(uint32_t state);
const char *label_state_name(enum label_state state);

/* Append "function (file:line)" as py-spy writes it: line 0 is left out, the
 * file is short, see origin_base() for `base`. Of native code without a file it
 * is "function (library)". */
void label_add_frame(struct buffer *out, const struct function_info *function,
		     uint32_t line, size_t base);

/* What a thread is called, with something for a name that is not known. */
const char *label_thread(const struct thread_info *thread);

/* Append s with the characters in `bad` and all control characters replaced by
 * `instead`, and bad UTF-8 by U+FFFD. */
void label_add_clean(struct buffer *out, const char *s, const char *bad,
		     char instead);

/* The first process's command line, "" when there is none. */
const char *label_program(const struct profile *p);

/* Append that command line for people: the program and a script without their
 * folders, "python3 app.py -v". */
void label_add_title(struct buffer *out, const struct profile *p);

/* Thread ids that are unique within each pid, by thread: the kernel's, unless
 * it is unknown or was used before. free() it. */
uint32_t *label_unique_tids(const struct profile *p);

/* Whether a marker passes the filter as samples do: it touches the window, and
 * its thread (if it has one) has samples. */
bool label_has_marker(const struct profile *p, const struct marker_info *m);

/* ns that one sample stands for, at least 1. */
uint64_t label_sample_ns(const struct profile *p);

#endif
