#include "sample/jit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/jitdump.h"
#include "elf/perfmap.h"
#include "os/maps.h"

#define MODULE "[jit "

/* What one process tells. */
struct teller {
	bool opened, has_map, has_dump;
	struct perfmap map;
	struct jitdump dump;
};

struct jit {
	const struct symbolise_targets *targets;
	struct teller *tellers; /* one per target */
};

struct jit *jit_new(const struct symbolise_targets *targets)
{
	struct jit *j = xcalloc(1, sizeof(*j));

	j->targets = targets;
	if (targets)
		j->tellers = xcalloc(targets->count + 1, sizeof(*j->tellers));
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	for (size_t i = 0; j->targets && i < j->targets->count; i++) {
		if (j->tellers[i].has_map)
			perfmap_release(&j->tellers[i].map);
		if (j->tellers[i].has_dump)
			jitdump_release(&j->tellers[i].dump);
	}
	free(j->tellers);
	free(j);
}

bool jit_is_module(const char *path)
{
	return !strncmp(path, MODULE, sizeof(MODULE) - 1);
}

/* A program maps its dump, wherever it is, for profilers to find it. */
static void find_dump(const struct symbolise_target *t, char path[PATH_MAX])
{
	struct maps maps = MAPS_INIT;
	char name[64];

	snprintf(name, sizeof(name), "/jit-%d.dump", (int)t->inner);
	snprintf(path, PATH_MAX, "/tmp%s", name);
	if (maps_read(&maps, t->pid, NULL) == 0)
		for (size_t i = 0; i < maps.count; i++) {
			const char *slash = strrchr(maps.items[i].path, '/');

			if (slash && !strcmp(slash, name))
				snprintf(path, PATH_MAX, "%s",
					 maps.items[i].path);
		}
	maps_release(&maps);
}

static void open_teller(struct teller *t, const struct symbolise_target *target)
{
	char root[64], dump[PATH_MAX];

	t->opened = true;
	snprintf(root, sizeof(root), "/");
	if (target->root >= 0)
		snprintf(root, sizeof(root), "/proc/self/fd/%d", target->root);
	find_dump(target, dump);
	t->has_map = perfmap_open(&t->map, root, target->inner, target->owner);
	t->has_dump = jitdump_open(&t->dump, root, dump, target->owner);
}

static const char *ask(struct code_names *names, uint64_t address)
{
	const struct code_piece *piece = code_names_find(names, address);

	return piece ? code_names_text(names, piece->name) : NULL;
}

const char *jit_find(struct jit *j, const char *module, uint64_t address)
{
	const char *name = NULL;
	pid_t pid = 0;

	if (jit_is_module(module))
		pid = (pid_t)atol(module + sizeof(MODULE) - 1);
	for (size_t i = 0; j->targets && i < j->targets->count && !name; i++) {
		struct teller *t = &j->tellers[i];

		if (pid && j->targets->items[i].pid != pid)
			continue;
		if (!t->opened)
			open_teller(t, &j->targets->items[i]);
		if (t->has_map)
			name = ask(&t->map.names, address);
		if (!name && t->has_dump)
			name = ask(&t->dump.names, address);
	}
	return name;
}
