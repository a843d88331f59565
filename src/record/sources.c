#include "record/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "record/format.h"

static void add_text(struct sources *s, const struct tables *tables,
		     const unsigned char *payload, size_t size)
{
	struct cursor c = cursor_over(payload, size);
	const char *file = tables_string(tables, cursor_varint(&c));
	size_t n = cursor_left(&c);

	if (c.failed || !file)
		return;
	ALLOC_GROW(s->texts, s->count + 1, s->capacity);
	s->texts[s->count++] = (struct source_text){
		file, arena_strndup(&s->arena, (const char *)c.at, n), n
	};
}

static void load(struct sources *s, struct input *in,
		 const struct tables *tables)
{
	size_t total = 0;

	for (size_t i = 0; i < s->places.count; i++) {
		const struct block_place *place = &s->places.items[i];
		const unsigned char *payload;

		total += place->raw;
		if (total > LIMIT_SOURCES)
			break;
		payload = input_payload(in, place);
		if (payload)
			add_text(s, tables, payload, place->raw);
	}
	s->loaded = true;
}

const char *sources_find(struct sources *s, struct input *in,
			 const struct tables *tables, const char *file,
			 size_t *size)
{
	if (!s->loaded)
		load(s, in, tables);
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->texts[i].file, file))
			continue;
		if (size)
			*size = s->texts[i].size;
		return s->texts[i].text;
	}
	return NULL;
}

void sources_release(struct sources *s)
{
	places_release(&s->places);
	arena_release(&s->arena);
	free(s->texts);
}
