#include "elf/unwind_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MODULES_MAX 65536
#define VDSO_MAX    (64 << 10)

/* Two mappings are of one module when they are of one file and would begin at
 * one address. */
static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->device == b->device &&
	       a->start - a->offset == b->start - b->offset &&
	       !strcmp(a->path, b->path);
}

static uint32_t add_module(struct code *c, const struct mapping *mapping)
{
	struct code_module *m;

	if (c->module_count == MODULES_MAX)
		return UNWIND_NO_MODULE;
	m = xcalloc(1, sizeof(*m));
	m->mapping = *mapping;
	m->mapping.path = xstrdup(mapping->path);
	m->info.path = m->mapping.path;
	m->info.start = mapping->start;
	m->info.end = mapping->end;
	m->info.bias = mapping->start - mapping->offset;
	ALLOC_GROW(c->modules, c->module_count + 1, c->module_capacity);
	c->modules[c->module_count] = m;
	return (uint32_t)c->module_count++;
}

/* The newest first: what was unmapped may have left its like behind. */
static uint32_t module_of(struct code *c, const struct mapping *mapping)
{
	if (strcmp(mapping->path, "[vdso]") &&
	    (mapping->path[0] != '/' || !mapping->inode))
		return UNWIND_NO_MODULE;
	for (size_t i = c->module_count; i-- > 0;) {
		struct code_module *m = c->modules[i];

		if (!is_same(&m->mapping, mapping))
			continue;
		if (mapping->start < m->info.start)
			m->info.start = mapping->start;
		if (mapping->end > m->info.end)
			m->info.end = mapping->end;
		return (uint32_t)i;
	}
	return add_module(c, mapping);
}

bool code_update(struct code *c, const struct maps *maps)
{
	bool changed = false;
	size_t n = 0;

	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *m = &maps->items[i];
		struct code_region new = { m->start, m->end, 0 }, *old;

		if (!m->executable)
			continue;
		new.module = module_of(c, m);
		ALLOC_GROW(c->regions, n + 1, c->region_capacity);
		old = &c->regions[n++];
		if (n > c->region_count || old->start != new.start ||
		    old->end != new.end || old->module != new.module)
			changed = true;
		*old = new;
	}
	changed |= n != c->region_count;
	c->region_count = n;
	return changed;
}

void code_release(struct code *c)
{
	for (size_t i = 0; i < c->module_count; i++) {
		unwind_table_free(c->modules[i]->table);
		unwind_table_free(c->modules[i]->debug);
		free(c->modules[i]->functions);
		free((char *)c->modules[i]->mapping.path);
		free(c->modules[i]);
	}
	free(c->modules);
	free(c->regions);
	memset(c, 0, sizeof(*c));
}

const struct code_region *code_find(const struct code *c, uint64_t address)
{
	size_t low = 0, high = c->region_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct code_region *r = &c->regions[middle];

		if (address < r->start)
			high = middle;
		else if (address >= r->end)
			low = middle + 1;
		else
			return r;
	}
	return NULL;
}

static void read_file(struct code_module *m, const struct module *file,
		      const struct unwind_machine *machine)
{
	module_build_id(file, m->info.build_id);
	m->info.bias = module_code_bias(file, &m->mapping);
	m->table = unwind_table_new(file, machine);
	m->debug = unwind_table_new_debug(file, machine);
	m->entry = module_entry(file);
	if (m->entry)
		m->entry += m->info.bias;
}

/* The vdso is in no file system. */
static void load_vdso(struct code_module *m, struct memory *memory,
		      const struct unwind_machine *machine)
{
	uint64_t size = m->mapping.end - m->mapping.start;
	struct module *file;
	void *bytes;

	if (size > VDSO_MAX)
		return;
	bytes = xmalloc(size);
	if (!memory_read(memory, m->mapping.start, bytes, size) &&
	    !module_open_bytes(&file, bytes, size)) {
		read_file(m, file, machine);
		module_free(file);
	}
	free(bytes);
}

void code_load(struct code_module *m, struct memory *memory,
	       const struct opener *opener,
	       const struct unwind_machine *machine)
{
	struct module *file;

	if (m->is_loaded)
		return;
	m->is_loaded = true;
	if (m->mapping.path[0] == '[') {
		load_vdso(m, memory, machine);
	} else if (!module_open_by(&file, opener, &m->mapping)) {
		read_file(m, file, machine);
		module_free(file);
	}
}

static void load_functions(struct code_module *m, const struct opener *opener)
{
	struct module *file;

	if (m->has_functions)
		return;
	m->has_functions = true;
	if (m->mapping.path[0] == '[' ||
	    module_open_by(&file, opener, &m->mapping) < 0)
		return;
	m->function_count = module_functions(file, &m->functions);
	module_free(file);
}

bool code_function(struct code_module *m, const struct opener *opener,
		   uint64_t address, struct module_function *out)
{
	uint64_t want = address - m->info.bias;
	size_t low = 0, high;

	load_functions(m, opener);
	for (high = m->function_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (m->functions[middle].start <= want)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || m->functions[low - 1].end <= want)
		return false;
	*out = m->functions[low - 1];
	out->start += m->info.bias;
	out->end =
		out->end == UINT64_MAX ? UINT64_MAX : out->end + m->info.bias;
	return true;
}
