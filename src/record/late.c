#include "record/late.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "record/format.h"

struct late_names {
	struct intern strings;
	struct map functions; /* (name and file, module and line) */
};

struct late_names *late_names_new(void)
{
	return xcalloc(1, sizeof(struct late_names));
}

void late_names_free(struct late_names *late)
{
	if (!late)
		return;
	intern_release(&late->strings);
	map_release(&late->functions);
	free(late);
}

static uint64_t string_id(struct late_names *late, const char *text)
{
	return intern_string(&late->strings, text ? text : "");
}

static uint32_t function_id(struct late_names *late, struct tables *t,
			    const struct function_info *f)
{
	uint64_t name = string_id(late, f->name),
		 file = string_id(late, f->file),
		 module = string_id(late, f->module);
	uint64_t place = name << 32 | file;
	uint64_t rest = (module << 2 | f->kind) << 32 | f->line;
	uint32_t id = map_get(&late->functions, place, rest);

	if (id != MAP_NONE)
		return id;
	map_put(&late->functions, place, rest, t->n_functions);
	ALLOC_GROW(t->functions, t->n_functions + 1, t->functions_capacity);
	t->functions[t->n_functions] = (struct function_info){
		.name = intern_text(&late->strings, (uint32_t)name),
		.file = intern_text(&late->strings, (uint32_t)file),
		.line = f->line,
		.kind = f->kind,
		.module = intern_text(&late->strings, (uint32_t)module),
	};
	return t->n_functions++;
}

void late_symbols(struct late_names *late, struct tables *t, uint32_t site,
		  const struct function_info *functions, const uint32_t *lines,
		  uint32_t n)
{
	const struct site_info *info = &t->sites[site];
	uint32_t left_out = n > LIMIT_INLINED ? n - LIMIT_INLINED : 0;

	if (t->site_symbols[site].count)
		return;
	for (uint32_t i = left_out; i < n; i++) {
		struct function_info f = functions[i];

		f.kind = info->kind;
		if (info->module != ID_NONE && !(f.module && f.module[0]))
			f.module = t->modules[info->module].path;
		tables_add_symbol(t, site, function_id(late, t, &f), lines[i]);
	}
}
