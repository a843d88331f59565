#include "elf/build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_HEADERS_MAX 64
#define NOTES_MAX	    4096 /* bytes of one segment of notes */

/* Find the id among notes. */
static bool find_note(const unsigned char *notes, size_t size, size_t align,
		      struct build_id *out)
{
	size_t at = 0, mask = align == 8 ? 7 : 3;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		size_t name, text;
		Elf64_Nhdr h;

		memcpy(&h, notes + at, sizeof(h));
		name = at + sizeof(h);
		if (h.n_namesz > size || h.n_descsz > size)
			return false;
		text = (name + h.n_namesz + mask) & ~mask;
		if (text > size || h.n_descsz > size - text)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && h.n_descsz &&
		    h.n_descsz <= BUILD_ID_MAX) {
			memcpy(out->bytes, notes + text, h.n_descsz);
			out->size = h.n_descsz;
			return true;
		}
		at = (text + h.n_descsz + mask) & ~mask;
		if (at > size)
			return false;
	}
	return false;
}

struct build_id build_id_read(build_id_reader *read, void *context)
{
	unsigned char notes[NOTES_MAX];
	struct build_id id = { .size = 0 };
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (!read(context, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_phentsize != sizeof(p))
		return id;
	for (int i = 0; i < header.e_phnum && i < PROGRAM_HEADERS_MAX; i++)
		if (read(context, header.e_phoff + (uint64_t)i * sizeof(p), &p,
			 sizeof(p)) &&
		    p.p_type == PT_NOTE && p.p_filesz <= NOTES_MAX &&
		    read(context, p.p_offset, notes, p.p_filesz) &&
		    find_note(notes, p.p_filesz, p.p_align, &id))
			break;
	return id;
}

static bool read_file(void *context, uint64_t offset, void *into, size_t size)
{
	return pread(*(const int *)context, into, size, (off_t)offset) ==
	       (ssize_t)size;
}

struct build_id build_id_of_file(int fd)
{
	return build_id_read(read_file, &fd);
}

bool build_id_differs(const struct build_id *a, const struct build_id *b)
{
	return a->size && b->size &&
	       (a->size != b->size || memcmp(a->bytes, b->bytes, a->size));
}
