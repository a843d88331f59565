/* The memory of a core file, and the files that hold what it leaves out. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/build_id.h"
#include "elf/corefile_private.h"
#include "os/rooted.h"

/* ---- the maps ---- */

static int compare_mappings(const void *a, const void *b)
{
	uint64_t x = ((const struct mapping *)a)->start;
	uint64_t y = ((const struct mapping *)b)->start;

	return x < y ? -1 : x > y;
}

static void order_maps(struct maps *m)
{
	uint64_t end = 0;
	size_t n = 0;

	if (m->count)
		qsort(m->items, m->count, sizeof(*m->items), compare_mappings);
	for (size_t i = 0; i < m->count; i++) {
		if (m->items[i].start < end)
			continue;
		end = m->items[i].end;
		m->items[n++] = m->items[i];
	}
	m->count = n;
}

static void add_anonymous(struct maps *m, uint64_t start, uint64_t end,
			  const struct core_segment *s)
{
	if (start >= end)
		return;
	ALLOC_GROW(m->items, m->count + 1, m->capacity);
	m->items[m->count++] = (struct mapping){ .start = start,
						 .end = end,
						 .path = "",
						 .readable = s->readable,
						 .executable = s->executable };
}

/* What of a segment lies in no mapped file, is anonymous memory. *next: the
 * first file that may overlap it. */
static void add_rest(struct maps *m, size_t n_files, size_t *next,
		     const struct core_segment *s)
{
	uint64_t at = s->start, end = s->start + s->size;

	while (*next < n_files && m->items[*next].end <= at)
		(*next)++;
	for (size_t i = *next; i < n_files && m->items[i].start < end; i++) {
		add_anonymous(m, at, m->items[i].start, s);
		m->items[i].readable = s->readable;
		m->items[i].executable = s->executable;
		at = m->items[i].end;
	}
	add_anonymous(m, at, end, s);
}

void core_make_maps(struct core *c)
{
	struct maps *m = &c->file.maps;
	uint64_t vdso = core_auxv(c, AT_SYSINFO_EHDR);
	size_t n_files, next = 0;

	order_maps(m);
	n_files = m->count;
	for (uint32_t i = 0; i < c->n_segments; i++)
		add_rest(m, n_files, &next, &c->segments[i]);
	order_maps(m);
	for (size_t i = 0; i < m->count; i++)
		if (!m->items[i].inode && m->items[i].start == vdso)
			m->items[i].path = "[vdso]";
}

/* ---- mapped files ---- */

/* The segment in which the address lies, or NULL. */
static const struct core_segment *find_segment(const struct core *c,
					       uint64_t address)
{
	uint32_t low = 0, high = c->n_segments;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->segments[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low ||
	    address - c->segments[low - 1].start >= c->segments[low - 1].size)
		return NULL;
	return &c->segments[low - 1];
}

static const struct mapping *find_mapping(const struct core *c,
					  uint64_t address)
{
	const struct maps *m = &c->file.maps;
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < m->items[low - 1].end ? &m->items[low - 1]
						      : NULL;
}

/* Bytes at an address that are in the core file itself, at most `size`. */
static size_t read_kept(const struct core *c, uint64_t address, void *into,
			size_t size)
{
	const struct core_segment *s = find_segment(c, address);
	uint64_t at = s ? address - s->start : 0;

	if (!s || at >= s->kept)
		return 0;
	if (size > s->kept - at)
		size = s->kept - at;
	return core_pread(c, s->offset + at, into, size) ? size : 0;
}

/* A file as the core file has it, for its build id. */
struct kept_file {
	const struct core *core;
	const struct mapping *first;
};

static bool read_kept_file(void *context, uint64_t offset, void *into,
			   size_t size)
{
	const struct kept_file *k = context;

	return offset < k->first->end - k->first->start &&
	       read_kept(k->core, k->first->start + offset, into, size) == size;
}

static struct build_id kept_build_id(const struct core *c, uint64_t inode)
{
	const struct maps *m = &c->file.maps;
	struct build_id none = { .size = 0 };

	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].inode == inode && !m->items[i].offset) {
			struct kept_file k = { c, &m->items[i] };

			return build_id_read(read_kept_file, &k);
		}
	return none;
}

/* Only object files are opened: nothing else is needed, and a core file may
 * name any file. */
static bool is_object(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static int open_checked(const struct core *c, uint64_t inode, bool *differs)
{
	const char *path = intern_text(&c->paths, (uint32_t)inode - 1);
	struct build_id here, then;
	int fd = path[0] == '/' ? rooted_open(c->root, path) : -1;

	if (fd < 0)
		return -1;
	here = build_id_of_file(fd);
	then = kept_build_id(c, inode);
	*differs = build_id_differs(&here, &then);
	if (!*differs && is_object(fd))
		return fd;
	close(fd);
	return -1;
}

/* The descriptor of a mapped file, which stays open; -1: not to be had. */
static int mapped_fd(struct core *c, const struct mapping *m)
{
	struct core_mapped *f;

	if (!m->inode || m->inode > c->paths.count)
		return -1;
	f = &c->files[m->inode - 1];
	if (!f->tried)
		f->fd = open_checked(c, m->inode, &f->differs);
	f->tried = true;
	return f->fd;
}

static int open_mapped(const struct opener *o, const struct mapping *mapping)
{
	int fd = mapped_fd(((const struct core_opener *)o)->core, mapping);

	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

const char *corefile_missing(const struct corefile *file, uint32_t i,
			     bool *differs)
{
	const struct core *c = (const struct core *)file;

	for (uint32_t k = 0; k < c->paths.count; k++) {
		const struct core_mapped *f = &c->files[k];

		if (f->tried && f->fd < 0 && i-- == 0) {
			*differs = f->differs;
			return intern_text(&c->paths, k);
		}
	}
	return NULL;
}

void core_close_files(struct core *c)
{
	for (uint32_t i = 0; c->files && i < c->paths.count; i++)
		if (c->files[i].tried && c->files[i].fd >= 0)
			close(c->files[i].fd);
	free(c->files);
}

/* ---- the memory ---- */

/* Beyond the end of a file its last page is zero. */
static size_t read_end(int fd, uint64_t offset, void *into, size_t size)
{
	uint64_t left = -offset & (CORE_PAGE - 1);
	struct stat st;

	if (!left || fstat(fd, &st) || offset < (uint64_t)st.st_size ||
	    offset - (uint64_t)st.st_size >= CORE_PAGE)
		return 0;
	if (size > left)
		size = left;
	memset(into, 0, size);
	return size;
}

/* Bytes at an address that are in a mapped file, at most `size`, and no more
 * than up to what the core file has itself. */
static size_t read_mapped(struct core *c, uint64_t address, void *into,
			  size_t size)
{
	const struct mapping *m = find_mapping(c, address);
	const struct core_segment *s = find_segment(c, address);
	int fd = m ? mapped_fd(c, m) : -1;
	uint64_t offset, end;
	ssize_t n;

	if (fd < 0)
		return 0;
	end = s && s->start + s->size < m->end ? s->start + s->size : m->end;
	if (size > end - address)
		size = end - address;
	if (!s && size > CORE_PAGE - address % CORE_PAGE)
		size = CORE_PAGE - address % CORE_PAGE;
	offset = m->offset + (address - m->start);
	n = pread(fd, into, size, (off_t)offset);
	return n > 0 ? (size_t)n : read_end(fd, offset, into, size);
}

static size_t read_piece(struct core *c, const struct memory_piece *p)
{
	size_t done = 0;

	while (done < p->size) {
		unsigned char *into = (unsigned char *)p->into + done;
		uint64_t at = p->address + done;
		size_t n = read_kept(c, at, into, p->size - done);

		if (!n)
			n = read_mapped(c, at, into, p->size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

static ssize_t read_core(struct memory *m, const struct memory_piece *pieces,
			 size_t n)
{
	struct core *c = ((struct core_memory *)m)->core;
	size_t total = 0, i = 0;

	for (; i < n; i++) {
		size_t got = read_piece(c, &pieces[i]);

		total += got;
		if (got != pieces[i].size)
			break;
	}
	return !total && i < n ? -ERR_UNREADABLE : (ssize_t)total;
}

static const struct memory_ops core_ops = { .read = read_core };

void core_make_memory(struct core *c)
{
	c->files = xcalloc(c->paths.count, sizeof(*c->files));
	c->memory.memory.ops = &core_ops;
	c->memory.core = c;
	c->opener.opener.open = open_mapped;
	c->opener.core = c;
	c->file.memory = &c->memory.memory;
	c->file.opener = &c->opener.opener;
}
