#include "view/place.h"

#include <string.h>

#include "analyze/origin.h"
#include "base/text.h"

#define PLACE_LEAST 8 /* columns; a place cut shorter tells nothing */

struct places places_of(const struct profile *p)
{
	return (struct places){ p->reader, origin_base(p->reader) };
}

/* Whether a name made of an address says already where it is:
 * "libfoo.so+0x1234". */
static bool names_module(const struct function_info *f)
{
	const char *base = path_base(f->module);
	size_t n = strlen(base);

	return n && !strncmp(f->name, base, n) && f->name[n] == '+';
}

void place_add(struct buffer *out, const struct places *places,
	       uint32_t function, uint32_t line)
{
	const struct function_info *f =
		reader_function(places->reader, function);

	if (f->kind != FUNCTION_PYTHON && !f->file[0]) {
		if (!names_module(f))
			buffer_add_string(out, origin_short_module(f->module));
		return;
	}
	buffer_add_string(out, origin_short_file(f, places->base));
	if (!line)
		line = f->line;
	if (line)
		buffer_printf(out, ":%u", line);
}

/* A long name (templates of C++ have them) leaves two fifths of the line to the
 * place, if that needs so much: where it is tells more than its end. */
static int name_columns(const struct view_line *line, const char *name,
			const char *place)
{
	int wanted = text_width(place) + 3, most = line->left * 2 / 5;

	if (!*place || text_width(name) + wanted <= line->left ||
	    most < PLACE_LEAST + 3)
		return line->left;
	return line->left - (wanted < most ? wanted : most);
}

void place_add_function(struct view_line *line, enum ink ink,
			const struct places *places, uint32_t function,
			uint32_t at, bool brackets)
{
	struct buffer place = BUFFER_INIT;
	const char *name = reader_function(places->reader, function)->name;

	place_add(&place, places, function, at);
	view_add_cut(line, ink, name,
		     name_columns(line, name, buffer_text(&place)), false);
	if (place.size && line->left >= PLACE_LEAST + 3) {
		view_add(line, INK_DIM, brackets ? " (" : "  ");
		view_add_cut(line, INK_DIM, buffer_text(&place),
			     line->left - brackets, true);
		view_add(line, INK_DIM, brackets ? ")" : "");
	}
	buffer_release(&place);
}
