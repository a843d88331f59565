#include "sample/native_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "elf/kallsyms.h"

enum part {
	PART_OTHER,
	PART_SCHEDULER, /* leaving the CPU */
	PART_INTERRUPT, /* how one comes to it unasked */
};

struct native_kernel {
	struct code_names names;
	struct map parts; /* of addresses that were met: enum part */
};

static const struct {
	const char *name; /* or its beginning, where `*` follows */
	enum part part;
} known[] = {
	{ "schedule", PART_SCHEDULER },
	{ "schedule_*", PART_SCHEDULER },
	{ "__schedule*", PART_SCHEDULER },
	{ "preempt_schedule*", PART_INTERRUPT },
	{ "__cond_resched*", PART_INTERRUPT },
	{ "exit_to_user_mode*", PART_INTERRUPT },
	{ "irqentry_*", PART_INTERRUPT },
	{ "asm_sysvec_*", PART_INTERRUPT },
	{ "sysvec_*", PART_INTERRUPT },
	{ "asm_common_interrupt", PART_INTERRUPT },
	{ "el0t_64_irq*", PART_INTERRUPT },
	{ "el0_interrupt", PART_INTERRUPT },
	{ "el1h_64_irq*", PART_INTERRUPT },
	{ "el1_interrupt", PART_INTERRUPT },
};

struct native_kernel *native_kernel_new(void)
{
	struct native_kernel *k = xcalloc(1, sizeof(*k));

	k->names = (struct code_names)CODE_NAMES_INIT;
	kallsyms_read(&k->names, NULL);
	return k;
}

void native_kernel_free(struct native_kernel *k)
{
	if (!k)
		return;
	code_names_release(&k->names);
	map_release(&k->parts);
	free(k);
}

static bool is_called(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return !strncmp(name, pattern, n - 1);
	return !strcmp(name, pattern);
}

static enum part classify(struct native_kernel *k, uint64_t address)
{
	const struct code_piece *piece = code_names_find(&k->names, address);
	const char *name = piece ? code_names_text(&k->names, piece->name) : "";

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_called(name, known[i].name))
			return known[i].part;
	return PART_OTHER;
}

static enum part part_of(struct native_kernel *k, uint64_t address)
{
	uint32_t part = map_get(&k->parts, address, 0);

	if (part == MAP_NONE) {
		part = classify(k, address);
		map_put(&k->parts, address, 0, part);
	}
	return (enum part)part;
}

uint32_t native_kernel_cut(struct native_kernel *k, const uint64_t *frames,
			   uint32_t n, bool running)
{
	uint32_t cut = 0;

	for (uint32_t i = 0; i < n; i++) {
		enum part part = part_of(k, frames[i]);

		if (part == PART_INTERRUPT && running)
			cut = i + 1;
		else if (part == PART_SCHEDULER && i == cut)
			cut = i + 1;
	}
	return cut;
}
