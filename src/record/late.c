#include "record/late.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "record/format.h"
#include "record/table.h"

struct late_names {
	struct intern strings;
	struct map functions; /* (name and file, module and line) */
	uint32_t own_functions, own_symbols; /* of the file */
};

struct late_names *late_names_new(const struct tables *t)
{
	struct late_names *late = xcalloc(1, sizeof(*late));

	late->own_functions = t->n_functions;
	late->own_symbols = t->n_symbols;
	return late;
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

/* A row of the strings, which continue those of the file. */
static uint64_t add_string(struct table_writer *table, const char *text)
{
	size_t n = strlen(text);

	table_add(table, TABLE_STRINGS, (uint64_t[]){ n, 0 });
	buffer_add(&table->column[1], text, n);
	return table->first + table->rows - 1;
}

static void encode_functions(const struct late_names *late,
			     const struct tables *t, struct buffer *out)
{
	struct table_writer strings = { .first = t->n_strings };
	struct table_writer functions = { .first = late->own_functions };
	uint32_t n = late->own_functions + (uint32_t)late->functions.count;

	for (uint32_t i = late->own_functions; i < n; i++) {
		const struct function_info *f = &t->functions[i];
		uint64_t name = add_string(&strings, f->name);
		uint64_t file = add_string(&strings, f->file);

		table_add(&functions, TABLE_FUNCTIONS,
			  (uint64_t[]){ name, file, f->line, f->kind,
					add_string(&strings, f->module) });
	}
	table_flush(&strings, TABLE_STRINGS, out);
	table_flush(&functions, TABLE_FUNCTIONS, out);
	table_release(&strings);
	table_release(&functions);
}

void late_encode(const struct late_names *late, const struct tables *t,
		 struct buffer *out)
{
	struct table_writer symbols = { 0 };

	encode_functions(late, t, out);
	for (uint32_t i = 0; i < t->n_sites; i++) {
		const struct site_symbols *s = &t->site_symbols[i];

		for (uint32_t k = 0;
		     s->first >= late->own_symbols && k < s->count; k++) {
			const struct site_symbol *symbol =
				&t->symbols[s->first + k];

			table_add(&symbols, TABLE_SYMBOLS,
				  (uint64_t[]){ i, symbol->function,
						symbol->line });
		}
	}
	table_flush(&symbols, TABLE_SYMBOLS, out);
	table_release(&symbols);
}
