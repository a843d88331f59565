/* The processes that are watched or may be: a tree of relatives. */
#ifndef PYROMETER_SAMPLE_FAMILY_H
#define PYROMETER_SAMPLE_FAMILY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relative {
	pid_t pid, parent_pid; /* the latter as it was found; 0: by none */
	uint64_t start_time;   /* with the pid it names a process for good */
	uint64_t image;	       /* changes when it execs */
	bool is_python;	       /* is a target now */
	uint32_t parent; /* recording's id of the nearest watched ancestor when
			  * it was found */
	uint32_t record; /* recording's id, ID_NONE before */
	uint64_t due, pause; /* when to try again, and how long after that */
	uint64_t files;	   /* fingerprint of its mapped files at the last try */
	uint64_t patience; /* when to try again all the same */
};

struct family {
	struct relative *members;
	uint32_t count, capacity;
};

struct relative *family_find(struct family *f, pid_t pid);
struct relative *family_add(struct family *f, pid_t pid, uint32_t parent);
void family_forget(struct family *f, pid_t pid);
/* The recording's id of the nearest ancestor that is in it by now, ID_NONE when
 * there is none. */
uint32_t family_parent(struct family *f, const struct relative *x);
/* Drop the dead, add new children: of everybody, or only of those that are no
 * Python themselves. */
void family_grow(struct family *f, bool everybody);
/* Whether it is time to try this one again; sets the next time. */
bool family_due(struct relative *x, uint64_t now);
/* Whether it has exec'ed since the last call; the image as process_look() has
 * it now. */
bool family_changed(struct relative *x, uint64_t image);
void family_release(struct family *f);

#endif
