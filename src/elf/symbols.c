/* The file is read by two parties. Symbol tables are read right here, by libelf
 * without mapping the file (it may shrink), and are simple enough to be checked
 * completely. Debug information and mangled names are read by another process:
 * lookup.h says why. */
#include "elf/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "elf/debugfile.h"
#include "elf/demangle.h"
#include "elf/lookup.h"
#include "elf/plt.h"
#include "elf/symbol_table.h"
#include "os/rooted.h"

struct symbols {
	struct lookup_files files;
	char *path;
	char build_id[BUILD_ID_TEXT];
	Elf *object, *debug, *packed; /* any may be NULL */
	unsigned char *packed_bytes;
	bool has_lines, loaded;
	struct symbol_table table;
	struct lookup *lookup;
	struct intern texts;
	struct buffer answer;
};

static Elf *open_elf(int fd)
{
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

static bool has_dwarf(Elf *elf)
{
	return elf && debugfile_has_section(elf, ".debug_info");
}

/* Keep the object file if it is the one that is asked for. */
static void take_object(struct symbols *s, int fd, const char *wanted)
{
	char own[BUILD_ID_TEXT];
	Elf *elf = open_elf(fd);

	if (elf)
		debugfile_build_id(elf, own);
	if (!elf || (wanted[0] && strcmp(own, wanted))) {
		elf_end(elf);
		if (fd >= 0)
			close(fd);
		return;
	}
	memcpy(s->build_id, own, sizeof(own));
	s->files.object = fd;
	s->object = elf;
	s->has_lines = has_dwarf(elf);
}

static void find_debug(struct symbols *s)
{
	const struct debug_roots *roots = &s->files.roots;
	int fd = -1;

	if (s->has_lines)
		return;
	if (s->build_id[0])
		fd = debugfile_by_build_id(roots, s->build_id);
	if (fd < 0 && s->object)
		fd = debugfile_by_link(roots, s->object, s->path);
	s->files.debug = fd;
	s->debug = open_elf(fd);
	s->has_lines = has_dwarf(s->debug);
}

static bool same_place(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The kernel maps the same code into every process, and ours is at hand. */
static int open_vdso(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd = header ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t size;

	if (fd < 0)
		return -1;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (write(fd, header, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

static struct symbols *new_symbols(const char *root, const char *path)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	elf_version(EV_CURRENT);
	s->path = xstrdup(path);
	s->files = (struct lookup_files){
		.object = -1,
		.debug = -1,
		.roots = { rooted_begin(root), rooted_begin(NULL) },
		.path = s->path,
		.build_id = s->build_id,
	};
	s->files.host_files =
		same_place(s->files.roots.target, s->files.roots.host);
	s->lookup = lookup_new(&s->files);
	return s;
}

/* With the object file in `fd`, which is taken over, or -1. */
static int open_with(struct symbols **out, struct symbols *s, int fd,
		     const char *build_id, struct error *err)
{
	const char *wanted = build_id ? build_id : "";

	take_object(s, fd, wanted);
	if (!s->object && strlen(wanted) < sizeof(s->build_id))
		strcpy(s->build_id, wanted);
	find_debug(s);
	if (s->object || s->debug ||
	    (s->build_id[0] && debugfile_may_download())) {
		*out = s;
		return 0;
	}
	fail(err, ERR_NOT_FOUND, "%s is not there, or is another file by now",
	     s->path);
	symbols_free(s);
	return -ERR_NOT_FOUND;
}

int symbols_open(struct symbols **out, const char *root, const char *path,
		 const char *build_id, struct error *err)
{
	struct symbols *s = new_symbols(root, path);
	int fd = !strcmp(path, "[vdso]")
			 ? open_vdso()
			 : rooted_open(s->files.roots.target, path);

	return open_with(out, s, fd, build_id, err);
}

int symbols_open_fd(struct symbols **out, int fd, const char *root,
		    const char *path, const char *build_id, struct error *err)
{
	struct symbols *s = new_symbols(root, path);

	return open_with(out, s, fcntl(fd, F_DUPFD_CLOEXEC, 3), build_id, err);
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	lookup_free(s->lookup);
	symbol_table_release(&s->table);
	elf_end(s->packed);
	elf_end(s->debug);
	elf_end(s->object);
	free(s->packed_bytes);
	close_file(s->files.object);
	close_file(s->files.debug);
	close_file(s->files.roots.target);
	close_file(s->files.roots.host);
	intern_release(&s->texts);
	buffer_release(&s->answer);
	free(s->path);
	free(s);
}

const char *symbols_build_id(const struct symbols *s)
{
	return s->build_id;
}

bool symbols_has_lines(const struct symbols *s)
{
	return s->has_lines;
}

void symbols_limit(struct symbols *s, uint64_t patience,
		   const volatile sig_atomic_t *stop)
{
	lookup_limit(s->lookup, patience, stop);
}

static void unpack(struct symbols *s)
{
	size_t size = 0;

	if (s->object)
		s->packed_bytes = debugfile_unpack(s->object, &size);
	if (s->packed_bytes)
		s->packed = elf_memory((char *)s->packed_bytes, size);
	if (s->packed && elf_kind(s->packed) != ELF_K_ELF) {
		elf_end(s->packed);
		s->packed = NULL;
	}
}

static void load_tables(struct symbols *s)
{
	Elf *all[3];

	if (s->loaded)
		return;
	s->loaded = true;
	unpack(s);
	all[0] = s->object;
	all[1] = s->debug;
	all[2] = s->packed;
	for (size_t i = 0; i < 3; i++)
		if (all[i])
			symbol_table_add(&s->table, all[i]);
	if (s->object)
		plt_add(&s->table, s->object);
	symbol_table_sort(&s->table);
}

bool symbols_range(struct symbols *s, const char *prefix,
		   bool (*visit)(void *context, const char *name,
				 uint64_t address, uint64_t size),
		   void *context)
{
	size_t n = strlen(prefix);

	load_tables(s);
	for (size_t i = 0; i < s->table.count; i++) {
		const struct table_symbol *t = &s->table.items[i];

		if (!t->stub && !strncmp(t->name, prefix, n) &&
		    t->end > t->address &&
		    !visit(context, t->name, t->address, t->end - t->address))
			return false;
	}
	return true;
}

static const char *keep(struct symbols *s, const char *text, size_t n)
{
	return intern_text(&s->texts, intern_bytes(&s->texts, text, n));
}

/* Without the other process: the name as it stands in the table. */
static uint32_t name_only(struct symbols *s, const struct table_symbol *t,
			  struct symbol *out)
{
	char *name;

	if (!t)
		return 0;
	name = demangle_cut(t->name);
	*out = (struct symbol){ .name = keep(s, name, strlen(name)),
				.file = "" };
	free(name);
	return 1;
}

/* Frames whose name nobody knows are of no use, but as a line of the function
 * around them. */
static uint32_t take_answer(struct symbols *s, const struct lookup_frame *f,
			    uint32_t n, struct symbol *out)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < n; i++)
		if (f[i].name_size)
			out[taken++] = (struct symbol){
				keep(s, f[i].name, f[i].name_size),
				keep(s, f[i].file, f[i].file_size),
				f[i].line,
				f[i].first_line,
				f[i].inlined,
			};
	return taken;
}

static bool is_mangled(const struct table_symbol *t)
{
	return t && t->name[0] == '_' &&
	       (t->name[1] == 'Z' || t->name[1] == 'R');
}

static bool may_have_lines(const struct symbols *s)
{
	return s->has_lines || (s->build_id[0] && debugfile_may_download());
}

uint32_t symbols_find(struct symbols *s, uint64_t address, struct symbol *out,
		      uint32_t max)
{
	struct lookup_frame frames[SYMBOLS_DEPTH_MAX];
	struct lookup_hint hint = { "", false };
	const struct table_symbol *t;
	uint32_t n = 0;

	if (max > SYMBOLS_DEPTH_MAX)
		max = SYMBOLS_DEPTH_MAX;
	load_tables(s);
	t = symbol_table_find(&s->table, address);
	if (t)
		hint = (struct lookup_hint){ t->name, t->sized };
	if (max && (may_have_lines(s) || is_mangled(t)))
		n = lookup_ask(s->lookup, address, &hint, &s->answer, frames,
			       max);
	if (n)
		n = take_answer(s, frames, n, out);
	return n || !max ? n : name_only(s, t, out);
}

/* The part of a segment at an address, cut to what the file holds. */
static size_t read_segment(struct symbols *s, const GElf_Phdr *p,
			   uint64_t address, void *into, size_t size)
{
	uint64_t skip = address - p->p_vaddr;
	ssize_t n;

	if (address < p->p_vaddr || skip >= p->p_filesz)
		return 0;
	if (size > p->p_filesz - skip)
		size = p->p_filesz - skip;
	n = pread(s->files.object, into, size, (off_t)(p->p_offset + skip));
	return n > 0 ? (size_t)n : 0;
}

size_t symbols_read(struct symbols *s, uint64_t address, void *into,
		    size_t size)
{
	size_t n = 0, found = 0;
	GElf_Phdr p;

	if (s->object)
		elf_getphdrnum(s->object, &n);
	for (size_t i = 0; i < n && !found; i++)
		if (gelf_getphdr(s->object, (int)i, &p) && p.p_type == PT_LOAD)
			found = read_segment(s, &p, address, into, size);
	return found;
}
