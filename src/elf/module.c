#include "elf/module.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
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

/* Takes the descriptor and the libelf handle over, whatever comes of it. */
static int open_elf(struct module **out, int fd, Elf *elf)
{
	struct module *m = xcalloc(1, sizeof(*m));
	GElf_Ehdr header;

	m->fd = fd;
	m->elf = elf;
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_machine != MACHINE || gelf_getclass(elf) != ELFCLASS64) {
		module_free(m);
		return -ERR_NOT_FOUND;
	}
	*out = m;
	return 0;
}

int module_open_by(struct module **out, const struct opener *opener,
		   const struct mapping *mapping)
{
	int fd = opener_open(opener, mapping);

	if (fd < 0)
		return -ERR_NOT_FOUND;
	elf_version(EV_CURRENT);
	return open_elf(out, fd, elf_begin(fd, ELF_C_READ_MMAP, NULL));
}

int module_open_mapped(struct module **out, pid_t pid,
		       const struct mapping *mapping)
{
	struct process_opener files = opener_of_process(pid);

	return module_open_by(out, &files.opener, mapping);
}

/* libelf asks for a pointer to bytes that may be changed, and changes none. */
int module_open_bytes(struct module **out, const void *bytes, size_t size)
{
	elf_version(EV_CURRENT);
	return open_elf(out, -1, elf_memory((char *)bytes, size));
}

void module_free(struct module *m)
{
	if (!m)
		return;
	elf_end(m->elf);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* The kernel maps whole pages: a segment at file offset o and address v lies at
 * start + (o - mapping offset), rounded down to the page. */
static uint64_t bias_by(const struct module *m, const struct mapping *mapping,
			uint32_t flags)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t n = 0;

	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(m->elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    (p.p_flags & flags) != flags)
			continue;
		if (mapping->offset >= (p.p_offset & -page) &&
		    mapping->offset < p.p_offset + p.p_filesz)
			return mapping->start - mapping->offset + p.p_offset -
			       p.p_vaddr;
	}
	return mapping->start - mapping->offset;
}

uint64_t module_bias(const struct module *m, const struct mapping *mapping)
{
	return bias_by(m, mapping, 0);
}

uint64_t module_code_bias(const struct module *m, const struct mapping *mapping)
{
	return bias_by(m, mapping, PF_X);
}

static Elf_Scn *find_section(const struct module *m, const char *name,
			     GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(m->elf, &names))
		return NULL;
	while ((section = elf_nextscn(m->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(m->elf, names, header->sh_name);
		if (found && !strcmp(found, name))
			return section;
	}
	return NULL;
}

bool module_section(const struct module *m, const char *name, uint64_t *address,
		    uint64_t *size)
{
	GElf_Shdr h;

	if (!find_section(m, name, &h))
		return false;
	*address = h.sh_addr;
	*size = h.sh_size;
	return true;
}

bool module_section_bytes(const struct module *m, const char *name,
			  struct module_bytes *out)
{
	GElf_Shdr h;
	Elf_Scn *section = find_section(m, name, &h);
	Elf_Data *data;

	if (!section || h.sh_type == SHT_NOBITS)
		return false;
	if (h.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return false;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return false;
	*out = (struct module_bytes){ data->d_buf, data->d_size, h.sh_addr };
	return true;
}

/* libelf gives only what lies within the file. */
static bool chunk(const struct module *m, uint64_t offset, uint64_t size,
		  uint64_t address, struct module_bytes *out)
{
	Elf_Data *data = elf_getdata_rawchunk(m->elf, (int64_t)offset,
					      (size_t)size, ELF_T_BYTE);

	if (!data || !data->d_buf)
		return false;
	*out = (struct module_bytes){ data->d_buf, data->d_size, address };
	return true;
}

bool module_segment_bytes(const struct module *m, uint32_t type,
			  struct module_bytes *out)
{
	size_t n = 0;
	GElf_Phdr p;

	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(m->elf, (int)i, &p) && p.p_type == type)
			return chunk(m, p.p_offset, p.p_filesz, p.p_vaddr, out);
	return false;
}

bool module_loaded_bytes(const struct module *m, uint64_t address,
			 struct module_bytes *out)
{
	size_t n = 0;
	GElf_Phdr p;

	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t into;

		if (!gelf_getphdr(m->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		into = address - p.p_vaddr;
		if (into < p.p_filesz)
			return chunk(m, p.p_offset + into, p.p_filesz - into,
				     address, out);
	}
	return false;
}

uint64_t module_lowest(const struct module *m)
{
	uint64_t lowest = UINT64_MAX;
	size_t n = 0;
	GElf_Phdr p;

	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(m->elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    p.p_vaddr < lowest)
			lowest = p.p_vaddr;
	return lowest == UINT64_MAX ? 0 : lowest;
}

uint64_t module_entry(const struct module *m)
{
	GElf_Ehdr header;

	return gelf_getehdr(m->elf, &header) ? header.e_entry : 0;
}

/* The note in one segment or section of notes. */
static bool read_build_id(Elf_Data *data, char id[MODULE_BUILD_ID_MAX])
{
	size_t at = 0, next, name, text;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &text))) {
		const unsigned char *bytes =
			(const unsigned char *)data->d_buf + text;

		at = next;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) ||
		    !note.n_descsz || note.n_descsz > MODULE_BUILD_ID_MAX / 2)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(id + 2 * i, 3, "%02x", bytes[i]);
		return true;
	}
	return false;
}

void module_build_id(const struct module *m, char id[MODULE_BUILD_ID_MAX])
{
	size_t n = 0;
	GElf_Phdr p;

	id[0] = 0;
	elf_getphdrnum(m->elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(m->elf, (int)i, &p) && p.p_type == PT_NOTE &&
		    read_build_id(elf_getdata_rawchunk(m->elf,
						       (int64_t)p.p_offset,
						       p.p_filesz,
						       p.p_align == 8
							       ? ELF_T_NHDR8
							       : ELF_T_NHDR),
				  id))
			return;
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

struct function_list {
	struct module_function *items;
	size_t count, capacity;
};

static void add_functions(struct function_list *list, Elf_Scn *section,
			  const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;
	GElf_Sym s;

	if (!data || count > SYMBOLS_MAX - list->count)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getsym(data, (int)i, &s) || !s.st_value ||
		    s.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(s.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(s.st_info) != STT_GNU_IFUNC))
			continue;
		ALLOC_GROW(list->items, list->count + 1, list->capacity);
		list->items[list->count++] =
			(struct module_function){ s.st_value,
						  s.st_value + s.st_size };
	}
}

static int by_start(const void *a, const void *b)
{
	const struct module_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Both tables tell of some; an end that is missing is where the next begins. */
static void tidy(struct function_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (n && list->items[n - 1].start == list->items[i].start) {
			if (list->items[n - 1].end < list->items[i].end)
				list->items[n - 1].end = list->items[i].end;
			continue;
		}
		list->items[n++] = list->items[i];
	}
	for (size_t i = 0; i < n; i++)
		if (list->items[i].end <= list->items[i].start)
			list->items[i].end = i + 1 < n
						     ? list->items[i + 1].start
						     : UINT64_MAX;
	list->count = n;
}

size_t module_functions(const struct module *m, struct module_function **out)
{
	struct function_list list = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_nextscn(m->elf, section)))
		if (gelf_getshdr(section, &h) &&
		    (h.sh_type == SHT_DYNSYM || h.sh_type == SHT_SYMTAB))
			add_functions(&list, section, &h);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_start);
	tidy(&list);
	*out = list.items;
	return list.count;
}
