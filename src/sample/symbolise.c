/* Sites are sorted by module and address: each file is opened once, its debug
 * information is read by one process (elf/lookup.h) from front to back, and all
 * of it is gone before the next one is opened. */
#include "sample/symbolise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "elf/kallsyms.h"
#include "elf/symbols.h"
#include "sample/inlined.h"
#include "sample/jit.h"

#define DEPTH_MAX      32 /* functions at one site that a recording holds */
#define PROGRESS_EVERY (NS_PER_SECOND / 10)
#define KERNEL	       "[kernel]"

struct site {
	uint32_t id, module;
	uint64_t address;
	enum function_kind kind;
};

/* What is needed of a module, as the recording may move its own. */
struct place {
	uint32_t module;
	const char *path, *build_id;
	uint64_t bias;
};

/* One pass over a recording. */
struct pass {
	struct writer *writer; /* or */
	struct reader *reader;
	const struct symbolise_options *options;
	struct symbolise_counts *counts;
	struct site *sites;
	size_t n_sites, sites_capacity, done;
	struct place *places;
	size_t n_places, places_capacity;
	struct arena texts;
	struct jit *jit;
	uint64_t last_progress;
};

/* ---- what there is to do ---- */

/* Sites come in the order of their ids and modules repeat, so most are among
 * the last ones; there are some hundreds at most. */
static void remember_place(struct pass *p, uint32_t module,
			   const struct module_info *info)
{
	for (size_t i = p->n_places; i-- > 0;)
		if (p->places[i].module == module)
			return;
	ALLOC_GROW(p->places, p->n_places + 1, p->places_capacity);
	p->places[p->n_places++] = (struct place){
		module,
		arena_strdup(&p->texts, info->path),
		arena_strdup(&p->texts, info->build_id),
		info->bias,
	};
}

static void take_site(void *context, uint32_t id, const struct site_info *info,
		      const struct module_info *module)
{
	struct pass *p = context;

	if (module)
		remember_place(p, info->module, module);
	ALLOC_GROW(p->sites, p->n_sites + 1, p->sites_capacity);
	p->sites[p->n_sites++] =
		(struct site){ id, module ? info->module : ID_NONE,
			       info->address, info->kind };
}

/* The kernel's last, then by module and address. */
static int compare(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	bool kernel_x = x->kind == FUNCTION_KERNEL,
	     kernel_y = y->kind == FUNCTION_KERNEL;

	if (kernel_x != kernel_y)
		return kernel_x - kernel_y;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static const struct place *place_of(const struct pass *p, uint32_t module)
{
	for (size_t i = 0; i < p->n_places; i++)
		if (p->places[i].module == module)
			return &p->places[i];
	return NULL;
}

static bool stopped(const struct pass *p)
{
	return p->options->stop && *p->options->stop;
}

static void tell(struct pass *p, bool always)
{
	uint64_t now = clock_now();

	if (!p->options->progress ||
	    (!always && now - p->last_progress < PROGRESS_EVERY))
		return;
	p->last_progress = now;
	p->options->progress(p->options->context, p->done, p->n_sites);
}

/* ---- what is found ---- */

static void set(struct pass *p, uint32_t site,
		const struct function_info *functions, const uint32_t *lines,
		uint32_t n)
{
	if (p->writer)
		writer_symbol(p->writer, site, functions, lines, n);
	else
		reader_set_symbols(p->reader, site, functions, lines, n);
	p->counts->named += n > 0;
}

static void set_name(struct pass *p, const struct site *s, const char *name,
		     const char *module)
{
	struct function_info f = { name, "", 0, s->kind, module };
	uint32_t line = 0;

	set(p, s->id, &f, &line, 1);
}

static void set_symbols(struct pass *p, const struct site *s,
			const struct symbol *symbols, uint32_t n)
{
	struct function_info functions[DEPTH_MAX];
	uint32_t lines[DEPTH_MAX];

	for (uint32_t i = 0; i < n; i++) {
		functions[i] = (struct function_info){ symbols[i].name,
						       symbols[i].file,
						       symbols[i].first_line,
						       s->kind, "" };
		lines[i] = symbols[i].line;
	}
	set(p, s->id, functions, lines, n);
}

/* ---- files ---- */

/* The file as one of the targets has it; its build id tells whether it is the
 * right one. */
static struct symbols *open_file(const struct pass *p, const char *path,
				 const char *build_id)
{
	const struct symbolise_targets *t = p->options->targets;
	struct symbols *s = NULL;

	for (size_t i = 0; t && i < t->count && !s; i++) {
		char *root;

		if (t->items[i].root < 0)
			continue;
		root = xasprintf("/proc/self/fd/%d", t->items[i].root);
		symbols_open(&s, root, path, build_id, NULL);
		free(root);
	}
	if (!s)
		symbols_open(&s, NULL, path, build_id, NULL);
	return s;
}

/* A file that was replaced under a running program is named so; another one
 * with its build id may be there by now. */
static struct symbols *open_place(const struct pass *p,
				  const struct place *place)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(place->path), m = sizeof(deleted) - 1;
	struct symbols *s;
	char *path;

	if (p->reader && !place->build_id[0])
		return NULL;
	path = xstrdup(place->path);
	if (n > m && !strcmp(path + n - m, deleted))
		path[n - m] = '\0';
	s = open_file(p, path, place->build_id);
	free(path);
	return s;
}

/* All addresses of a function without a name get one name: where it begins. */
static void set_start(struct pass *p, struct symbols *s,
		      const struct place *place, const struct site *site)
{
	uint64_t start;
	char *name;

	if (!symbols_start(s, site->address, &start))
		return;
	name = xasprintf("%s+%#" PRIx64, path_base(place->path), start);
	set_name(p, site, name, "");
	free(name);
}

static void look_up_file(struct pass *p, const struct place *place,
			 const struct site *sites, size_t n)
{
	struct symbols *s = open_place(p, place);
	struct symbol found[DEPTH_MAX];
	bool fold = !p->options->internals;
	bool interpreter = s && fold && inlined_is_interpreter(s);

	p->counts->modules++;
	p->counts->missing += !s;
	p->counts->without_lines += s && !symbols_has_lines(s);
	if (s)
		symbols_limit(s, 0, p->options->stop);
	for (size_t i = 0; s && i < n && !stopped(p); i++) {
		uint32_t depth =
			symbols_find(s, sites[i].address, found, DEPTH_MAX);

		if (fold)
			depth = inlined_fold(found, depth, interpreter);
		if (depth)
			set_symbols(p, &sites[i], found, depth);
		else
			set_start(p, s, place, &sites[i]);
		p->done++;
		tell(p, false);
	}
	symbols_free(s);
}

/* ---- code that is in no file ---- */

static void look_up_jit(struct pass *p, const struct place *place,
			const struct site *sites, size_t n)
{
	if (!p->jit)
		p->jit = jit_new(p->options->targets);
	for (size_t i = 0; i < n && !stopped(p); i++) {
		const char *name =
			jit_find(p->jit, place ? place->path : "",
				 sites[i].address + (place ? place->bias : 0));

		if (name)
			set_name(p, &sites[i], name, "");
	}
}

static void look_up_kernel(struct pass *p, const struct site *sites, size_t n)
{
	struct code_names names = CODE_NAMES_INIT;

	if (kallsyms_read(&names, NULL) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct code_piece *piece =
			code_names_find(&names, sites[i].address);
		const char *owner =
			piece ? code_names_text(&names, piece->owner) : "";

		if (piece)
			set_name(p, &sites[i],
				 code_names_text(&names, piece->name),
				 owner[0] ? owner : KERNEL);
	}
	code_names_release(&names);
}

/* ---- all of it ---- */

/* Sites of one module and one kind. */
static void look_up(struct pass *p, const struct site *sites, size_t n)
{
	const struct place *place = place_of(p, sites->module);
	size_t before = p->done;

	if (sites->kind == FUNCTION_KERNEL) {
		if (p->writer)
			look_up_kernel(p, sites, n);
	} else if (place && !jit_is_module(place->path)) {
		look_up_file(p, place, sites, n);
	} else if (p->writer) {
		look_up_jit(p, place, sites, n);
	}
	p->counts->sites += (uint32_t)n;
	p->done = before + n;
	tell(p, false);
}

static bool same_place(const struct site *a, const struct site *b)
{
	return a->module == b->module &&
	       (a->kind == FUNCTION_KERNEL) == (b->kind == FUNCTION_KERNEL);
}

static void run(struct pass *p)
{
	*p->counts = (struct symbolise_counts){ 0 };
	if (p->n_sites) {
		qsort(p->sites, p->n_sites, sizeof(*p->sites), compare);
		tell(p, true);
	}
	for (size_t i = 0, n; i < p->n_sites && !stopped(p); i += n) {
		for (n = 1; i + n < p->n_sites &&
			    same_place(&p->sites[i], &p->sites[i + n]);
		     n++)
			;
		look_up(p, &p->sites[i], n);
	}
	p->counts->stopped = stopped(p);
	jit_free(p->jit);
	free(p->sites);
	free(p->places);
	arena_release(&p->texts);
}

void symbolise_writer(struct writer *w, const struct symbolise_options *o,
		      struct symbolise_counts *counts)
{
	struct pass p = { .writer = w, .options = o, .counts = counts };

	writer_each_site(w, take_site, &p);
	run(&p);
}

bool symbolise_wanted(const struct reader *r)
{
	const struct recording_info *info = reader_info(r);

	return reader_unnamed_sites(r) &&
	       (!info->complete || !strcmp(info->note, SYMBOLISE_NOTE));
}

void symbolise_reader(struct reader *r, const struct symbolise_options *o,
		      struct symbolise_counts *counts)
{
	struct pass p = { .reader = r, .options = o, .counts = counts };

	reader_each_site(r, take_site, &p);
	run(&p);
	if (counts->named)
		reader_resolve(r);
}
