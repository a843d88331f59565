/* From addresses with samples to instructions, in four steps: find the pieces
 * of the file that the function is in (compilers put what is rarely executed
 * elsewhere), disassemble them, give each instruction the samples of the
 * addresses within it (that of a caller lies within its call), and look up
 * lines for the rows that will be shown, since that is what takes time. */
#include "view/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/disassembly.h"
#include "elf/symbols.h"

#define AROUND 3 /* rows without samples shown before and after one with */

struct piece {
	uint64_t start, end;
};

struct making {
	struct listing *out;
	const struct reader *reader;
	const struct code *code;
	struct arena *arena;
	struct symbols *symbols;
	struct piece *pieces;
	uint32_t n_pieces, capacity;
};

static bool holds_samples(const struct code *code, uint64_t start,
			  uint64_t size)
{
	uint32_t low = 0, high = code->n_sites;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (code->sites[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->n_sites && code->sites[low].address - start < size;
}

/* A piece with samples, once however many names it has. */
static bool take_piece(void *context, const char *name, uint64_t address,
		       uint64_t size)
{
	struct making *m = context;
	struct piece *last = m->n_pieces ? &m->pieces[m->n_pieces - 1] : NULL;

	(void)name;
	if (!holds_samples(m->code, address, size) ||
	    (last && address < last->end))
		return true;
	ALLOC_GROW(m->pieces, m->n_pieces + 1, m->capacity);
	m->pieces[m->n_pieces++] = (struct piece){ address, address + size };
	return true;
}

static struct listing_row *add_row(struct making *m, uint64_t address,
				   uint32_t size)
{
	struct listing *l = m->out;

	ALLOC_GROW(l->rows, l->n_rows + 1, l->capacity);
	l->rows[l->n_rows] = (struct listing_row){ .address = address,
						   .size = size,
						   .site = ID_NONE,
						   .function = "",
						   .file = "" };
	return &l->rows[l->n_rows++];
}

static bool take_instruction(void *context, const struct instruction *i)
{
	struct making *m = context;
	struct listing_row *row = add_row(m, i->address, i->size);

	row->text = arena_strdup(m->arena, i->text);
	row->target = i->is_call ? i->target : 0;
	return true;
}

static void count_site(struct listing_row *row, const struct code_site *site)
{
	if (!row->cum_samples || site->cum.samples > row->cum.samples) {
		row->site = site->site;
		row->flat = site->flat;
		row->cum = site->cum;
	}
	row->flat_samples += site->flat.samples;
	row->cum_samples += site->cum.samples;
}

/* Both are sorted by address. */
static void count_rows(struct making *m)
{
	struct listing *l = m->out;
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->code->n_sites; i++) {
		const struct code_site *site = &m->code->sites[i];

		while (at < l->n_rows &&
		       l->rows[at].address + l->rows[at].size <= site->address)
			at++;
		if (at < l->n_rows && l->rows[at].address <= site->address)
			count_site(&l->rows[at], site);
	}
}

static int disassemble(struct making *m, struct error *err)
{
	int status = 0;

	symbols_range(m->symbols, "", take_piece, m);
	if (!m->n_pieces)
		return fail(err, ERR_NOT_FOUND,
			    "its symbol table has no function there");
	for (uint32_t i = 0; i < m->n_pieces && !status; i++)
		status = disassembly_visit(m->symbols, m->pieces[i].start,
					   m->pieces[i].end, take_instruction,
					   m, err);
	return status;
}

static int lightest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Samples that a row must have to be one of the `limit` heaviest. */
static uint64_t least_samples(const struct listing *l, uint32_t limit)
{
	uint64_t *weights = xcalloc(l->n_rows, sizeof(*weights)), least = 1;

	for (uint32_t i = 0; i < l->n_rows; i++)
		weights[i] = l->rows[i].cum_samples;
	if (l->n_rows)
		qsort(weights, l->n_rows, sizeof(*weights), lightest_first);
	if (l->n_rows > limit && weights[l->n_rows - limit] > 1)
		least = weights[l->n_rows - limit];
	free(weights);
	return least;
}

static void choose_rows(struct listing *l, uint32_t limit)
{
	uint64_t least = limit ? least_samples(l, limit) : 0;

	for (uint32_t i = 0; i < l->n_rows; i++) {
		if (l->rows[i].cum_samples < least)
			continue;
		for (uint32_t k = i < AROUND ? 0 : i - AROUND;
		     k <= i + AROUND && k < l->n_rows; k++)
			l->rows[k].shown = true;
	}
}

/* What the recorder found where the row's samples are. */
static void name_as_recorded(struct making *m, struct listing_row *row)
{
	const struct reader *r = m->reader;
	uint32_t function;

	if (row->site == ID_NONE || !reader_site_named(r, row->site))
		return;
	function = reader_site_function(r, row->site, 0, &row->line);
	row->function = reader_function(r, function)->name;
	row->file = reader_function(r, function)->file;
}

static void name_row(struct making *m, struct listing_row *row)
{
	struct symbol found[SYMBOLS_DEPTH_MAX];

	if (symbols_find(m->symbols, row->address, found, SYMBOLS_DEPTH_MAX)) {
		row->function = arena_strdup(m->arena, found[0].name);
		row->file = arena_strdup(m->arena, found[0].file);
		row->line = found[0].line;
	}
	if (!row->line)
		name_as_recorded(m, row);
	if (row->target &&
	    symbols_find(m->symbols, row->target, found, SYMBOLS_DEPTH_MAX))
		row->calls = arena_strdup(m->arena, found[0].name);
}

/* Without instructions: the addresses, as the recording knows them. */
static void list_sites(struct making *m)
{
	m->out->n_rows = 0;
	for (uint32_t i = 0; i < m->code->n_sites; i++) {
		const struct code_site *s = &m->code->sites[i];
		struct listing_row *row = add_row(m, s->address, 0);

		count_site(row, s);
		name_as_recorded(m, row);
	}
}

/* Open the file of the code, if it is the one that was recorded. */
static int open_file(struct making *m, struct error *err)
{
	const struct module_info *module;
	int status;

	if (m->code->module == ID_NONE)
		return fail(err, ERR_NOT_FOUND,
			    "this code was not loaded from a file");
	module = reader_module(m->reader, m->code->module);
	status = symbols_open(&m->symbols, NULL, module->path, module->build_id,
			      err);
	if (status < 0)
		return status;
	if (module->build_id[0] &&
	    strcmp(symbols_build_id(m->symbols), module->build_id))
		return fail(err, ERR_NOT_FOUND,
			    "%s is not here as it was recorded (build id %s)",
			    module->path, module->build_id);
	if (!module->build_id[0])
		m->out->note = xasprintf(
			"%s has no build id: it may have changed since",
			module->path);
	return 0;
}

void listing_make(struct listing *out, const struct profile *p,
		  const struct code *code,
		  const struct listing_options *options, struct arena *arena)
{
	struct making m = {
		.out = out, .reader = p->reader, .code = code, .arena = arena
	};
	struct error err = ERROR_INIT;
	int status;

	*out = (struct listing){ 0 };
	status = open_file(&m, &err);
	if (!status)
		status = disassemble(&m, &err);
	if (status < 0) {
		free(out->note);
		out->note = xstrdup(err.text);
		list_sites(&m);
	} else {
		count_rows(&m);
	}
	choose_rows(out, options->limit);
	for (uint32_t i = 0; status == 0 && i < out->n_rows; i++)
		if (out->rows[i].shown)
			name_row(&m, &out->rows[i]);
	symbols_free(m.symbols);
	free(m.pieces);
}

void listing_release(struct listing *l)
{
	free(l->rows);
	free(l->note);
}
