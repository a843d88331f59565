#include "elf/debugfile.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "os/rooted.h"

#define NOTE_MAX   (1 << 20)	/* bytes of a section of notes or of a link */
#define LINKED_MAX (8ull << 30) /* bytes of a file whose checksum is taken */
#define DEBUG_ROOT "/usr/lib/debug"
#define ID_BYTES   ((BUILD_ID_TEXT - 1) / 2)

static void to_hex(const unsigned char *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	out[2 * n] = '\0';
}

/* The build id among the notes of a section. */
static bool id_of_notes(Elf_Data *data, char out[BUILD_ID_TEXT])
{
	size_t at = 0, next, name, content;
	GElf_Nhdr note;

	while ((next = gelf_getnote(data, at, &note, &name, &content)) > 0) {
		const unsigned char *bytes = data->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(bytes + name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= ID_BYTES) {
			to_hex(bytes + content, note.n_descsz, out);
			return true;
		}
		at = next;
	}
	return false;
}

static bool id_of_sections(Elf *elf, char out[BUILD_ID_TEXT])
{
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr h;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_NOTE &&
		    h.sh_size <= NOTE_MAX &&
		    (data = elf_getdata(section, NULL)) &&
		    id_of_notes(data, out))
			return true;
	return false;
}

/* Files without section headers have their notes in segments yet. */
static bool id_of_segments(Elf *elf, char out[BUILD_ID_TEXT])
{
	Elf_Data *data;
	GElf_Phdr p;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_NOTE &&
		    p.p_filesz <= NOTE_MAX &&
		    (data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset,
						 p.p_filesz, ELF_T_NHDR)) &&
		    id_of_notes(data, out))
			return true;
	return false;
}

void debugfile_build_id(struct Elf *elf, char out[BUILD_ID_TEXT])
{
	out[0] = '\0';
	if (!id_of_sections(elf, out))
		id_of_segments(elf, out);
}

static bool has_build_id(int fd, const char *build_id)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	char own[BUILD_ID_TEXT] = "";

	if (elf && elf_kind(elf) == ELF_K_ELF)
		debugfile_build_id(elf, own);
	elf_end(elf);
	return own[0] && !strcmp(own, build_id);
}

/* A test that a file has to pass, with what it needs to know. */
struct proof {
	bool (*holds)(int fd, const struct proof *proof);
	const char *build_id;
	uint32_t checksum;
};

static bool proof_of_id(int fd, const struct proof *proof)
{
	return has_build_id(fd, proof->build_id);
}

static bool proof_of_checksum(int fd, const struct proof *proof)
{
	unsigned char bytes[65536];
	uint32_t sum = (uint32_t)crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), (off_t)at)) > 0) {
		sum = (uint32_t)crc32(sum, bytes, (unsigned)n);
		at += (uint64_t)n;
		if (at > LINKED_MAX)
			return false;
	}
	return n == 0 && sum == proof->checksum;
}

static int open_proven(const struct debug_roots *roots, const char *path,
		       const struct proof *proof)
{
	int places[] = { roots->target, roots->host };

	for (size_t i = 0; i < 2; i++) {
		int fd = rooted_open(places[i], path);

		if (fd >= 0 && proof->holds(fd, proof))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static bool is_id(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n > 2 && n < BUILD_ID_TEXT && !text[n];
}

static int open_by_id(const struct debug_roots *roots, const char *build_id,
		      const char *suffix)
{
	struct proof proof = { proof_of_id, build_id, 0 };
	char path[PATH_MAX];

	if (!is_id(build_id))
		return -1;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s%s",
		 build_id, build_id + 2, suffix);
	return open_proven(roots, path, &proof);
}

int debugfile_by_build_id(const struct debug_roots *roots, const char *build_id)
{
	return open_by_id(roots, build_id, ".debug");
}

/* The section of that name which has bytes in the file, or NULL. */
static Elf_Scn *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	const char *found;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type != SHT_NOBITS &&
		    h.sh_size && (found = elf_strptr(elf, names, h.sh_name)) &&
		    !strcmp(found, name))
			return section;
	return NULL;
}

bool debugfile_has_section(struct Elf *elf, const char *name)
{
	return find_section(elf, name) != NULL;
}

const void *debugfile_section(struct Elf *elf, const char *name, size_t *size)
{
	Elf_Scn *section = find_section(elf, name);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	*size = data && data->d_buf ? data->d_size : 0;
	return *size ? data->d_buf : NULL;
}

uint64_t debugfile_section_address(struct Elf *elf, const char *name)
{
	Elf_Scn *section = find_section(elf, name);
	GElf_Shdr h;

	return section && gelf_getshdr(section, &h) ? h.sh_addr : 0;
}

/* The folder of a path with its slash. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* A name, zeros up to a multiple of four, and the checksum. */
static const char *read_link_section(Elf *elf, uint32_t *checksum)
{
	size_t size = 0, length;
	const char *name = debugfile_section(elf, ".gnu_debuglink", &size);

	if (!name || size > NOTE_MAX)
		return NULL;
	length = strnlen(name, size);
	if (!length || (length / 4 + 1) * 4 + 4 > size || strchr(name, '/'))
		return NULL;
	memcpy(checksum, name + (length / 4 + 1) * 4, 4);
	return name;
}

int debugfile_by_link(const struct debug_roots *roots, struct Elf *elf,
		      const char *path)
{
	static const char *const places[] = { "%.*s%s", "%.*s.debug/%s",
					      DEBUG_ROOT "%.*s%s" };
	struct proof proof = { .holds = proof_of_checksum };
	const char *name = read_link_section(elf, &proof.checksum);
	int fd = -1;

	for (size_t i = 0; name && fd < 0 && i < 3; i++) {
		char full[2 * PATH_MAX];
		int n = snprintf(full, sizeof(full), places[i],
				 folder_length(path), path, name);

		if (n > 0 && n < PATH_MAX)
			fd = open_proven(roots, full, &proof);
	}
	return fd;
}

/* A name, NUL, and the build id of the shared file. */
static const char *read_shared_section(Elf *elf, char id[BUILD_ID_TEXT])
{
	size_t size = 0, length;
	const char *name = debugfile_section(elf, ".gnu_debugaltlink", &size);

	if (!name || size > NOTE_MAX)
		return NULL;
	length = strnlen(name, size);
	if (length + 1 >= size || size - length - 1 > ID_BYTES)
		return NULL;
	to_hex((const unsigned char *)name + length + 1, size - length - 1, id);
	return name;
}

int debugfile_shared(const struct debug_roots *roots, struct Elf *elf,
		     const char *path)
{
	char id[BUILD_ID_TEXT], full[2 * PATH_MAX];
	struct proof proof = { proof_of_id, id, 0 };
	const char *name = read_shared_section(elf, id), *dwz;
	int fd;

	if (!name)
		return -1;
	fd = open_by_id(roots, id, ".debug");
	if (fd >= 0)
		return fd;
	snprintf(full, sizeof(full), "%.*s%s",
		 name[0] == '/' ? 0 : folder_length(path), path, name);
	fd = open_proven(roots, full, &proof);
	dwz = strstr(name, "/.dwz/"); /* "../../.dwz/x" of a debug file */
	if (fd >= 0 || !dwz)
		return fd;
	snprintf(full, sizeof(full), DEBUG_ROOT "%s", dwz);
	return open_proven(roots, full, &proof);
}
