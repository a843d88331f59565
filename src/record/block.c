#include "record/block.h"

#include <string.h>

#include "record/format.h"
#include "record/hash.h"

static const unsigned char block_mark[2] = { 0xb1, 0x0c };

static void put(unsigned char *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

void block_header_put(unsigned char *out, const struct block_header *h)
{
	memcpy(out, block_mark, sizeof(block_mark));
	out[2] = h->kind;
	out[3] = h->flags;
	put(out + 4, h->stored, 4);
	put(out + 8, h->raw, 4);
	put(out + 12, h->hash, 4);
	put(out + 16, h->first, 8);
	put(out + 24, h->last, 8);
	put(out + 32, hash32(out, 32), 4);
}

bool block_header_get(struct block_header *h, const unsigned char *in)
{
	if (memcmp(in, block_mark, sizeof(block_mark)) ||
	    get(in + 32, 4) != hash32(in, 32))
		return false;
	h->kind = in[2];
	h->flags = in[3];
	h->stored = (uint32_t)get(in + 4, 4);
	h->raw = (uint32_t)get(in + 8, 4);
	h->hash = (uint32_t)get(in + 12, 4);
	h->first = get(in + 16, 8);
	h->last = get(in + 24, 8);
	return h->raw <= LIMIT_RAW && h->stored <= LIMIT_RAW &&
	       h->first <= h->last;
}

void file_header_put(unsigned char *out)
{
	memcpy(out, FILE_MARK, FILE_MARK_SIZE);
	put(out + 8, FORMAT_MAJOR, 2);
	put(out + 10, FORMAT_MINOR, 2);
	put(out + 12, hash32(out, 12), 4);
}

/* What people hand over by mistake, by its first bytes. */
static const struct {
	const char *mark;
	size_t size;
	const char *what;
} foreign[] = {
	{ "\x89PNG", 4, "it is a PNG image" },
	{ "\x1f\x8b", 2, "it is gzip data, perhaps a pprof profile" },
	{ "\x28\xb5\x2f\xfd", 4, "it is zstd data; decompress it first" },
	{ "PK\x03\x04", 4, "it is a zip archive" },
	{ "\x7f"
	  "ELF",
	  4, "it is an ELF file" },
	{ "PERFILE2", 8, "it is a perf.data file" },
	{ "SQLite", 6, "it is an SQLite database" },
	{ "%PDF", 4, "it is a PDF document" },
	{ "{", 1, "it looks like JSON" },
	{ "<", 1, "it looks like HTML or XML" },
	{ "\x89PYRO\n", 6, "line ends were changed on its way here" },
};

static const char *guess(const unsigned char *in, size_t size)
{
	if (!size)
		return "it is empty";
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (size >= foreign[i].size &&
		    !memcmp(in, foreign[i].mark, foreign[i].size))
			return foreign[i].what;
	return "it does not begin like one";
}

int file_header_check(const unsigned char *in, size_t size, const char *name,
		      struct error *err)
{
	size_t n = size < FILE_MARK_SIZE ? size : FILE_MARK_SIZE;

	if (!n || memcmp(in, FILE_MARK, n))
		return fail(err, ERR_CORRUPT,
			    "%s is not a Pyrometer recording (%s)", name,
			    guess(in, size));
	if (size < FILE_HEADER_SIZE)
		return fail(err, ERR_CORRUPT,
			    "%s ends within its header: nothing was recorded",
			    name);
	if (get(in + 12, 4) != hash32(in, 12))
		return fail(err, ERR_CORRUPT, "%s has a damaged header", name);
	if (get(in + 8, 2) > FORMAT_MAJOR)
		return fail(err, ERR_UNSUPPORTED,
			    "%s was made by a newer Pyrometer (format %u; this "
			    "one reads up to %u): please update",
			    name, (unsigned)get(in + 8, 2), FORMAT_MAJOR);
	return 0;
}
