#include "elf/symbol_table.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SYMBOLS_MAX 10000000 /* looked at in all tables of a file */
#define BACK_MAX    64	     /* nested symbols passed on the way back */

/* One symbol table under way. */
struct source {
	Elf *elf;
	GElf_Shdr header;
	Elf_Data *data, *wide_sections;
};

/* Weak and local names are often aliases inside a library; people know the
 * global one, and of two global ones that with fewer underscores: malloc and
 * not __libc_malloc. */
static uint8_t rank_of(const GElf_Sym *symbol, const char *name)
{
	static const uint8_t by_binding[] = {
		[STB_LOCAL] = 0, [STB_GLOBAL] = 2, [STB_WEAK] = 1
	};
	unsigned binding = GELF_ST_BIND(symbol->st_info);
	uint8_t rank = binding < 3 ? by_binding[binding] : 2;

	rank = (uint8_t)(rank * 4 + 3 -
			 (strspn(name, "_") < 3 ? strspn(name, "_") : 3));
	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		rank |= 32;
	if (symbol->st_size)
		rank |= 64;
	return rank;
}

/* Labels of assembler files have no type; $x and the like mark data in code on
 * ARM, and .L are a compiler's own. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || !name[0])
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && symbol->st_shndx < SHN_LORESERVE &&
	       name[0] != '$' && name[0] != '.';
}

/* The end of the executable section that the symbol is in; 0: no code. */
static uint64_t section_end(const struct source *s, const GElf_Sym *symbol,
			    Elf32_Word wide)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? wide : symbol->st_shndx;
	GElf_Shdr h;

	if (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX)
		return 0;
	if (!gelf_getshdr(elf_getscn(s->elf, index), &h) ||
	    !(h.sh_flags & SHF_EXECINSTR) || symbol->st_value < h.sh_addr ||
	    symbol->st_value - h.sh_addr >= h.sh_size ||
	    h.sh_addr + h.sh_size < h.sh_addr)
		return 0;
	return h.sh_addr + h.sh_size;
}

static void add_symbol(struct symbol_table *t, const struct source *s, int i)
{
	GElf_Sym symbol;
	Elf32_Word wide = 0;
	const char *name;
	uint64_t end;

	if (!gelf_getsymshndx(s->data, s->wide_sections, i, &symbol, &wide) ||
	    !(name = elf_strptr(s->elf, s->header.sh_link, symbol.st_name)) ||
	    !is_function(&symbol, name) ||
	    !(end = section_end(s, &symbol, wide)))
		return;
	if (symbol.st_size && symbol.st_size < end - symbol.st_value)
		end = symbol.st_value + symbol.st_size;
	if (symbol.st_size && end - symbol.st_value > t->longest)
		t->longest = end - symbol.st_value;
	ALLOC_GROW(t->items, t->count + 1, t->capacity);
	t->items[t->count++] =
		(struct table_symbol){ symbol.st_value, end, name,
				       rank_of(&symbol, name),
				       symbol.st_size != 0 };
}

/* The table of section numbers that do not fit, which belongs to a symbol table
 * of a file with very many sections. */
static Elf_Data *wide_sections(Elf *elf, size_t table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &h) &&
		    h.sh_type == SHT_SYMTAB_SHNDX && h.sh_link == table)
			return elf_getdata(section, NULL);
	return NULL;
}

static void add_table(struct symbol_table *t, Elf *elf, Elf_Scn *section,
		      const GElf_Shdr *h)
{
	struct source s = { elf, *h, elf_getdata(section, NULL), NULL };
	size_t n = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

	if (!s.data || n > SYMBOLS_MAX - t->looked_at)
		return;
	t->looked_at += n;
	s.wide_sections = wide_sections(elf, elf_ndxscn(section));
	for (size_t i = 0; i < n; i++)
		add_symbol(t, &s, (int)i);
}

void symbol_table_add(struct symbol_table *t, struct Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &h) &&
		    (h.sh_type == SHT_SYMTAB || h.sh_type == SHT_DYNSYM))
			add_table(t, elf, section, &h);
	t->sorted = false;
}

void symbol_table_add_named(struct symbol_table *t, uint64_t address,
			    uint64_t size, const char *name)
{
	if (!size || address + size < address || t->looked_at >= SYMBOLS_MAX)
		return;
	t->looked_at++;
	if (size > t->longest)
		t->longest = size;
	ALLOC_GROW(t->items, t->count + 1, t->capacity);
	t->items[t->count++] = (struct table_symbol){
		address, address + size, arena_strdup(&t->texts, name),
		0,	 true,		 true
	};
	t->sorted = false;
}

void symbol_table_release(struct symbol_table *t)
{
	free(t->items);
	arena_release(&t->texts);
	*t = (struct symbol_table)SYMBOL_TABLE_INIT;
}

/* Of several at an address, the one to show comes first. */
static int compare(const void *a, const void *b)
{
	const struct table_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool same(const struct table_symbol *a, const struct table_symbol *b)
{
	return a->address == b->address && !strcmp(a->name, b->name);
}

/* Tables repeat each other. Those that do not say where they end do so where
 * the next one begins. */
void symbol_table_sort(struct symbol_table *t)
{
	uint64_t next = UINT64_MAX;
	size_t kept = 0;

	if (t->sorted)
		return;
	if (t->count)
		qsort(t->items, t->count, sizeof(*t->items), compare);
	for (size_t i = 0; i < t->count; i++)
		if (!kept || !same(&t->items[kept - 1], &t->items[i]))
			t->items[kept++] = t->items[i];
	t->count = kept;
	for (size_t i = kept; i-- > 0;) {
		struct table_symbol *s = &t->items[i];

		if (i + 1 < kept && s[1].address != s->address)
			next = s[1].address;
		if (!s->sized && s->end > next)
			s->end = next;
	}
	t->sorted = true;
}

/* The number of symbols that begin at or before the address. */
static size_t count_before(const struct symbol_table *t, uint64_t address)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The one to show of those at the same address. */
static const struct table_symbol *best(const struct symbol_table *t, size_t i,
				       uint64_t address)
{
	const struct table_symbol *found = &t->items[i];

	while (i-- > 0 && t->items[i].address == found->address)
		if (address < t->items[i].end)
			found = &t->items[i];
	return found;
}

/* A function may hold labels and other functions: go back as far as one can
 * reach. What says where it ends is preferred. */
const struct table_symbol *symbol_table_find(struct symbol_table *t,
					     uint64_t address)
{
	const struct table_symbol *found = NULL;
	size_t i;

	symbol_table_sort(t);
	i = count_before(t, address);
	for (size_t n = 0; i > 0 && n < BACK_MAX; n++) {
		const struct table_symbol *s = &t->items[--i];

		if (address < s->end && (s->sized || !found))
			found = best(t, i, address);
		if (found && found->sized)
			break;
		if (address - s->address >= t->longest)
			break;
	}
	return found;
}
