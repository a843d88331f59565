#include "analyze/libraries.h"

#include <stdlib.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/intern.h"

struct sorting {
	struct intern keys; /* kind and name */
	struct libraries *out;
	uint32_t capacity;
	struct arena *arena;
	size_t base; /* see origin_base() */
	struct buffer text;
};

/* What a function belongs to; `text` is room for a package's name. */
static struct library library_of(struct sorting *s,
				 const struct function_info *f)
{
	struct library l = { .path = f->file, .kind = f->kind };

	l.own = !origin_is_library(f);
	if (f->kind == FUNCTION_MARK) {
		l.name = f->name;
	} else if (f->kind == FUNCTION_KERNEL) {
		l.name = "[kernel]";
		l.path = "";
	} else if (f->kind == FUNCTION_NATIVE) {
		l.name = *f->module ? origin_short_module(f->module)
				    : "[no file]";
		l.path = f->module;
	} else if (l.own) {
		l.name = origin_short_path(f->file, s->base);
	} else {
		buffer_reset(&s->text);
		origin_package(f, &s->text);
		l.name = buffer_text(&s->text);
		l.path = "";
	}
	return l;
}

static uint32_t library_key(struct sorting *s, const struct function_info *f)
{
	struct library l = library_of(s, f);
	struct buffer key = BUFFER_INIT;
	uint32_t known = s->keys.count, id;

	buffer_printf(&key, "%d %s", l.kind, *l.path ? l.path : l.name);
	id = intern_bytes(&s->keys, buffer_text(&key), key.size);
	buffer_release(&key);
	if (id == known) {
		l.name = arena_strdup(s->arena, l.name);
		ALLOC_GROW(s->out->items, id + 1, s->capacity);
		s->out->items[s->out->n_items++] = l;
	}
	return id;
}

static uint32_t *keys_of_frames(struct sorting *s, const struct reader *reader)
{
	uint32_t n = reader_functions(reader), frames = reader_frames(reader);
	uint32_t *of_function = xcalloc(n, sizeof(*of_function));
	uint32_t *keys =
		arena_calloc(s->arena, (size_t)frames + 1, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++)
		of_function[i] = library_key(s, reader_function(reader, i));
	for (uint32_t i = 0; i < frames; i++)
		keys[i] = of_function[reader_frame(reader, i).function];
	free(of_function);
	return keys;
}

/* The list grew outside the arena: move it there. */
static void keep_items(struct libraries *out, struct arena *arena)
{
	struct library *kept =
		arena_calloc(arena, (size_t)out->n_items + 1, sizeof(*kept));

	for (uint32_t i = 0; i < out->n_items; i++)
		kept[i] = out->items[i];
	free(out->items);
	out->items = kept;
}

int libraries_count(struct libraries *out, struct profile *p,
		    enum share_order order, struct arena *arena,
		    struct error *err)
{
	struct sorting s = { .out = out,
			     .arena = arena,
			     .base = origin_base(p->reader) };
	struct tally tally;
	uint32_t *keys;
	int status = tally_count(&tally, p, arena, err);

	if (status < 0)
		return status;
	*out = (struct libraries){ 0 };
	keys = keys_of_frames(&s, p->reader);
	shares_count(&out->shares, p, &tally, keys, out->n_items, order, arena);
	keep_items(out, arena);
	intern_release(&s.keys);
	buffer_release(&s.text);
	return 0;
}
