#include "sample/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "os/maps.h"
#include "os/process.h"
#include "record/model.h"

#define FIRST_PAUSE   500000u /* ns */
#define LONGEST_PAUSE 1000000000u
#define CHILDREN_MAX  4096
#define MEMBERS_MAX   65536

struct relative *family_find(struct family *f, pid_t pid)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->members[i].pid == pid)
			return &f->members[i];
	return NULL;
}

struct relative *family_add(struct family *f, pid_t pid, uint32_t parent)
{
	struct process_look look = process_look(pid);
	struct relative *x;

	ALLOC_GROW(f->members, f->count + 1, f->capacity);
	x = &f->members[f->count++];
	memset(x, 0, sizeof(*x));
	x->pid = pid;
	x->start_time = look.start_time;
	x->image = look.image;
	x->parent = parent;
	x->record = ID_NONE;
	x->pause = FIRST_PAUSE;
	return x;
}

void family_forget(struct family *f, pid_t pid)
{
	struct relative *x = family_find(f, pid);

	if (x)
		*x = f->members[--f->count];
}

/* A child may be found before its parent has turned out to be a Python. */
uint32_t family_parent(struct family *f, const struct relative *x)
{
	const struct relative *p = x;

	for (uint32_t i = 0; i < f->count; i++) {
		p = family_find(f, p->parent_pid);
		if (!p)
			break;
		if (p->record != ID_NONE)
			return p->record;
	}
	return x->parent;
}

static bool is_dead(const struct relative *x)
{
	struct process_look look = process_look(x->pid);

	return !look.state || look.state == 'Z' || look.state == 'X' ||
	       look.start_time != x->start_time;
}

static void add_children_of(struct family *f, uint32_t i)
{
	pid_t children[CHILDREN_MAX];
	const struct relative *x = &f->members[i];
	uint32_t parent = x->record != ID_NONE ? x->record : x->parent;
	pid_t pid = x->pid;
	int n = process_children(pid, children, CHILDREN_MAX);

	for (int k = 0; k < n && f->count < MEMBERS_MAX; k++)
		if (!family_find(f, children[k]))
			family_add(f, children[k], parent)->parent_pid = pid;
}

/* A Python that has ended is dropped by its sampler, which notices first. */
void family_grow(struct family *f, bool everybody)
{
	for (uint32_t i = 0; i < f->count;) {
		if (!f->members[i].is_python && is_dead(&f->members[i])) {
			f->members[i] = f->members[--f->count];
			continue;
		}
		if (everybody || !f->members[i].is_python)
			add_children_of(f, i);
		i++;
	}
}

/* Opening every file of a process is dear; without a new one among them it is
 * tried again only rarely. */
bool family_due(struct relative *x, uint64_t now)
{
	uint64_t files;

	if (family_changed(x, process_image(x->pid)))
		x->pause = FIRST_PAUSE;
	else if (now < x->due)
		return false;
	x->due = now + x->pause;
	if (x->pause < LONGEST_PAUSE)
		x->pause += x->pause / 4;
	files = maps_fingerprint(x->pid);
	if (files == x->files && now < x->patience)
		return false;
	x->files = files;
	x->patience = now + LONGEST_PAUSE / 4;
	return true;
}

bool family_changed(struct relative *x, uint64_t image)
{
	if (!image || image == x->image)
		return false;
	x->image = image;
	return true;
}

void family_release(struct family *f)
{
	free(f->members);
	memset(f, 0, sizeof(*f));
}
