#include "elf/corefile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/corefile_private.h"
#include "os/rooted.h"

#define SEGMENTS_MAX 1000000
#define BATCH	     64 /* program headers read at once */

bool core_pread(const struct core *c, uint64_t offset, void *into, size_t size)
{
	unsigned char *at = into;

	while (size) {
		ssize_t n = pread(c->fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

/* ---- headers ---- */

static int open_file(struct core *c, struct error *err)
{
	const char *path = c->file.path;
	struct stat st;

	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (c->fd < 0)
		return fail(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
			    "cannot open '%s': %s", path, strerror(errno));
	if (fstat(c->fd, &st) || !S_ISREG(st.st_mode))
		return fail(err, ERR_CORRUPT, "'%s' is no file", path);
	c->size = (uint64_t)st.st_size;
	return 0;
}

static int check_header(const struct core *c, const Elf64_Ehdr *h,
			struct error *err)
{
	const char *path = c->file.path;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return fail(err, ERR_CORRUPT, "'%s' is no core file", path);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != CORE_MACHINE)
		return fail(err, ERR_UNSUPPORTED,
			    "'%s' comes from another kind of machine; this "
			    "Pyrometer reads core files of " CORE_MACHINE_NAME,
			    path);
	if (h->e_type != ET_CORE)
		return fail(err, ERR_CORRUPT,
			    "'%s' is a program or a library, no core file",
			    path);
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return fail(err, ERR_CORRUPT, "'%s' is a broken core file",
			    path);
	return 0;
}

/* With too many segments for its field their number stands in the first section
 * header. */
static bool count_segments(const struct core *c, const Elf64_Ehdr *h,
			   uint32_t *n)
{
	Elf64_Shdr section;

	*n = h->e_phnum;
	if (h->e_phnum != PN_XNUM)
		return true;
	if (!h->e_shoff ||
	    !core_pread(c, h->e_shoff, &section, sizeof(section)))
		return false;
	*n = section.sh_info;
	return *n <= SEGMENTS_MAX;
}

static void take_segment(struct core *c, const Elf64_Phdr *p)
{
	uint64_t end = p->p_offset + p->p_filesz, kept = p->p_filesz;

	if (!p->p_memsz || p->p_vaddr + p->p_memsz < p->p_vaddr ||
	    end < p->p_offset)
		return;
	if (end > c->size) {
		if (end - c->size > c->file.lacking)
			c->file.lacking = end - c->size;
		kept = p->p_offset < c->size ? c->size - p->p_offset : 0;
	}
	if (kept > p->p_memsz)
		kept = p->p_memsz;
	ALLOC_GROW(c->segments, c->n_segments + 1, c->segments_capacity);
	c->segments[c->n_segments++] =
		(struct core_segment){ .start = p->p_vaddr,
				       .size = p->p_memsz,
				       .kept = kept,
				       .offset = p->p_offset,
				       .readable = p->p_flags & PF_R,
				       .executable = p->p_flags & PF_X };
}

static int take_program_header(struct core *c, const Elf64_Phdr *p,
			       struct error *err)
{
	if (p->p_type == PT_LOAD)
		take_segment(c, p);
	if (p->p_type == PT_NOTE)
		return core_take_notes(c, p->p_offset, p->p_filesz, err);
	return 0;
}

static int read_program_headers(struct core *c, const Elf64_Ehdr *h, uint32_t n,
				struct error *err)
{
	Elf64_Phdr batch[BATCH];
	int status = 0;

	for (uint32_t i = 0; i < n && status == 0; i += BATCH) {
		uint32_t count = n - i < BATCH ? n - i : BATCH;

		if (!core_pread(c, h->e_phoff + (uint64_t)i * sizeof(*batch),
				batch, count * sizeof(*batch)))
			return fail(err, ERR_CORRUPT,
				    "the core file '%s' is cut off within its "
				    "headers",
				    c->file.path);
		for (uint32_t k = 0; k < count && status == 0; k++)
			status = take_program_header(c, &batch[k], err);
	}
	return status;
}

static int compare_segments(const void *a, const void *b)
{
	uint64_t x = ((const struct core_segment *)a)->start;
	uint64_t y = ((const struct core_segment *)b)->start;

	return x < y ? -1 : x > y;
}

/* The kernel writes them in order and apart; others may not. */
static void order_segments(struct core *c)
{
	uint32_t n = 0;
	uint64_t end = 0;

	if (c->n_segments)
		qsort(c->segments, c->n_segments, sizeof(*c->segments),
		      compare_segments);
	for (uint32_t i = 0; i < c->n_segments; i++) {
		if (c->segments[i].start < end)
			continue;
		end = c->segments[i].start + c->segments[i].size;
		c->segments[n++] = c->segments[i];
	}
	c->n_segments = n;
}

static int read_headers(struct core *c, struct error *err)
{
	Elf64_Ehdr header = { 0 };
	uint32_t n;
	int status;

	if (c->size < sizeof(header) ||
	    !core_pread(c, 0, &header, sizeof(header)))
		return fail(err, ERR_CORRUPT, "'%s' is no core file",
			    c->file.path);
	status = check_header(c, &header, err);
	if (status < 0)
		return status;
	if (!count_segments(c, &header, &n))
		return fail(err, ERR_CORRUPT, "'%s' is a broken core file",
			    c->file.path);
	status = read_program_headers(c, &header, n, err);
	order_segments(c);
	return status;
}

/* ---- what it tells of the program ---- */

static const char *find_exe(const struct core *c)
{
	uint64_t inside = core_auxv(c, AT_PHDR);
	const struct maps *maps = &c->file.maps;

	for (size_t i = 0; inside && i < maps->count; i++)
		if (inside >= maps->items[i].start &&
		    inside < maps->items[i].end)
			return maps->items[i].path;
	return "";
}

static int check_contents(const struct core *c, struct error *err)
{
	const struct corefile *f = &c->file;

	if (f->n_threads && c->paths.count)
		return 0;
	if (f->lacking)
		return fail(err, ERR_CORRUPT,
			    "the core file '%s' is cut off: %llu bytes are "
			    "missing",
			    f->path, (unsigned long long)f->lacking);
	return fail(err, ERR_CORRUPT, "the core file '%s' %s", f->path,
		    f->n_threads ? "does not tell which files were mapped"
				 : "has no threads");
}

static int read_all(struct core *c, struct error *err)
{
	const char *command;
	int status = open_file(c, err);

	if (status == 0)
		status = read_headers(c, err);
	if (status == 0)
		status = check_contents(c, err);
	if (status < 0)
		return status;
	core_make_maps(c);
	core_make_memory(c);
	c->file.vdso = core_auxv(c, AT_SYSINFO_EHDR);
	c->file.exe = find_exe(c);
	command = core_command(c);
	if (command)
		c->file.command = command;
	return 0;
}

int corefile_open(struct corefile **out, const char *path, const char *root,
		  struct error *err)
{
	struct core *c = xcalloc(1, sizeof(*c));
	int status;

	c->fd = -1;
	c->file.path = arena_strdup(&c->arena, path);
	c->file.command = c->file.exe = "";
	c->root = rooted_begin(root[0] ? root : NULL);
	status = c->root < 0 ? fail(err, ERR_NOT_FOUND, "no folder '%s'", root)
			     : read_all(c, err);
	if (status < 0)
		corefile_free(&c->file);
	else
		*out = &c->file;
	return status;
}

void corefile_free(struct corefile *file)
{
	struct core *c = (struct core *)file;

	if (!c)
		return;
	core_close_files(c);
	if (c->fd >= 0)
		close(c->fd);
	maps_release(&file->maps);
	intern_release(&c->paths);
	arena_release(&c->arena);
	free(file->threads);
	free(c->segments);
	if (c->root >= 0)
		close(c->root);
	free(c);
}
