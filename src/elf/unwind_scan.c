#include "elf/unwind_scan.h"

#include <string.h>

#include "elf/epilogue.h"

#define WORDS_MAX   512	      /* between a frame and its caller's */
#define READS_MAX   64	      /* of code, for one caller */
#define KNOWN_MAX   4096      /* frames; then all are forgotten */
#define FRAME_MAX   (1 << 20) /* from one frame pointer to the next */
#define ENTRY_BYTES 64	      /* of the code that a program begins with */

/* What follows the call in a new thread: x86-64: mov %eax, %edi; xor %eax,
 * %eax; mov $60, %al; syscall. aarch64: mov x8, #93; svc #0. */
static const unsigned char thread_end[] = {
#if defined(__aarch64__)
	0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4
#else
	0x89, 0xc7, 0x31, 0xc0, 0xb0, 60, 0x0f, 0x05
#endif
};

#define CALL_BYTES EPILOGUE_CALL_BYTES

/* The code around a return address. */
struct site {
	unsigned char before[CALL_BYTES], after[sizeof(thread_end)];
};

static bool is_first(const struct code_module *m, const struct site *site,
		     uint64_t pc)
{
	return (m->entry && pc - m->entry - 1 < ENTRY_BYTES) ||
	       !memcmp(site->after, thread_end, sizeof(thread_end));
}

/* Where the call before `pc` went, when it says so itself; else 0. */
static uint64_t called_from(const struct site *site, uint64_t pc)
{
#if defined(__aarch64__)
	uint32_t word; /* bl: 26 bits of instructions, from itself on */

	memcpy(&word, site->before + CALL_BYTES - 4, sizeof(word));
	if ((word & 0xfc000000) != 0x94000000)
		return 0;
	return pc - 4 + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
#else
	int32_t distance; /* call: from behind it on */

	if (site->before[CALL_BYTES - 5] != 0xe8)
		return 0;
	memcpy(&distance, site->before + CALL_BYTES - 4, sizeof(distance));
	return pc + (uint64_t)(int64_t)distance;
#endif
}

/* Whether the call before `pc` went to where the callee begins. */
static bool is_caller(const struct site *site, uint64_t pc, uint64_t begin)
{
	return begin && called_from(site, pc) == begin;
}

/* Where the function of an address begins; 0: unknown. */
static uint64_t begin_of(const struct scan *s, uint64_t address)
{
	const struct code_region *region = code_find(s->code, address);
	struct module_function f;

	if (!region || region->module == UNWIND_NO_MODULE ||
	    !code_function(s->code->modules[region->module], s->opener, address,
			   &f))
		return 0;
	return f.start;
}

enum proof { NOTHING, DOUBT, CALLER, FIRST };

/* What a word on the stack is. A return address that does not prove itself is a
 * doubt: the first frame, behind it, is not the caller then. */
static enum proof prove(struct scan *s, uint64_t pc, uint64_t begin)
{
	const struct code_region *region = code_find(s->code, pc);
	struct site site;

	if (!region || region->module == UNWIND_NO_MODULE)
		return NOTHING;
	if (!s->reads_left)
		return DOUBT;
	s->reads_left--;
	if (memory_read(s->memory, pc - CALL_BYTES, &site, sizeof(site)))
		return NOTHING;
	if (is_first(s->code->modules[region->module], &site, pc))
		return FIRST;
	if (is_caller(&site, pc, begin))
		return CALLER;
	return epilogue_ends_in_call(UNWIND_NATIVE, site.before) ? DOUBT
								 : NOTHING;
}

static enum proof look(struct scan *s, const struct walk_frame *frame,
		       uint64_t begin, uint32_t words, uint64_t *pc)
{
	if (!walk_read(s->stack, frame->sp + words * UINT64_C(8), pc))
		return DOUBT;
	*pc &= UNWIND_NATIVE->address_mask;
	return prove(s, *pc, begin);
}

/* What was found once is likely to be there again. */
static enum proof search(struct scan *s, const struct walk_frame *frame,
			 uint32_t *words, uint64_t *pc)
{
	uint64_t begin = begin_of(s, frame->pc - 1);
	enum proof proof = NOTHING;

	*words = map_get(&s->known, frame->pc, frame->sp);
	if (*words < WORDS_MAX)
		proof = look(s, frame, begin, *words, pc);
	if (proof > DOUBT)
		return proof;
	for (*words = 0; *words < WORDS_MAX; (*words)++) {
		proof = look(s, frame, begin, *words, pc);
		if (proof != NOTHING)
			break;
	}
	return proof;
}

bool scan_find(struct scan *s, const struct walk_frame *frame,
	       struct walk_frame *caller, bool *is_root)
{
	enum proof proof;
	uint32_t words;

	if (frame->sp % 8)
		return false;
	s->reads_left = READS_MAX;
	proof = search(s, frame, &words, &caller->pc);
	if (proof <= DOUBT)
		return false;
	if (s->known.count >= KNOWN_MAX)
		map_clear(&s->known);
	map_put(&s->known, frame->pc, frame->sp, words);
	*is_root = proof == FIRST;
	*caller = (struct walk_frame){
		.pc = caller->pc,
		.sp = frame->sp + words * UINT64_C(8) + 8,
		.fp = frame->fp,
	};
	return true;
}

/* What the return address is if the frame pointer is `fp`. */
static enum proof try_pointer(struct scan *s, const struct unwind_rule *rule,
			      uint64_t begin, uint64_t fp)
{
	uint64_t cfa = fp + (uint64_t)(int64_t)rule->cfa_offset, pc, next;

	if (!walk_read(s->stack, cfa + (uint64_t)(int64_t)rule->ra_offset,
		       &pc) ||
	    !walk_read(s->stack, cfa + (uint64_t)(int64_t)rule->fp_offset,
		       &next))
		return NOTHING;
	if (rule->fp == SAVED_AT_CFA && next && next - fp - 1 >= FRAME_MAX)
		return NOTHING;
	return prove(s, pc & UNWIND_NATIVE->address_mask, begin);
}

static uint64_t table_start(const struct scan *s, uint64_t address)
{
	const struct code_region *region = code_find(s->code, address);
	const struct code_module *m;
	uint64_t start;

	if (!region || region->module == UNWIND_NO_MODULE)
		return 0;
	m = s->code->modules[region->module];
	start = m->table ? unwind_table_start(m->table, address - m->info.bias)
			 : 0;
	return start ? start + m->info.bias : 0;
}

/* The key of a frame pointer; no code has addresses like that. */
#define POINTER_BIT (UINT64_C(1) << 63)

uint64_t scan_frame_pointer(struct scan *s, const struct walk_frame *frame,
			    const struct unwind_rule *rule)
{
	uint64_t begin = table_start(s, frame->pc - 1), weak = 0;
	uint32_t known = map_get(&s->known, frame->pc | POINTER_BIT, frame->sp);

	if (rule->cfa != CFA_IS || rule->ra != SAVED_AT_CFA || frame->sp % 8)
		return 0;
	s->reads_left = READS_MAX;
	if (known < WORDS_MAX &&
	    try_pointer(s, rule, begin, frame->sp + known * UINT64_C(8)) !=
		    NOTHING)
		return frame->sp + known * UINT64_C(8);
	for (uint32_t i = 0; i < WORDS_MAX && s->reads_left; i++) {
		uint64_t fp = frame->sp + i * UINT64_C(8);
		enum proof proof = try_pointer(s, rule, begin, fp);

		if (proof != NOTHING && (!weak || proof == CALLER))
			weak = fp;
		if (proof == CALLER)
			break;
	}
	if (!weak)
		return 0;
	if (s->known.count >= KNOWN_MAX)
		map_clear(&s->known);
	map_put(&s->known, frame->pc | POINTER_BIT, frame->sp,
		(uint32_t)((weak - frame->sp) / 8));
	return weak;
}

void scan_release(struct scan *s)
{
	map_release(&s->known);
}
