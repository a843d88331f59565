/* An entry of the section is a length, an id and a body. The id is 0 (in
 * .debug_frame all ones) for a CIE, else it tells where the CIE of this FDE is.
 * Nothing in the section is trusted: a body is a cursor that ends where its
 * length says, or where the section does. */
#include "elf/eh_frame.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define AUGMENTATION_MAX 16

struct entry {
	struct cursor body; /* behind the id */
	size_t id_at, next; /* offsets in the section */
	uint64_t id;
	bool is_cie;
};

static struct eh_bases bases_of(const struct eh_frame *e)
{
	return (struct eh_bases){ .bytes = e->bytes,
				  .address = e->address,
				  .data = e->hdr };
}

static bool read_id(const struct eh_frame *e, struct entry *out, bool is_long)
{
	struct cursor *c = &out->body;

	if (is_long && e->is_debug) {
		out->id = cursor_u64(c);
		out->is_cie = out->id == UINT64_MAX;
	} else {
		out->id = cursor_u32(c);
		out->is_cie = out->id == (e->is_debug ? UINT32_MAX : 0);
	}
	return !c->failed;
}

/* False when there is no entry. A length of 0 ends a list; the linker may have
 * put another behind it, so only what cannot be stepped over is the end:
 * `next` is then the section's size. */
static bool read_entry(const struct eh_frame *e, size_t offset,
		       struct entry *out)
{
	struct cursor c;
	uint64_t length;
	bool is_long;

	out->next = e->size;
	if (offset >= e->size)
		return false;
	c = cursor_over(e->bytes + offset, e->size - offset);
	length = cursor_u32(&c);
	is_long = length == UINT32_MAX;
	if (is_long)
		length = cursor_u64(&c);
	if (c.failed || length > cursor_left(&c))
		return false;
	out->next = (size_t)(c.at - e->bytes) + (size_t)length;
	out->id_at = (size_t)(c.at - e->bytes);
	out->body = cursor_over(c.at, (size_t)length);
	return length && read_id(e, out, is_long);
}

/* The letters say what the data holds, in their order. A letter that is not
 * known ends the reading: `z` told how long all of it is. */
static bool read_augmentation(const struct eh_frame *e, const char *letters,
			      struct cursor *data, struct eh_cie *out)
{
	struct eh_bases bases = bases_of(e);

	for (; *letters && !data->failed; letters++) {
		switch (*letters) {
		case 'R':
			out->pointers = cursor_byte(data);
			break;
		case 'L':
			cursor_byte(data);
			break;
		case 'P':
			eh_skip_pointer(data, cursor_byte(data), &bases);
			break;
		case 'S':
			out->is_signal = true;
			break;
		case 'B': /* return addresses are signed, with another key */
		case 'G':
			break;
		default:
			return true;
		}
	}
	return !data->failed;
}

static const char *read_letters(struct cursor *c)
{
	size_t room = cursor_left(c);
	const unsigned char *end =
		memchr(c->at, 0,
		       room < AUGMENTATION_MAX ? room : AUGMENTATION_MAX);

	if (!end) {
		c->failed = true;
		return NULL;
	}
	return cursor_bytes(c, (size_t)(end - c->at) + 1);
}

static bool read_cie_body(const struct eh_frame *e, struct cursor c,
			  struct eh_cie *out)
{
	uint8_t version = cursor_byte(&c);
	const char *letters = read_letters(&c);

	if (!letters || version < 1 || version > 4)
		return false;
	if (version == 4 && (cursor_byte(&c) != 8 || cursor_byte(&c) != 0))
		return false; /* other addresses than ours */
	if (!strcmp(letters, "eh"))
		cursor_u64(&c);
	out->code_align = eh_uleb(&c);
	out->data_align = eh_sleb(&c);
	out->ra = version == 1 ? cursor_byte(&c) : eh_uleb(&c);
	if (letters[0] == 'z') {
		uint64_t size = eh_uleb(&c);
		const void *data = cursor_bytes(&c, (size_t)size);
		struct cursor inner = cursor_over(data, data ? size : 0);

		out->has_data = true;
		if (!read_augmentation(e, letters + 1, &inner, out))
			return false;
	} else if (letters[0] && strcmp(letters, "eh")) {
		return false;
	}
	out->program = c;
	return !c.failed;
}

static bool read_cie(const struct eh_frame *e, size_t offset,
		     struct eh_cie *out)
{
	struct entry entry;

	memset(out, 0, sizeof(*out));
	return read_entry(e, offset, &entry) && entry.is_cie &&
	       read_cie_body(e, entry.body, out);
}

/* .eh_frame counts back from the id, .debug_frame from the section's start. */
static bool cie_of(const struct eh_frame *e, const struct entry *entry,
		   struct eh_cie *out)
{
	if (e->is_debug)
		return entry->id < e->size && read_cie(e, entry->id, out);
	return entry->id <= entry->id_at &&
	       read_cie(e, entry->id_at - entry->id, out);
}

static bool read_fde(const struct eh_frame *e, const struct entry *entry,
		     struct eh_fde *out)
{
	struct eh_bases bases = bases_of(e);
	struct cursor c = entry->body;
	uint64_t size;

	if (entry->is_cie || !cie_of(e, entry, &out->cie))
		return false;
	out->start = eh_pointer(&c, out->cie.pointers, &bases);
	size = eh_number(&c, out->cie.pointers);
	out->end = out->start + size;
	if (out->cie.has_data)
		cursor_bytes(&c, (size_t)eh_uleb(&c));
	out->program = c;
	return !c.failed && out->end > out->start;
}

bool eh_frame_fde(const struct eh_frame *e, size_t offset, struct eh_fde *out)
{
	struct entry entry;

	return read_entry(e, offset, &entry) && read_fde(e, &entry, out);
}

static int by_start(const void *a, const void *b)
{
	const struct eh_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Linkers sort; a file that only claims so costs a sort. */
static void sort(struct eh_index *index)
{
	for (size_t i = 1; i < index->count; i++)
		if (index->entries[i].start < index->entries[i - 1].start) {
			qsort(index->entries, index->count,
			      sizeof(*index->entries), by_start);
			return;
		}
}

static void add(struct eh_index *index, const struct eh_frame *e,
		uint64_t start, uint64_t offset)
{
	if (start - index->base > UINT32_MAX || offset >= e->size ||
	    offset > UINT32_MAX)
		return;
	ALLOC_GROW(index->entries, index->count + 1, index->capacity);
	index->entries[index->count++] =
		(struct eh_entry){ .start = (uint32_t)(start - index->base),
				   .offset = (uint32_t)offset };
}

/* The head of .eh_frame_hdr: version, three encodings, and two numbers. */
struct hdr {
	struct eh_bases bases;
	struct cursor rest; /* the table */
	uint64_t frame, count;
	uint8_t table; /* encoding */
};

static bool read_hdr(struct hdr *h, const unsigned char *bytes, size_t size,
		     uint64_t address)
{
	struct cursor c = cursor_over(bytes, size);
	uint8_t version = cursor_byte(&c), frame = cursor_byte(&c),
		count = cursor_byte(&c);

	h->table = cursor_byte(&c);
	h->bases = (struct eh_bases){ .bytes = bytes,
				      .address = address,
				      .data = address };
	if (version != 1 || frame == EH_OMIT)
		return false;
	h->frame = eh_pointer(&c, frame, &h->bases);
	if (c.failed)
		return false;
	h->count = count == EH_OMIT ? 0 : eh_pointer(&c, count, &h->bases);
	h->rest = c;
	if (c.failed || h->table == EH_OMIT)
		h->count = 0;
	return true;
}

uint64_t eh_hdr_frame(const unsigned char *hdr, size_t size, uint64_t address)
{
	struct hdr h;

	return read_hdr(&h, hdr, size, address) ? h.frame : 0;
}

bool eh_index_from_hdr(struct eh_index *index, const struct eh_frame *e,
		       const unsigned char *hdr, size_t size, uint64_t base)
{
	struct hdr h;

	index->base = base;
	index->count = 0;
	if (!read_hdr(&h, hdr, size, e->hdr))
		return false;
	for (uint64_t i = 0; i < h.count && !h.rest.failed; i++) {
		uint64_t start = eh_pointer(&h.rest, h.table, &h.bases);
		uint64_t fde = eh_pointer(&h.rest, h.table, &h.bases);

		if (!h.rest.failed)
			add(index, e, start, fde - e->address);
	}
	sort(index);
	return index->count > 0;
}

void eh_index_from_scan(struct eh_index *index, const struct eh_frame *e,
			uint64_t base)
{
	struct entry entry;

	index->base = base;
	index->count = 0;
	for (size_t at = 0; at < e->size; at = entry.next) {
		struct eh_fde fde;

		if (read_entry(e, at, &entry) && read_fde(e, &entry, &fde))
			add(index, e, fde.start, at);
	}
	sort(index);
}

struct eh_entry *eh_index_find(const struct eh_index *index, uint64_t address)
{
	uint64_t want = address - index->base;
	size_t low = 0, high = index->count;

	if (want > UINT32_MAX)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->entries[middle].start <= want)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &index->entries[low - 1] : NULL;
}

void eh_index_release(struct eh_index *index)
{
	free(index->entries);
	memset(index, 0, sizeof(*index));
}
