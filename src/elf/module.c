#include "elf/module.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#error "Pyrometer knows x86-64 and aarch64"
#endif

#define SYMBOLS_MAX 10000000 /* looked at in one file */

struct module {
	int fd;
	Elf *elf;
};

int module_open_by(struct module **out, const struct opener *opener,
		   const struct mapping *mapping)
{
	int fd = opener_open(opener, mapping);
	struct module *m;
	GElf_Ehdr header;

	if (fd < 0)
		return -ERR_NOT_FOUND;
	elf_version(EV_CURRENT);
	m = xcalloc(1, sizeof(*m));
	m->fd = fd;
	m->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!m->elf || elf_kind(m->elf) != ELF_K_ELF ||
	    !gelf_getehdr(m->elf, &header) || header.e_machine != MACHINE ||
	    gelf_getclass(m->elf) != ELFCLASS64) {
		module_free(m);
		return -ERR_NOT_FOUND;
	}
	*out = m;
	return 0;
}

int module_open_mapped(struct module **out, pid_t pid,
		       const struct mapping *mapping)
{
	struct process_opener files = opener_of_process(pid);

	return module_open_by(out, &files.opener, mapping);
}

void module_free(struct module *m)
{
	if (!m)
		return;
	elf_end(m->elf);
	close(m->fd);
	free(m);
}

/* The kernel maps whole pages: a segment at file offset o and address v lies at
 * start + (o - mapping offset), rounded down to the page. */
uint64_t module_bias(const struct module *m, const struct mapping *mapping)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t n = 0;

	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(m->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		if (mapping->offset >= (p.p_offset & -page) &&
		    mapping->offset < p.p_offset + p.p_filesz)
			return mapping->start - mapping->offset + p.p_offset -
			       p.p_vaddr;
	}
	return mapping->start - mapping->offset;
}

bool module_section(const struct module *m, const char *name, uint64_t *address,
		    uint64_t *size)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(m->elf, &names))
		return false;
	while ((section = elf_nextscn(m->elf, section))) {
		const char *found;
		GElf_Shdr h;

		if (!gelf_getshdr(section, &h))
			continue;
		found = elf_strptr(m->elf, names, h.sh_name);
		if (found && !strcmp(found, name)) {
			*address = h.sh_addr;
			*size = h.sh_size;
			return true;
		}
	}
	return false;
}

/* `left`: how many symbols may be looked at yet. */
static size_t look_up(Elf *elf, Elf_Scn *section, const GElf_Shdr *h,
		      const char *const *names, uint64_t *values, size_t n,
		      size_t *left)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t found = 0,
	       count = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

	if (!data || count > *left)
		return 0;
	*left -= count;
	for (size_t i = 0; i < count; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    symbol.st_shndx == SHN_UNDEF || !symbol.st_value)
			continue;
		name = elf_strptr(elf, h->sh_link, symbol.st_name);
		for (size_t k = 0; name && k < n; k++)
			if (name[0] == names[k][0] && !values[k] &&
			    !strcmp(name, names[k])) {
				values[k] = symbol.st_value;
				found++;
			}
	}
	return found;
}

size_t module_symbols(const struct module *m, const char *const *names,
		      uint64_t *values, size_t n)
{
	static const uint32_t tables[] = { SHT_DYNSYM, SHT_SYMTAB };
	size_t found = 0, left = SYMBOLS_MAX;

	memset(values, 0, n * sizeof(*values));
	for (size_t t = 0; t < 2 && found < n; t++) {
		Elf_Scn *section = NULL;
		GElf_Shdr h;

		while ((section = elf_nextscn(m->elf, section)))
			if (gelf_getshdr(section, &h) && h.sh_type == tables[t])
				found += look_up(m->elf, section, &h, names,
						 values, n, &left);
	}
	return found;
}

/* `left`: how many symbols may be looked at yet. */
static void visit_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *h,
			void (*visit)(void *, const char *, uint64_t, uint64_t),
			void *context, size_t *left)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

	if (!data || count > *left)
		return;
	*left -= count;
	for (size_t i = 0; i < count; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    symbol.st_shndx == SHN_UNDEF || !symbol.st_value ||
		    !symbol.st_size)
			continue;
		name = elf_strptr(elf, h->sh_link, symbol.st_name);
		if (name)
			visit(context, name, symbol.st_value, symbol.st_size);
	}
}

void module_each_symbol(const struct module *m,
			void (*visit)(void *context, const char *name,
				      uint64_t address, uint64_t size),
			void *context)
{
	size_t left = SYMBOLS_MAX;
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(m->elf, section)))
		if (gelf_getshdr(section, &h) &&
		    (h.sh_type == SHT_DYNSYM || h.sh_type == SHT_SYMTAB))
			visit_table(m->elf, section, &h, visit, context, &left);
}
