#include "elf/cold.h"

#include <string.h>

#include "elf/eh_frame.h"

#define SIZE_MOST   (1u << 20) /* bytes of a function that are looked at */
#define PARTS_MAX   64	       /* that jumps may lead to */
#define HITS_ENOUGH 2	       /* bytes may look like one jump by chance */

/* Places that jumps of the function lead to. */
struct part {
	uint64_t start, end;
	uint32_t hits;
};

struct hunt {
	struct eh_frame frames;
	struct eh_index index;
	struct part parts[PARTS_MAX];
	size_t n_parts;
};

static bool open_frames(struct hunt *h, const struct module *m)
{
	struct module_bytes frames, hdr;

	memset(h, 0, sizeof(*h));
	if (!module_section_bytes(m, ".eh_frame", &frames))
		return false;
	h->frames = (struct eh_frame){ .bytes = frames.bytes,
				       .size = frames.size,
				       .address = frames.address };
	if (module_section_bytes(m, ".eh_frame_hdr", &hdr)) {
		h->frames.hdr = hdr.address;
		if (eh_index_from_hdr(&h->index, &h->frames, hdr.bytes,
				      hdr.size, module_lowest(m)))
			return true;
	}
	eh_index_from_scan(&h->index, &h->frames, module_lowest(m));
	return true;
}

/* The function whose inside the address is, not its first byte. */
static bool is_inside(const struct hunt *h, uint64_t address,
		      struct eh_fde *out)
{
	const struct eh_entry *e = eh_index_find(&h->index, address);

	return e && eh_frame_fde(&h->frames, e->offset, out) &&
	       address > out->start && address < out->end;
}

static void note(struct hunt *h, const struct eh_fde *fde)
{
	size_t i = 0;

	while (i < h->n_parts && h->parts[i].start != fde->start)
		i++;
	if (i == PARTS_MAX)
		return;
	if (i == h->n_parts)
		h->parts[h->n_parts++] =
			(struct part){ fde->start, fde->end, 0 };
	h->parts[i].hits++;
}

#if defined(__x86_64__)
/* jcc rel32 and jmp rel32; how long the jump is, or 0. */
static size_t jump_at(const unsigned char *code, size_t left, int64_t *target)
{
	size_t opcode = 0;
	int32_t distance;

	if (left >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		opcode = 2;
	else if (left >= 5 && code[0] == 0xe9)
		opcode = 1;
	if (!opcode)
		return 0;
	memcpy(&distance, code + opcode, sizeof(distance));
	*target = (int64_t)opcode + 4 + distance;
	return opcode + 4;
}
#define CODE_STEP 1
#else
/* b, b.cond, cbz and cbnz. */
static size_t jump_at(const unsigned char *code, size_t left, int64_t *target)
{
	uint32_t word;

	if (left < 4)
		return 0;
	memcpy(&word, code, sizeof(word));
	if ((word & 0xfc000000) == 0x14000000)
		*target = (int64_t)(int32_t)(word << 6) >> 4;
	else if ((word & 0xff000010) == 0x54000000 ||
		 (word & 0x7e000000) == 0x34000000)
		*target = (int64_t)(int32_t)(word << 8 & 0xffffe000) >> 11;
	else
		return 0;
	return 4;
}
#define CODE_STEP 4
#endif

static void follow_jumps(struct hunt *h, const struct module_bytes *code,
			 uint64_t function, size_t size)
{
	for (size_t i = 0; i < size; i += CODE_STEP) {
		int64_t target;
		struct eh_fde fde;
		uint64_t to;

		if (!jump_at(code->bytes + i, size - i, &target))
			continue;
		to = function + i + (uint64_t)target;
		if (to - function >= size && is_inside(h, to, &fde) &&
		    fde.start != function)
			note(h, &fde);
	}
}

bool cold_part(const struct module *m, uint64_t function, uint64_t size,
	       uint64_t *start, uint64_t *end)
{
	struct hunt h;
	struct module_bytes code;
	const struct part *best = NULL;

	if (size > SIZE_MOST || !module_loaded_bytes(m, function, &code) ||
	    code.size < size || !open_frames(&h, m))
		return false;
	follow_jumps(&h, &code, function, (size_t)size);
	for (size_t i = 0; i < h.n_parts; i++)
		if (h.parts[i].hits >= HITS_ENOUGH &&
		    (!best || h.parts[i].hits > best->hits))
			best = &h.parts[i];
	if (best) {
		*start = best->start;
		*end = best->end;
	}
	eh_index_release(&h.index);
	return best != NULL;
}
