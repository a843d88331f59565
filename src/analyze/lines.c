#include "analyze/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"

/* What the keys of frames stand for. */
struct line_keys {
	struct intern files;
	struct map by_place; /* (file, line) */
	struct place {
		uint32_t file, line, function;
	} * places;
	uint32_t n_places, capacity;
	uint32_t *file_of_function;
	uint32_t *place_of_frame, *file_of_frame;
};

static uint32_t place_key(struct line_keys *k, uint32_t file,
			  struct frame_info frame)
{
	uint32_t key = map_get(&k->by_place, file, frame.line);

	if (key != MAP_NONE)
		return key;
	key = k->n_places++;
	ALLOC_GROW(k->places, k->n_places, k->capacity);
	k->places[key] = (struct place){ file, frame.line, frame.function };
	map_put(&k->by_place, file, frame.line, key);
	return key;
}

static void key_functions(struct line_keys *k, const struct reader *reader)
{
	uint32_t n = reader_functions(reader);

	k->file_of_function = xcalloc(n, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(reader, i);

		k->file_of_function[i] =
			f->kind == FUNCTION_PYTHON ||
					(f->kind == FUNCTION_NATIVE && *f->file)
				? intern_string(&k->files, f->file)
				: ID_NONE;
	}
}

static void key_frames(struct line_keys *k, const struct reader *reader)
{
	uint32_t n = reader_frames(reader);

	key_functions(k, reader);
	k->place_of_frame = xcalloc(n, sizeof(uint32_t));
	k->file_of_frame = xcalloc(n, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++) {
		struct frame_info frame = reader_frame(reader, i);
		uint32_t file = k->file_of_function[frame.function];

		k->file_of_frame[i] = file;
		k->place_of_frame[i] = file == ID_NONE || !frame.line
					       ? ID_NONE
					       : place_key(k, file, frame);
	}
}

static void release_keys(struct line_keys *k)
{
	intern_release(&k->files);
	map_release(&k->by_place);
	free(k->places);
	free(k->file_of_function);
	free(k->place_of_frame);
	free(k->file_of_frame);
}

static int by_number(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_samples(const void *a, const void *b)
{
	const struct file_lines *x = a, *y = b;

	if (x->flat != y->flat)
		return x->flat < y->flat ? 1 : -1;
	if (x->cum != y->cum)
		return x->cum < y->cum ? 1 : -1;
	return strcmp(x->file, y->file);
}

/* Hand each line to its file: first count, then place. */
static void place_lines(struct file_lines **by_file, const struct shares *lines,
			const struct line_keys *k, struct arena *arena)
{
	for (uint32_t i = 0; i < lines->n_items; i++)
		by_file[k->places[lines->items[i].key].file]->n_lines++;
	for (uint32_t i = 0; i < lines->n_items; i++) {
		const struct key_share *item = &lines->items[i];
		const struct place *place = &k->places[item->key];
		struct file_lines *f = by_file[place->file];

		if (!f->lines) {
			f->lines = arena_calloc(arena, f->n_lines,
						sizeof(*f->lines));
			f->n_lines = 0;
		}
		f->lines[f->n_lines++] =
			(struct line){ place->line, place->function, item->flat,
				       item->cum };
	}
}

static void collect_files(struct lines *out, const struct shares *files,
			  const struct shares *lines, const struct line_keys *k,
			  struct arena *arena)
{
	struct file_lines **by_file = xcalloc(k->files.count, sizeof(*by_file));

	out->n_files = files->n_items;
	out->files = arena_calloc(arena, (size_t)out->n_files + 1,
				  sizeof(*out->files));
	for (uint32_t i = 0; i < out->n_files; i++) {
		const struct key_share *item = &files->items[i];
		struct file_lines *f = &out->files[i];

		f->file =
			arena_strdup(arena, intern_text(&k->files, item->key));
		f->flat = item->flat.samples;
		f->cum = item->cum.samples;
		by_file[item->key] = f;
	}
	place_lines(by_file, lines, k, arena);
	for (uint32_t i = 0; i < out->n_files; i++)
		if (out->files[i].n_lines)
			qsort(out->files[i].lines, out->files[i].n_lines,
			      sizeof(struct line), by_number);
	qsort(out->files, out->n_files, sizeof(*out->files), by_samples);
	free(by_file);
}

int lines_count(struct lines *out, struct profile *p, struct arena *arena,
		struct error *err)
{
	struct line_keys keys = { .files = INTERN_INIT };
	struct shares lines, files;
	struct tally tally;
	int status = tally_count(&tally, p, arena, err);

	if (status < 0)
		return status;
	key_frames(&keys, p->reader);
	shares_count(&lines, p, &tally, keys.place_of_frame, keys.n_places,
		     BY_FLAT, arena);
	shares_count(&files, p, &tally, keys.file_of_frame, keys.files.count,
		     BY_FLAT, arena);
	collect_files(out, &files, &lines, &keys, arena);
	release_keys(&keys);
	return 0;
}
