/* libdw and not libdwfl. libdwfl would find the files and the symbols too, but
 * by paths of this machine and not below the target's root; it opens whatever a
 * file names, unpacks without a limit, looks for a symbol by going through all
 * of them, and for a unit by .debug_aranges, which clang and rustc do not
 * write. What is left to do here is little:
 *
 * - An index of the units' address ranges, made once.
 * - For each unit that is asked for, an index of its functions and, behind each
 *   function, of the calls that were inlined into it, in the order of the tree:
 *   what holds an address is then a chain, outermost first. libdw's own
 *   dwarf_getscopes goes through the whole unit for every address, and with
 *   link-time optimisation a unit is a whole library.
 * - The line of the innermost frame comes from the line table, that of every
 *   other from the call site of the one inside it. */
#include "elf/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "elf/debuginfo_private.h"
#include "elf/demangle.h"

#define RANGES_MAX  20000000 /* of all units of a file */
#define OVERLAP_MAX 64 /* ranges that begin before an address and end too */

static void add_unit(struct debuginfo *d, const Dwarf_Die *die, Dwarf_CU *cu)
{
	Dwarf_Addr base = 0, low, high;
	uint32_t unit = d->n_units;
	ptrdiff_t at = 0;

	ALLOC_GROW(d->units, d->n_units + 1, d->units_capacity);
	d->units[d->n_units++] = (struct unit){ .die = *die, .cu = cu };
	while ((at = dwarf_ranges((Dwarf_Die *)die, at, &base, &low, &high)) >
		       0 &&
	       d->n_ranges < RANGES_MAX) {
		if (low <= 1 || low >= high) /* dropped by the linker */
			continue;
		ALLOC_GROW(d->ranges, d->n_ranges + 1, d->ranges_capacity);
		d->ranges[d->n_ranges++] = (struct range){ low, high, unit };
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void index_units(struct debuginfo *d)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;

	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(d, &die, cu);
	if (d->n_ranges)
		qsort(d->ranges, d->n_ranges, sizeof(*d->ranges),
		      compare_ranges);
}

/* The item of `ranges` that holds the address and begins last, or NULL. */
const struct range *range_find(const struct range *ranges, size_t n,
			       uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; low > 0 && back < OVERLAP_MAX; back++)
		if (address < ranges[--low].high)
			return &ranges[low];
	return NULL;
}

/* With this in the place of the file that cannot be found, libdw does not look
 * for it by itself, which is to open whatever path a file names. */
static Dwarf *empty_dwarf(struct debuginfo *d)
{
	static const char names[] = "\0.debug_line\0.shstrtab";
	enum { HEADER = sizeof(Elf64_Ehdr), SECTION = sizeof(Elf64_Shdr) };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = HEADER,
		.e_ehsize = HEADER,
		.e_shentsize = SECTION,
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_offset = HEADER + 3 * SECTION,
		  .sh_size = 1,
		  .sh_addralign = 1 },
		{ .sh_name = 13,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = HEADER + 3 * SECTION,
		  .sh_size = sizeof(names),
		  .sh_addralign = 1 },
	};

	memcpy(d->empty, &header, HEADER);
	memcpy(d->empty + HEADER, sections, 3 * SECTION);
	memcpy(d->empty + HEADER + 3 * SECTION, names, sizeof(names));
	return dwarf_begin_elf(elf_memory(d->empty,
					  HEADER + 3 * SECTION + sizeof(names)),
			       DWARF_C_READ, NULL);
}

static bool set_shared(struct debuginfo *d, Elf *elf, const char *path,
		       const struct debug_roots *roots)
{
	Dwarf *shared = NULL;
	int fd;

	if (!debugfile_has_section(elf, ".gnu_debugaltlink"))
		return true;
	fd = debugfile_shared(roots, elf, path);
	if (fd >= 0)
		shared = dwarf_begin(fd, DWARF_C_READ);
	if (!shared)
		shared = empty_dwarf(d);
	if (shared)
		dwarf_setalt(d->dwarf, shared);
	return shared;
}

/* What is opened here is kept until the process ends. */
struct debuginfo *debuginfo_open(int fd, const char *path,
				 const struct debug_roots *roots,
				 bool host_files)
{
	struct debuginfo *d = xcalloc(1, sizeof(*d));
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	d->host_files = host_files;
	d->host = roots->host;
	d->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!d->dwarf || !set_shared(d, elf, path, roots)) {
		dwarf_end(d->dwarf);
		elf_end(elf);
		free(d);
		return NULL;
	}
	index_units(d);
	return d;
}

/* What C and most others call it; what C++, Rust and the modules of Fortran do
 * is in the name for the linker. */
static char *name_of(Dwarf_Die *die)
{
	static const unsigned kinds[] = { DW_AT_linkage_name,
					  DW_AT_MIPS_linkage_name, DW_AT_name };

	for (size_t i = 0; i < 3; i++) {
		Dwarf_Attribute attribute;
		const char *name = dwarf_formstring(
			dwarf_attr_integrate(die, kinds[i], &attribute));

		if (name &&
		    (demangle_is_mangled(name) || kinds[i] == DW_AT_name))
			return demangle(name);
	}
	return NULL;
}

/* A path without "." and "..", as far as its text tells; absolute if the
 * folder is. */
static char *clean_path(const char *folder, const char *file)
{
	bool whole = file[0] == '/' || !folder;
	char *path = whole ? xstrdup(file) : xasprintf("%s/%s", folder, file);
	char *rest = path, *out = path, *part;
	bool rooted = path[0] == '/';

	while ((part = strsep(&rest, "/"))) {
		size_t n = strlen(part);

		if (!n || !strcmp(part, "."))
			continue;
		if (!strcmp(part, "..") && (out > path || rooted)) {
			while (out > path && *--out != '/')
				;
			continue;
		}
		if (out > path || rooted)
			*out++ = '/';
		memmove(out, part, n);
		out += n;
	}
	*out = '\0';
	return path;
}

static char *path_in(struct unit *unit, const char *file)
{
	Dwarf_Attribute attribute;

	return file ? clean_path(dwarf_formstring(dwarf_attr(&unit->die,
							     DW_AT_comp_dir,
							     &attribute)),
				 file)
		    : NULL;
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word value = 0;

	if (!attribute || dwarf_formudata(attribute, &value) ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* The file that an attribute names by its number, in the list of the unit that
 * the attribute stands in: with link-time optimisation that is not always the
 * unit of the code. */
static char *file_of(struct unit *unit, Dwarf_Attribute *attribute)
{
	Dwarf_Die die;
	Dwarf_Files *files;
	size_t n;
	uint32_t i = number_of(attribute);

	if (!attribute ||
	    dwarf_cu_info(attribute->cu, NULL, NULL, &die, NULL, NULL, NULL,
			  NULL) ||
	    dwarf_getsrcfiles(&die, &files, &n) || i >= n)
		return NULL;
	return path_in(unit, dwarf_filesrc(files, i, NULL, NULL));
}

/* The line number at which the function was declared, if that is in the same
 * file as the line shown. */
static uint32_t first_line(struct unit *unit, Dwarf_Die *die, const char *file)
{
	Dwarf_Attribute attribute;
	char *declared =
		file_of(unit,
			dwarf_attr_integrate(die, DW_AT_decl_file, &attribute));
	bool same = declared && file && !strcmp(declared, file);

	free(declared);
	return same ? number_of(dwarf_attr_integrate(die, DW_AT_decl_line,
						     &attribute))
		    : 0;
}

/* Where the inlined `callee` was called. */
static void set_call_site(struct unit *unit, Dwarf_Die *callee,
			  struct debuginfo_frame *f)
{
	Dwarf_Attribute a;

	f->line = number_of(dwarf_attr(callee, DW_AT_call_line, &a));
	f->file = file_of(unit, dwarf_attr(callee, DW_AT_call_file, &a));
}

static void set_line(struct unit *unit, uint64_t address,
		     struct debuginfo_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number = 0;

	if (!line)
		return;
	f->file = path_in(unit, dwarf_linesrc(line, NULL, NULL));
	if (f->file && dwarf_lineno(line, &number) == 0 && number > 0)
		f->line = (uint32_t)number;
}

uint32_t debuginfo_find(struct debuginfo *d, uint64_t address,
			struct debuginfo_frame *frames, uint32_t max)
{
	const struct range *range = range_find(d->ranges, d->n_ranges, address);
	struct unit *unit = range ? &d->units[range->owner] : NULL;
	Dwarf_Die chain[CHAIN_MAX], *callee = NULL;
	uint32_t n = 0, depth;

	if (!unit)
		return 0;
	depth = unit_chain(d, unit, address, chain);
	do {
		struct debuginfo_frame *f = &frames[n++];

		*f = (struct debuginfo_frame){ .inlined = depth > 1 };
		if (callee)
			set_call_site(unit, callee, f);
		else
			set_line(unit, address, f);
		if (!depth)
			break;
		callee = &chain[--depth];
		f->name = name_of(callee);
		f->first_line = first_line(unit, callee, f->file);
	} while (depth && n < max);
	return n;
}
