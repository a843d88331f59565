#include "elf/unwind_scan.h"

#include <string.h>

#define WORDS_MAX      512  /* between a frame and its caller's */
#define KNOWN_MAX      4096 /* frames; then all are forgotten */
#define ENTRY_BYTES    64   /* of the code that a program begins with */
#define FUNCTION_BYTES 4096 /* from where it was called to where it is */

/* What follows the call in a new thread: x86-64: mov %eax, %edi; xor %eax,
 * %eax; mov $60, %al; syscall. aarch64: mov x8, #93; svc #0. */
static const unsigned char thread_end[] = {
#if defined(__aarch64__)
	0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4
#else
	0x89, 0xc7, 0x31, 0xc0, 0xb0, 60, 0x0f, 0x05
#endif
};

#define CALL_BYTES 5 /* x86-64: e8 and a distance */

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

/* Whether the call before `pc` went to the function that `callee` is in. */
static bool is_caller(const struct site *site, uint64_t pc, uint64_t callee)
{
	int32_t distance;

	if (site->before[0] != 0xe8)
		return false;
	memcpy(&distance, site->before + 1, sizeof(distance));
	return callee - (pc + (uint64_t)(int64_t)distance) < FUNCTION_BYTES;
}

static bool is_proven(const struct scan *s, uint64_t pc, uint64_t callee,
		      bool *is_root)
{
	const struct code_region *region = code_find(s->code, pc);
	const struct code_module *m;
	struct site site;

	if (!region || region->module == UNWIND_NO_MODULE ||
	    memory_read(s->memory, pc - CALL_BYTES, &site, sizeof(site)))
		return false;
	m = s->code->modules[region->module];
	*is_root = is_first(m, &site, pc);
	return *is_root || is_caller(&site, pc, callee);
}

static bool is_there(const struct scan *s, const struct walk_frame *frame,
		     uint32_t words, uint64_t *pc, bool *is_root)
{
	return walk_read(s->stack, frame->sp + words * UINT64_C(8), pc) &&
	       is_proven(s, *pc, frame->pc, is_root);
}

/* What was found once is likely to be there again. */
bool scan_find(struct scan *s, const struct walk_frame *frame,
	       struct walk_frame *caller, bool *is_root)
{
	uint32_t words = map_get(&s->known, frame->pc, frame->sp);
	bool found = words != MAP_NONE &&
		     is_there(s, frame, words, &caller->pc, is_root);

	for (uint32_t i = 0; !found && i < WORDS_MAX; i++) {
		words = i;
		found = is_there(s, frame, words, &caller->pc, is_root);
	}
	if (!found || frame->sp % 8)
		return false;
	if (s->known.count >= KNOWN_MAX)
		map_clear(&s->known);
	map_put(&s->known, frame->pc, frame->sp, words);
	caller->sp = frame->sp + words * UINT64_C(8) + 8;
	caller->fp = frame->fp;
	caller->base = caller->scratch = 0;
	return true;
}

void scan_release(struct scan *s)
{
	map_release(&s->known);
}
