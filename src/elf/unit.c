/* The functions of one unit of debug information: see debuginfo.c. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/debuginfo_private.h"
#include "os/rooted.h"

#define DEPTH_MAX  200	    /* of the tree of a unit */
#define SCOPES_MAX 10000000 /* of one unit */

enum meaning { OTHER, FUNCTION, INLINED, CONTAINER };

static enum meaning meaning_of(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
		return FUNCTION;
	case DW_TAG_inlined_subroutine:
		return INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type: /* Rust and D define functions in types */
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return CONTAINER;
	default:
		return OTHER;
	}
}

static void add_function(struct unit *u, Dwarf_Die *die, uint32_t scope)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high || u->n_functions >= SCOPES_MAX)
			continue;
		ALLOC_GROW(u->functions, u->n_functions + 1,
			   u->functions_capacity);
		u->functions[u->n_functions++] =
			(struct range){ low, high, scope };
	}
}

static void add_inlined(struct unit *u, Dwarf_Die *die, uint32_t scope)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	u->scopes[scope].first_range = u->n_inlined;
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high || u->n_inlined >= SCOPES_MAX)
			continue;
		ALLOC_GROW(u->inlined, u->n_inlined + 1, u->inlined_capacity);
		u->inlined[u->n_inlined++] = (struct range){ low, high, scope };
	}
	u->scopes[scope].n_ranges = u->n_inlined - u->scopes[scope].first_range;
}

static uint32_t add_scope(struct unit *u, Dwarf_Die *die, enum meaning meaning)
{
	uint32_t scope = u->n_scopes++;

	ALLOC_GROW(u->scopes, u->n_scopes, u->scopes_capacity);
	u->scopes[scope] = (struct scope){ .die = *die };
	if (meaning == FUNCTION)
		add_function(u, die, scope);
	else
		add_inlined(u, die, scope);
	return scope;
}

static void collect(struct unit *u, Dwarf_Die *parent, int depth);

static void visit(struct unit *u, Dwarf_Die *die, int depth)
{
	enum meaning meaning = meaning_of(dwarf_tag(die));
	uint32_t scope = 0;

	if (meaning == OTHER || u->n_scopes >= SCOPES_MAX)
		return;
	if (meaning != CONTAINER)
		scope = add_scope(u, die, meaning);
	if (depth < DEPTH_MAX && dwarf_haschildren(die) > 0)
		collect(u, die, depth + 1);
	if (meaning != CONTAINER)
		u->scopes[scope].end = u->n_scopes;
}

static void collect(struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		visit(u, &die, depth);
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* The text of the attribute of a unit, or NULL. */
static const char *text_of(struct unit *u, unsigned kind)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(&u->die, kind, &attribute));
}

/* Whether the file that a skeleton names is a regular one. */
static bool has_split_file(const struct debuginfo *d, struct unit *u)
{
	const char *name = text_of(u, DW_AT_dwo_name), *folder;
	char path[PATH_MAX];
	int n, fd;

	if (!name)
		name = text_of(u, DW_AT_GNU_dwo_name);
	folder = text_of(u, DW_AT_comp_dir);
	if (!name)
		return false;
	n = snprintf(path, sizeof(path), "%s/%s",
		     name[0] == '/' || !folder ? "" : folder, name);
	if (n < 0 || n >= (int)sizeof(path))
		return false;
	fd = rooted_open(d->host, path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* libdw opens the file that a skeleton names by itself. The process may not
 * open any (lookup.c); for this it may, where the names are this machine's. */
static void find_split(struct debuginfo *d, struct unit *u)
{
	struct rlimit none, some;
	uint8_t type = 0;

	if (!d->host_files || getrlimit(RLIMIT_NOFILE, &none))
		return;
	some = (struct rlimit){ none.rlim_max, none.rlim_max };
	setrlimit(RLIMIT_NOFILE, &some);
	u->is_split = has_split_file(d, u) &&
		      dwarf_cu_info(u->cu, NULL, &type, NULL, &u->split, NULL,
				    NULL, NULL) == 0 &&
		      type == DW_UT_skeleton && u->split.addr;
	setrlimit(RLIMIT_NOFILE, &none);
}

Dwarf_Die *unit_body(struct unit *unit)
{
	return unit->is_split ? &unit->split : &unit->die;
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void index_unit(struct debuginfo *d, struct unit *u)
{
	u->indexed = true;
	if (dwarf_tag(&u->die) == DW_TAG_skeleton_unit ||
	    dwarf_hasattr(&u->die, DW_AT_GNU_dwo_name))
		find_split(d, u);
	collect(u, unit_body(u), 0);
	if (u->n_functions)
		qsort(u->functions, u->n_functions, sizeof(*u->functions),
		      compare);
}

static bool holds(const struct unit *u, const struct scope *s, uint64_t address)
{
	for (uint32_t i = 0; i < s->n_ranges; i++) {
		const struct range *r = &u->inlined[s->first_range + i];

		if (address >= r->low && address < r->high)
			return true;
	}
	return false;
}

uint32_t unit_chain(struct debuginfo *d, struct unit *unit, uint64_t address,
		    Dwarf_Die chain[CHAIN_MAX])
{
	const struct range *function;
	uint32_t n = 0;

	if (!unit->indexed)
		index_unit(d, unit);
	function = range_find(unit->functions, unit->n_functions, address);
	if (!function)
		return 0;
	chain[n++] = unit->scopes[function->owner].die;
	for (uint32_t i = function->owner + 1;
	     i < unit->scopes[function->owner].end && n < CHAIN_MAX; i++)
		if (holds(unit, &unit->scopes[i], address))
			chain[n++] = unit->scopes[i].die;
	return n;
}
