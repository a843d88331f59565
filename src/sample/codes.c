#include "sample/codes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

#define FINGERPRINT_MAX 512 /* bytes of a code object that are compared */
#define NAME_BYTES	(CODE_NAME_WORDS * sizeof(uint64_t))
#define TLBC_MAX	4096
#define STALE_MAX	(8u << 20) /* bytes of code objects that are gone */

struct entry {
	struct code code;
	uint32_t function;   /* in the recording */
	uint64_t checked;    /* the pass of codes_check that last compared it */
	uint64_t changed;    /* the pass that found it to be another; 0 */
	uint64_t generation; /* the interpreter's count when it was compared */
	bool bad;	     /* no code object */
};

struct codes {
	const struct python *python;
	struct writer *writer;
	struct arena arena;
	struct map by_address; /* address -> entry */
	struct entry *entries;
	uint32_t count, capacity;
	uint64_t pass, n_read;
	size_t stale;	     /* bytes in the arena that nobody needs any more */
	size_t offset, size; /* of the fingerprint's bytes */
	struct pieces pieces;
	unsigned char *bytes; /* as they are now: a fingerprint's, a name's */
	size_t bytes_capacity;
	uint32_t *pending;
	size_t pending_capacity;
};

struct codes *codes_new(const struct python *python, struct writer *writer)
{
	struct codes *c = xcalloc(1, sizeof(*c));

	c->python = python;
	c->writer = writer;
	code_fingerprint_range(&python->layout, &c->offset, &c->size);
	if (c->size > FINGERPRINT_MAX)
		c->size = FINGERPRINT_MAX;
	return c;
}

void codes_free(struct codes *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	map_release(&c->by_address);
	pieces_release(&c->pieces);
	free(c->entries);
	free(c->bytes);
	free(c->pending);
	free(c);
}

static uint32_t function_of(struct codes *c, const struct entry *e)
{
	struct function_info info = { .name = UNREADABLE_FUNCTION,
				      .file = "",
				      .kind = FUNCTION_MARK,
				      .module = "" };

	if (!e->bad)
		info = (struct function_info){ .name = e->code.name,
					       .file = e->code.file,
					       .line = e->code.first_line,
					       .kind = FUNCTION_PYTHON,
					       .module = "" };
	return writer_function(c->writer, &info);
}

static void read_entry(struct codes *c, struct entry *e, uint64_t address)
{
	const struct python *p = c->python;

	e->bad = code_read(&e->code, p->memory, &p->layout, address,
			   p->code_type, &c->arena) < 0;
	e->code.address = address;
	e->function = function_of(c, e);
	e->checked = c->pass;
	c->n_read++;
}

static uint32_t find_entry(struct codes *c, uint64_t address)
{
	uint32_t i = map_get(&c->by_address, address, 0);

	if (i != MAP_NONE)
		return i;
	ALLOC_GROW(c->entries, c->count + 1, c->capacity);
	memset(&c->entries[c->count], 0, sizeof(*c->entries));
	read_entry(c, &c->entries[c->count], address);
	map_put(&c->by_address, address, 0, c->count);
	return c->count++;
}

/* Note the entries that must be compared in this pass. */
static size_t collect(struct codes *c, const struct raw_frame *frames,
		      uint32_t n, uint64_t generation)
{
	size_t count = 0;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = map_get(&c->by_address, frames[k].code, 0);
		struct entry *e;

		if (i == MAP_NONE)
			continue;
		e = &c->entries[i];
		if (e->checked == c->pass ||
		    (generation && e->generation == generation && !e->bad))
			continue;
		e->checked = c->pass;
		ALLOC_GROW(c->pending, count + 1, c->pending_capacity);
		c->pending[count++] = i;
	}
	return count;
}

/* Two pieces of each, one behind the other. */
static void read_fingerprints(struct codes *c, size_t count)
{
	size_t stride = c->size + NAME_BYTES;

	if (count * stride > c->bytes_capacity) {
		c->bytes_capacity = count * stride * 2;
		c->bytes = xrealloc(c->bytes, c->bytes_capacity);
	}
	pieces_clear(&c->pieces);
	for (size_t k = 0; k < count; k++) {
		const struct code *code = &c->entries[c->pending[k]].code;
		unsigned char *bytes = c->bytes + k * stride;

		pieces_add(&c->pieces, code->address + c->offset, bytes,
			   c->size);
		if (code->name_at)
			pieces_add(&c->pieces, code->name_at, bytes + c->size,
				   NAME_BYTES);
	}
	pieces_read(&c->pieces, c->python->memory);
}

static bool is_same(const struct codes *c, const struct code *code,
		    const unsigned char *bytes, bool has_name)
{
	uint64_t now[6];

	code_fingerprint(&c->python->layout, bytes, now);
	if (memcmp(now, code->fingerprint, sizeof(now)))
		return false;
	return !code->name_at ||
	       (has_name &&
		!memcmp(bytes + c->size, code->name_words, NAME_BYTES));
}

/* Read an entry anew if it changed; the piece is moved behind its own. True
 * when it did. */
static bool compare(struct codes *c, size_t k, size_t *piece)
{
	struct entry *e = &c->entries[c->pending[k]];
	const unsigned char *bytes = c->bytes + k * (c->size + NAME_BYTES);
	size_t before = c->arena.total;
	bool good = c->pieces.good[(*piece)++];
	bool has_name = e->code.name_at && c->pieces.good[(*piece)++];

	if (!good)
		return false;
	if (!e->bad && is_same(c, &e->code, bytes, has_name))
		return false;
	read_entry(c, e, e->code.address);
	e->changed = c->pass;
	c->stale += c->arena.total - before; /* the old one was about as big */
	return true;
}

/* A program that makes code all the time leaves much behind: begin anew. */
static void forget_all(struct codes *c)
{
	arena_release(&c->arena);
	map_clear(&c->by_address);
	c->count = 0;
	c->stale = 0;
}

bool codes_check(struct codes *c, const struct raw_frame *frames, uint32_t n,
		 uint64_t generation)
{
	bool changed = false;
	size_t count, piece = 0;

	if (c->stale > STALE_MAX) {
		forget_all(c);
		return true;
	}
	c->pass++;
	count = collect(c, frames, n, generation);
	if (!count)
		return false;
	read_fingerprints(c, count);
	for (size_t k = 0; k < count; k++) {
		changed |= compare(c, k, &piece);
		c->entries[c->pending[k]].generation = generation;
	}
	return changed;
}

uint64_t codes_read(const struct codes *c)
{
	return c->n_read;
}

uint64_t codes_pass(const struct codes *c)
{
	return c->pass;
}

bool codes_changed_since(const struct codes *c, const struct raw_frame *frames,
			 uint32_t n, uint64_t pass)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = map_get(&c->by_address, frames[k].code, 0);

		if (i != MAP_NONE && c->entries[i].changed > pass)
			return true;
	}
	return false;
}

/* co_tlbc points at {size, entries...}. */
uint64_t codes_tlbc_base(const struct python *p, const struct raw_frame *frame)
{
	const struct layout *l = &p->layout;
	uint64_t table, base;

	if (l->code.tlbc == LAYOUT_NONE || frame->tlbc <= 0 ||
	    frame->tlbc > TLBC_MAX ||
	    memory_read_u64(p->memory, frame->code + l->code.tlbc, &table) ||
	    memory_read_u64(p->memory, table + 8 + 8 * (uint64_t)frame->tlbc,
			    &base))
		return 0;
	return base;
}

bool codes_is_internal(struct codes *c, const struct raw_frame *frame)
{
	uint32_t i = find_entry(c, frame->code); /* may move the entries */

	return c->entries[i].code.internal;
}

uint32_t codes_frame(struct codes *c, const struct raw_frame *frame)
{
	uint32_t i = find_entry(c, frame->code); /* may move the entries */
	const struct entry *e = &c->entries[i];
	uint32_t line = 0;

	if (!e->bad)
		line = code_line(&e->code, &c->python->layout,
				 frame->instruction,
				 codes_tlbc_base(c->python, frame));
	return writer_frame(c->writer, e->function, line);
}
