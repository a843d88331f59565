#include "view/place.h"

#include "analyze/origin.h"
#include "base/text.h"

#define PLACE_LEAST 8 /* columns; a place cut shorter tells nothing */

struct places places_of(const struct profile *p)
{
	return (struct places){ p->reader, origin_base(p->reader) };
}

void place_add(struct buffer *out, const struct places *places,
	       uint32_t function, uint32_t line)
{
	const struct function_info *f =
		reader_function(places->reader, function);

	if (f->kind != FUNCTION_PYTHON && !f->file[0]) {
		buffer_add_string(out,
				  origin_short_path(f->module, places->base));
		return;
	}
	buffer_add_string(out, origin_short_path(f->file, places->base));
	if (!line)
		line = f->line;
	if (line)
		buffer_printf(out, ":%u", line);
}

void place_add_function(struct view_line *line, enum ink ink,
			const struct places *places, uint32_t function,
			uint32_t at, bool brackets)
{
	struct buffer place = BUFFER_INIT;
	const char *name = reader_function(places->reader, function)->name;

	place_add(&place, places, function, at);
	view_add(line, ink, name);
	if (place.size && line->left >= PLACE_LEAST + 3) {
		view_add(line, INK_DIM, brackets ? " (" : "  ");
		view_add_cut(line, INK_DIM, buffer_text(&place),
			     line->left - brackets, true);
		view_add(line, INK_DIM, brackets ? ")" : "");
	}
	buffer_release(&place);
}
