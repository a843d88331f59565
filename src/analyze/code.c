#include "analyze/code.h"

#include <stdlib.h>

#include "analyze/callers.h"
#include "base/alloc.h"

struct coding {
	struct profile *profile;
	struct arena *arena;
	struct tally tally;
	bool *wanted;	     /* by function: asked for */
	uint32_t *code_of;   /* by function: its index among the codes */
	uint32_t *site_keys; /* by frame: its site if that is in a code */
	uint32_t *code_keys; /* by frame: that code */
	struct codes *out;
	uint32_t capacity;
};

/* The function that the code at the frame's site belongs to. */
static uint32_t owner_of(const struct reader *r, const struct frame_info *f)
{
	uint32_t depth = reader_site_depth(r, f->site), line;

	return reader_site_named(r, f->site)
		       ? reader_site_function(r, f->site, depth - 1, &line)
		       : f->function;
}

static bool is_wanted(const struct coding *c, const struct frame_info *f)
{
	const struct reader *r = c->profile->reader;
	uint32_t depth = reader_site_depth(r, f->site), line;

	if (c->wanted[f->function])
		return true;
	for (uint32_t i = 1; i < depth; i++)
		if (c->wanted[reader_site_function(r, f->site, i, &line)])
			return true;
	return false;
}

static void add_code(struct coding *c, uint32_t function, uint32_t module)
{
	if (c->code_of[function] != ID_NONE)
		return;
	ALLOC_GROW(c->out->items, c->out->n_items + 1, c->capacity);
	c->out->items[c->out->n_items] =
		(struct code){ .function = function, .module = module };
	c->code_of[function] = c->out->n_items++;
}

static void find_codes(struct coding *c)
{
	const struct reader *r = c->profile->reader;

	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info f = reader_frame(r, i);

		if (f.site != ID_NONE && is_wanted(c, &f))
			add_code(c, owner_of(r, &f),
				 reader_site(r, f.site).module);
	}
}

static void key_frames(struct coding *c)
{
	const struct reader *r = c->profile->reader;

	for (uint32_t i = 0; i < reader_frames(r); i++) {
		struct frame_info f = reader_frame(r, i);

		c->site_keys[i] = c->code_keys[i] = ID_NONE;
		if (f.site == ID_NONE)
			continue;
		c->code_keys[i] = c->code_of[owner_of(r, &f)];
		if (c->code_keys[i] != ID_NONE)
			c->site_keys[i] = f.site;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct code_site *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	if (x->cum.samples != y->cum.samples)
		return x->cum.samples < y->cum.samples ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* By site: the code that it is in. */
static uint32_t *codes_of_sites(const struct coding *c)
{
	const struct reader *r = c->profile->reader;
	uint32_t *codes = xcalloc(reader_sites(r), sizeof(*codes));

	for (uint32_t i = 0; i < reader_frames(r); i++)
		if (c->site_keys[i] != ID_NONE)
			codes[c->site_keys[i]] = c->code_keys[i];
	return codes;
}

/* Hand each site to its code: first count, then place. */
static void place_sites(struct coding *c, const struct shares *sites)
{
	uint32_t *codes = codes_of_sites(c);

	for (uint32_t i = 0; i < sites->n_items; i++)
		c->out->items[codes[sites->items[i].key]].n_sites++;
	for (uint32_t i = 0; i < sites->n_items; i++) {
		const struct key_share *s = &sites->items[i];
		struct code *code = &c->out->items[codes[s->key]];

		if (!code->sites) {
			code->sites = arena_calloc(c->arena, code->n_sites,
						   sizeof(*code->sites));
			code->n_sites = 0;
		}
		code->sites[code->n_sites++] = (struct code_site){
			s->key, reader_site(c->profile->reader, s->key).address,
			s->flat, s->cum
		};
	}
	free(codes);
}

static void fill_codes(struct coding *c)
{
	struct shares codes, sites;

	shares_count(&codes, c->profile, &c->tally, c->code_keys,
		     c->out->n_items, BY_CUM, c->arena);
	shares_count(&sites, c->profile, &c->tally, c->site_keys,
		     reader_sites(c->profile->reader), BY_FLAT, c->arena);
	for (uint32_t i = 0; i < codes.n_items; i++) {
		c->out->items[codes.items[i].key].flat = codes.items[i].flat;
		c->out->items[codes.items[i].key].cum = codes.items[i].cum;
	}
	place_sites(c, &sites);
}

/* In order, those with samples only, and in the arena. */
static void keep_codes(struct coding *c)
{
	struct codes *out = c->out;
	struct code *kept =
		arena_calloc(c->arena, (size_t)out->n_items + 1, sizeof(*kept));
	uint32_t n = 0;

	for (uint32_t i = 0; i < out->n_items; i++) {
		struct code *code = &out->items[i];

		if (!code->n_sites)
			continue;
		qsort(code->sites, code->n_sites, sizeof(*code->sites),
		      by_address);
		kept[n++] = *code;
	}
	if (n)
		qsort(kept, n, sizeof(*kept), heaviest_first);
	free(out->items);
	out->items = kept;
	out->n_items = n;
}

static void count_found(struct coding *c, const struct callers_found *found)
{
	const struct reader *r = c->profile->reader;
	uint32_t functions = reader_functions(r), frames = reader_frames(r);

	c->wanted = xcalloc(functions, sizeof(*c->wanted));
	c->code_of = xcalloc(functions, sizeof(*c->code_of));
	c->site_keys = xcalloc(frames, sizeof(*c->site_keys));
	c->code_keys = xcalloc(frames, sizeof(*c->code_keys));
	for (uint32_t i = 0; i < functions; i++)
		c->code_of[i] = ID_NONE;
	for (uint32_t i = 0; i < found->n_functions; i++)
		c->wanted[found->functions[i]] = true;
	find_codes(c);
	key_frames(c);
	fill_codes(c);
	keep_codes(c);
	free(c->wanted);
	free(c->code_of);
	free(c->site_keys);
	free(c->code_keys);
}

int codes_count(struct codes *out, struct profile *p, const char *pattern,
		struct arena *arena, struct error *err)
{
	struct coding c = { .profile = p, .arena = arena, .out = out };
	struct callers_found found;
	int status = callers_find(&found, p, pattern, arena, err);

	*out = (struct codes){ 0 };
	if (!status)
		status = tally_count(&c.tally, p, arena, err);
	if (!status)
		count_found(&c, &found);
	return status;
}
