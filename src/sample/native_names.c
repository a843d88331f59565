#include "sample/native_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "sample/inlined.h"

struct native_names {
	const struct native *native;
	char *root;
	struct symbols **modules; /* by module; NULL: not there */
	bool *tried, *interpreter;
	uint32_t count;
};

struct native_names *native_names_new(const struct native *n, const char *root)
{
	struct native_names *names = xcalloc(1, sizeof(*names));

	names->native = n;
	names->root = xstrdup(root);
	return names;
}

void native_names_free(struct native_names *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i < names->count; i++)
		symbols_free(names->modules[i]);
	free(names->modules);
	free(names->tried);
	free(names->interpreter);
	free(names->root);
	free(names);
}

static void make_room(struct native_names *names, uint32_t count)
{
	if (count <= names->count)
		return;
	names->modules =
		xreallocarray(names->modules, count, sizeof(*names->modules));
	names->tried =
		xreallocarray(names->tried, count, sizeof(*names->tried));
	names->interpreter = xreallocarray(names->interpreter, count,
					   sizeof(*names->interpreter));
	for (; names->count < count; names->count++) {
		names->modules[names->count] = NULL;
		names->tried[names->count] = false;
		names->interpreter[names->count] = false;
	}
}

static struct symbols *symbols_of(struct native_names *names, uint32_t module,
				  const struct unwind_module_info *info)
{
	struct symbols **s;

	make_room(names, module + 1);
	s = &names->modules[module];
	if (!names->tried[module]) {
		names->tried[module] = true;
		/* The kernel tells paths of a process with another root as we
		 * see them. */
		if (!names->root[0] || symbols_open(s, names->root, info->path,
						    info->build_id, NULL) < 0)
			symbols_open(s, NULL, info->path, info->build_id, NULL);
		names->interpreter[module] = *s && inlined_is_interpreter(*s);
	}
	return *s;
}

/* "libfoo.so+0x1234", or the bare address. */
static struct symbol by_address(const struct unwind_module_info *info,
				uint64_t address, struct arena *texts)
{
	char text[300];

	if (info)
		snprintf(text, sizeof(text), "%.256s+0x%llx",
			 path_base(info->path),
			 (unsigned long long)(address - info->bias));
	else
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)address);
	return (struct symbol){ .name = arena_strdup(texts, text), .file = "" };
}

uint32_t native_names_find(struct native_names *names,
			   const struct merged_frame *f, struct arena *texts,
			   struct symbol *out, uint32_t max)
{
	const struct unwind_module_info *info =
		f->kind == MERGED_NATIVE
			? native_module(names->native, f->module)
			: NULL;
	struct symbols *s = info ? symbols_of(names, f->module, info) : NULL;
	uint32_t n = 0;
	char mark[NATIVE_MARK_SIZE];

	if (f->kind == MERGED_MARK) {
		native_mark_text(f->address, mark);
		out[0] = (struct symbol){ .name = arena_strdup(texts, mark),
					  .file = "" };
		return 1;
	}
	if (s)
		n = symbols_find(s, f->address - info->bias, out, max);
	if (n && !names->native->options.internals)
		n = inlined_fold(out, n, names->interpreter[f->module]);
	if (!n)
		out[n++] = by_address(info, f->address, texts);
	return n;
}

const char *native_names_module(const struct native_names *names,
				const struct merged_frame *f)
{
	const struct unwind_module_info *info =
		f->kind == MERGED_NATIVE
			? native_module(names->native, f->module)
			: NULL;

	return info ? info->path : "";
}
