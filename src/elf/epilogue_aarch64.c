#include "elf/epilogue_private.h"

#include <string.h>

enum { FP = 29, LR = 30, SP = 31 };

/* Bits `low` to `low + n - 1`. */
static uint32_t bits(uint32_t word, unsigned low, unsigned n)
{
	return word >> low & ((UINT32_C(1) << n) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned low, unsigned n)
{
	int64_t sign = INT64_C(1) << (n - 1);

	return ((int64_t)bits(word, low, n) ^ sign) - sign;
}

static struct kept *kept_of(struct path *p, uint32_t number)
{
	if (number == FP)
		return &p->now.fp;
	return number == LR ? &p->now.base : NULL;
}

static struct value value_of(struct path *p, uint32_t number)
{
	if (number == SP)
		return p->now.sp;
	if (number == FP)
		return kept_value(&p->now.fp, ANCHOR_FP);
	return (struct value){ 0 };
}

/* One register is loaded from or stored to an address. */
static void access(struct path *p, uint32_t number, struct value at,
		   bool is_load)
{
	struct kept *kept = kept_of(p, number);

	if (kept && is_load)
		kept_load(kept, at);
	else if (kept)
		kept_store(kept, at);
}

/* Pre- and post-indexing change the base register. */
static struct value index_by(struct path *p, uint32_t number, int64_t by,
			     bool is_before, bool is_after)
{
	struct value at = value_of(p, number), moved = value_plus(at, by);

	if (number == SP && (is_before || is_after))
		p->now.sp = moved;
	return is_after ? at : moved;
}

/* ldp, stp and their vector forms */
static void pair(struct path *p, uint32_t word)
{
	bool is_vector = bits(word, 26, 1);
	uint32_t size = bits(word, 30, 2), mode = bits(word, 23, 2);
	int64_t scale = is_vector ? 4 << size : size & 2 ? 8 : 4;
	struct value at =
		index_by(p, bits(word, 5, 5), signed_bits(word, 15, 7) * scale,
			 mode == 3, mode == 1);

	if (is_vector || !(size & 2))
		return;
	access(p, bits(word, 0, 5), at, bits(word, 22, 1));
	access(p, bits(word, 10, 5), value_plus(at, 8), bits(word, 22, 1));
}

/* ldr and str of one register, with a distance of nine signed bits */
static void single(struct path *p, uint32_t word)
{
	uint32_t mode = bits(word, 10, 2);
	struct value at =
		index_by(p, bits(word, 5, 5), signed_bits(word, 12, 9),
			 mode == 3, mode == 1);

	if (bits(word, 30, 2) == 3 && !bits(word, 26, 1))
		access(p, bits(word, 0, 5), at, bits(word, 22, 1));
}

/* ldr and str of eight bytes, with a distance of twelve bits */
static void far_single(struct path *p, uint32_t word)
{
	struct value at = value_plus(value_of(p, bits(word, 5, 5)),
				     (int64_t)bits(word, 10, 12) * 8);

	access(p, bits(word, 0, 5), at, bits(word, 22, 1));
}

/* add and sub of a number; mov to and from sp is one of them */
static void arithmetic(struct path *p, uint32_t word)
{
	uint32_t to = bits(word, 0, 5);
	int64_t n = (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
	struct value value = value_plus(value_of(p, bits(word, 5, 5)),
					bits(word, 30, 1) ? -n : n);

	if (to == SP)
		p->now.sp = value;
	else if (to == FP)
		kept_set(&p->now.fp, value);
}

enum kind {
	RETURN,
	DEAD,
	REGISTER_JUMP,
	JUMP,
	BRANCH_19,
	BRANCH_14,
	PAIR,
	SINGLE,
	FAR_SINGLE,
	ARITHMETIC,
	SP_CHANGE, /* to what is not known */
	CALL,
	OTHER,
};

static const struct {
	uint32_t mask, word;
	enum kind kind;
} kinds[] = {
	{ 0xfffffc1f, 0xd65f0000, RETURN },	   /* ret */
	{ 0xfffffbff, 0xd65f0bff, RETURN },	   /* retaa, retab */
	{ 0xffe0001f, 0xd4200000, DEAD },	   /* brk */
	{ 0xffff0000, 0x00000000, DEAD },	   /* udf */
	{ 0xfffffc1f, 0xd61f0000, REGISTER_JUMP }, /* br */
	{ 0xfc000000, 0x14000000, JUMP },	   /* b */
	{ 0xfc000000, 0x94000000, CALL },	   /* bl */
	{ 0xfffffc1f, 0xd63f0000, CALL },	   /* blr */
	{ 0xff000000, 0x54000000, BRANCH_19 },	   /* b.cond */
	{ 0x7e000000, 0x34000000, BRANCH_19 },	   /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, BRANCH_14 },	   /* tbz, tbnz */
	{ 0x3a000000, 0x28000000, PAIR },
	{ 0x3b200000, 0x38000000, SINGLE },
	{ 0xff800000, 0xf9000000, FAR_SINGLE },
	{ 0xbf800000, 0x91000000, ARITHMETIC }, /* add, sub */
	{ 0xff80001f, 0x9200001f, SP_CHANGE },	/* and sp, ... */
	{ 0xffe0001f, 0x8b20001f, SP_CHANGE },	/* add sp, sp, x */
	{ 0xffe0001f, 0xcb20001f, SP_CHANGE },	/* sub sp, sp, x */
	{ 0, 0, OTHER },
};

static enum kind kind_of(uint32_t word)
{
	size_t i = 0;

	while ((word & kinds[i].mask) != kinds[i].word)
		i++;
	return kinds[i].kind;
}

/* br x16 and br x17 are the last calls of a function and the stubs of a PLT;
 * others may go through a table. */
static enum path_end register_jump(uint32_t word)
{
	return bits(word, 5, 5) == 16 || bits(word, 5, 5) == 17 ? PATH_RETURNS
								: PATH_DEAD;
}

static enum path_end take(struct path *p, uint32_t word)
{
	uint64_t pc = p->pc;

	p->pc += 4;
	switch (kind_of(word)) {
	case RETURN:
		return PATH_RETURNS;
	case DEAD:
		return PATH_DEAD;
	case REGISTER_JUMP:
		return register_jump(word);
	case JUMP:
		return path_jump(p,
				 pc + (uint64_t)(signed_bits(word, 0, 26) * 4));
	case BRANCH_19:
		path_branch(p, pc + (uint64_t)(signed_bits(word, 5, 19) * 4));
		break;
	case BRANCH_14:
		path_branch(p, pc + (uint64_t)(signed_bits(word, 5, 14) * 4));
		break;
	case PAIR:
		pair(p, word);
		break;
	case SINGLE:
		single(p, word);
		break;
	case FAR_SINGLE:
		far_single(p, word);
		break;
	case ARITHMETIC:
		arithmetic(p, word);
		break;
	case CALL: /* lr is another's now */
		kept_set(&p->now.base, (struct value){ 0 });
		break;
	case SP_CHANGE:
		p->now.sp.is_known = false;
		break;
	case OTHER:
		break;
	}
	return PATH_GOES_ON;
}

enum path_end epilogue_step_aarch64(struct path *p)
{
	size_t got;
	const unsigned char *bytes = window_at(p->code, p->pc, 4, &got);
	uint32_t word;

	if (!bytes || p->pc % 4)
		return PATH_DEAD;
	memcpy(&word, bytes, sizeof(word));
	return take(p, word);
}
