/* Sections of stubs differ by linker and by its options (.plt, .plt.sec,
 * .plt.got, lazy or not, marked for branch protection or not), so none of that
 * is taken for granted: the code is searched for the jumps themselves. */
#include "elf/plt.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"

#define SLOTS_MAX 2000000     /* relocations looked at */
#define CODE_MAX  (16u << 20) /* bytes of a section of stubs */
#define NAME_MAX_ 4096

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#define STUB 16
#define UNIT 8 /* stubs begin at multiples of this */
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#define STUB 16
#define UNIT 8
#endif

struct slots {
	struct map by_address; /* of the slot: index into names */
	const char **names;
	uint32_t count;
};

#if defined(__x86_64__)

/* jmp *offset(%rip), perhaps behind endbr64 and with a bnd prefix. */
static bool decode(const unsigned char *code, size_t size, uint64_t address,
		   uint64_t *slot)
{
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t offset;

	if (size > 4 && !memcmp(code, mark, 4))
		at = 4;
	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&offset, code + at + 2, 4);
	*slot = address + at + 6 + (uint64_t)(int64_t)offset;
	return true;
}

#else

/* adrp x16, page; ldr x17, [x16, offset], perhaps behind bti c. */
static bool decode(const unsigned char *code, size_t size, uint64_t address,
		   uint64_t *slot)
{
	uint32_t words[3] = { 0 };
	uint64_t page;

	memcpy(words, code, size < 12 ? size : 12);
	if (words[0] == 0xd503245f) {
		memmove(words, words + 1, 8);
		address += 4;
	}
	if ((words[0] & 0x9f00001f) != 0x90000010 ||
	    (words[1] & 0xffc003ff) != 0xf9400211)
		return false;
	page = (uint64_t)(words[0] >> 5 & 0x7ffff) << 14 |
	       (uint64_t)(words[0] >> 29 & 3) << 12;
	if (page >> 32 & 1) /* 33 bits with a sign */
		page |= ~0ull << 33;
	*slot = (address & ~0xfffull) + page +
		((uint64_t)(words[1] >> 10 & 0xfff) << 3);
	return true;
}

#endif

/* The symbol of a relocation, through the table that its section names. */
static const char *name_of(Elf *elf, const GElf_Shdr *relocations,
			   const GElf_Rela *r)
{
	Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr h;
	GElf_Sym symbol;
	const char *name;

	if (!data || !gelf_getshdr(section, &h) ||
	    !gelf_getsym(data, (int)GELF_R_SYM(r->r_info), &symbol))
		return NULL;
	name = elf_strptr(elf, h.sh_link, symbol.st_name);
	return name && name[0] ? name : NULL;
}

static void add_slots(struct slots *s, struct arena *arena, Elf *elf,
		      Elf_Scn *section, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

	if (!data || n > SLOTS_MAX)
		return;
	s->names = arena_calloc(arena, n + 1, sizeof(*s->names));
	s->count = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Rela r;
		const char *name;

		if (!gelf_getrela(data, (int)i, &r) ||
		    (GELF_R_TYPE(r.r_info) != JUMP_SLOT &&
		     GELF_R_TYPE(r.r_info) != GLOB_DAT) ||
		    !(name = name_of(elf, h, &r)))
			continue;
		s->names[s->count] = name;
		map_put(&s->by_address, r.r_offset, 0, s->count++);
	}
}

static void add_stub(struct symbol_table *t, const char *name, uint64_t address,
		     uint64_t size)
{
	char text[NAME_MAX_];

	if (strlen(name) > sizeof(text) - 8)
		return;
	snprintf(text, sizeof(text), "%s@plt", name);
	symbol_table_add_named(t, address, size, text);
}

/* One section of code against the slots of one section of relocations. */
static void add_stubs(struct symbol_table *t, const struct slots *s,
		      Elf_Scn *section, const GElf_Shdr *h)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	size_t size = data && data->d_buf ? data->d_size : 0;
	size_t step = h->sh_entsize == 8 ? 8 : STUB;

	if (size > CODE_MAX)
		return;
	for (size_t at = 0; at + UNIT <= size; at += step) {
		uint64_t slot;
		uint32_t i;

		if (!decode((unsigned char *)data->d_buf + at,
			    size - at < step ? size - at : step,
			    h->sh_addr + at, &slot))
			continue;
		i = map_get(&s->by_address, slot, 0);
		if (i != MAP_NONE)
			add_stub(t, s->names[i], h->sh_addr + at, step);
	}
}

static bool is_stubs(Elf *elf, size_t names, const GElf_Shdr *h)
{
	const char *name = elf_strptr(elf, names, h->sh_name);

	return name && !strncmp(name, ".plt", 4) &&
	       h->sh_type == SHT_PROGBITS && h->sh_flags & SHF_EXECINSTR;
}

static void add_all_stubs(struct symbol_table *t, const struct slots *s,
			  Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr h;

	if (!s->by_address.count || elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &h) && is_stubs(elf, names, &h))
			add_stubs(t, s, section, &h);
}

void plt_add(struct symbol_table *t, struct Elf *elf)
{
	struct arena arena = ARENA_INIT;
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(elf, section))) {
		struct slots s = { MAP_INIT, NULL, 0 };

		if (!gelf_getshdr(section, &h) || h.sh_type != SHT_RELA)
			continue;
		add_slots(&s, &arena, elf, section, &h);
		add_all_stubs(t, &s, elf);
		map_release(&s.by_address);
	}
	arena_release(&arena);
}
