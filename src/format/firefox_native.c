/* Native code in a Firefox profile: "libs" are the recording's modules, each
 * with a resource of the same number, by which functions name their library.
 * Native symbols are the functions that have code of their own, each once. A
 * recording does not keep where a function begins: the lowest address that was
 * seen in it stands for that. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "format/firefox.h"

#define GUID_DIGITS 32 /* of a build id, that make a debug id */

/* The function at a site that has code of its own. */
static uint32_t code_of(const struct reader *r, const struct frame_info *f)
{
	uint32_t line, depth = reader_site_depth(r, f->site);

	return reader_site_named(r, f->site)
		       ? reader_site_function(r, f->site, depth - 1, &line)
		       : f->function;
}

static void add_symbol(struct firefox_native *n, uint32_t function,
		       const struct site_info *site)
{
	uint32_t row = n->symbol_of[function];

	if (row == ID_NONE) {
		row = n->symbol_of[function] = n->n_symbols++;
		ALLOC_GROW(n->symbols, n->n_symbols, n->capacity);
		n->symbols[row] = (struct firefox_symbol){
			.function = function,
			.lib = site->module,
			.address = site->address,
		};
	}
	if (site->address < n->symbols[row].address)
		n->symbols[row].address = site->address;
}

static void find_site(struct firefox_native *n, const struct reader *r,
		      const struct frame_info *f)
{
	struct site_info site = reader_site(r, f->site);
	uint32_t depth = reader_site_depth(r, f->site), line;

	if (site.module == ID_NONE)
		return;
	n->lib_of[f->function] = site.module;
	for (uint32_t i = 1; i < depth; i++)
		n->lib_of[reader_site_function(r, f->site, i, &line)] =
			site.module;
	add_symbol(n, code_of(r, f), &site);
}

void firefox_native_init(struct firefox_native *n, const struct reader *r)
{
	size_t size = ((size_t)reader_functions(r) + 1) * sizeof(uint32_t);

	n->lib_of = xmalloc(size);
	n->symbol_of = xmalloc(size);
	memset(n->lib_of, 0xff, size);
	memset(n->symbol_of, 0xff, size);
	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info f = reader_frame(r, i);

		if (f.site != ID_NONE)
			find_site(n, r, &f);
	}
}

void firefox_native_release(struct firefox_native *n)
{
	free(n->lib_of);
	free(n->symbol_of);
	free(n->symbols);
}

uint32_t firefox_symbol(const struct firefox *w, uint32_t frame)
{
	struct frame_info f = reader_frame(w->profile->reader, frame);

	return f.site == ID_NONE
		       ? ID_NONE
		       : w->native.symbol_of[code_of(w->profile->reader, &f)];
}

static bool is_build_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefABCDEF");

	return n >= GUID_DIGITS && !id[n];
}

/* The debug id of symbol servers: the first 16 bytes of the build id as a GUID,
 * whose first three fields are little endian, and an age of 0. */
static void add_debug_id(struct buffer *out, const char *id)
{
	static const unsigned char order[] = { 3, 2, 1,	 0,  5,	 4,  7,	 6,
					       8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < sizeof(order); i++)
		for (int k = 0; k < 2; k++)
			buffer_add_byte(
				out,
				is_build_id(id)
					? (unsigned char)toupper(
						  (unsigned char)
							  id[order[i] * 2 + k])
					: '0');
	buffer_add_byte(out, '0');
}

static void add_lib(struct json *j, const struct module_info *m)
{
	struct buffer id = BUFFER_INIT;
	const char *base = path_base(m->path);

	add_debug_id(&id, m->build_id);
	json_open(j, NULL, '{');
	json_string(j, "arch", "");
	json_string(j, "name", base);
	json_string(j, "path", m->path);
	json_string(j, "debugName", base);
	json_string(j, "debugPath", m->path);
	json_string(j, "breakpadId", buffer_text(&id));
	if (m->build_id[0])
		json_string(j, "codeId", m->build_id);
	else
		json_null(j, "codeId");
	json_close(j);
	buffer_release(&id);
}

void firefox_add_libs(struct firefox *w)
{
	const struct reader *r = w->profile->reader;

	json_open(&w->json, "libs", '[');
	for (uint32_t i = 0; i < reader_modules(r); i++)
		add_lib(&w->json, reader_module(r, i));
	json_close(&w->json);
}
