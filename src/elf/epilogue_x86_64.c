#include "elf/epilogue_private.h"
#include "elf/x86_instruction.h"

enum { RBX = 3, RSP, RBP, R10 = 10 };

/* The register, if it is followed. */
static struct kept *kept_of(struct path *p, uint8_t number)
{
	if (number == RBP)
		return &p->now.fp;
	if (number == R10)
		return &p->now.scratch;
	return number == RBX ? &p->now.base : NULL;
}

/* The value of a register, as far as it is known. */
static struct value value_of(struct path *p, uint8_t number)
{
	if (number == RSP)
		return p->now.sp;
	if (number == RBP)
		return kept_value(&p->now.fp, ANCHOR_FP);
	if (number == RBX)
		return kept_value(&p->now.base, ANCHOR_BASE);
	if (number == R10)
		return kept_value(&p->now.scratch, ANCHOR_SCRATCH);
	return (struct value){ 0 };
}

static void set(struct path *p, uint8_t number, struct value value)
{
	struct kept *kept = kept_of(p, number);

	if (number == RSP)
		p->now.sp = value;
	else if (kept)
		kept_set(kept, value);
}

static void load(struct path *p, uint8_t number, struct value from)
{
	struct kept *kept = kept_of(p, number);

	if (number == RSP)
		p->now.sp.is_known = false;
	else if (kept)
		kept_load(kept, from);
}

static void store(struct path *p, uint8_t number, struct value to)
{
	struct kept *kept = kept_of(p, number);

	if (kept)
		kept_store(kept, to);
}

static void push(struct path *p)
{
	p->now.sp = value_plus(p->now.sp, -8);
}

static void pop(struct path *p, uint8_t number)
{
	struct value from = p->now.sp;

	p->now.sp = value_plus(from, 8);
	load(p, number, from);
}

/* 81 and 83: add, or, adc, sbb, and, sub, xor, cmp with a number. */
static void arithmetic(struct path *p, const struct x86_instruction *in)
{
	if (in->mod != 3 || in->rm != RSP)
		return;
	switch (in->reg & 7) {
	case 0:
		set(p, RSP, value_plus(p->now.sp, in->immediate));
		break;
	case 5:
		set(p, RSP, value_plus(p->now.sp, -in->immediate));
		break;
	case 7:
		break;
	default:
		p->now.sp.is_known = false;
	}
}

/* The address of a memory operand; unknown unless it is anchor + offset. */
static struct value address_of(struct path *p, const struct x86_instruction *in)
{
	if (in->is_indexed)
		return (struct value){ 0 };
	return value_plus(value_of(p, in->rm), in->offset);
}

static void move(struct path *p, const struct x86_instruction *in)
{
	if (in->opcode == 0x89 && in->mod == 3)
		set(p, in->rm, value_of(p, in->reg));
	else if (in->opcode == 0x8b && in->mod == 3)
		set(p, in->reg, value_of(p, in->rm));
	else if (in->opcode == 0x8b)
		load(p, in->reg, address_of(p, in));
	else if (in->rex & 8)
		store(p, in->reg, address_of(p, in));
}

static void leave(struct path *p)
{
	p->now.sp = value_of(p, RBP);
	pop(p, RBP);
}

/* Whether the jump that a walk begins at is that of a PLT's first stub: its
 * push is behind us. */
static bool has_pushed(struct path *p, const struct x86_instruction *in)
{
	uint64_t at = p->pc - in->size;
	unsigned char before[6];

	return at == p->begin &&
	       !memory_read(p->code->memory, at - sizeof(before), before,
			    sizeof(before)) &&
	       before[0] == 0xff && before[1] == 0x35;
}

/* ff: calls, jumps and pushes of what is in memory. A jump through the global
 * offset table is the last call of a function, and stands for its return. The
 * first stub of a PLT has pushed two words that the resolver will take off. */
static enum path_end indirect(struct path *p, const struct x86_instruction *in)
{
	bool is_global = in->mod == 0 && in->rm == UINT8_MAX;

	switch (in->reg & 7) {
	case 4:
		if (!is_global)
			return PATH_DEAD;
		if (p->pushed_global || has_pushed(p, in))
			p->now.sp = value_plus(p->now.sp, 16);
		return PATH_RETURNS;
	case 6:
		push(p);
		p->pushed_global = is_global;
		return PATH_GOES_ON;
	default:
		return PATH_GOES_ON;
	}
}

static enum path_end one_byte(struct path *p, const struct x86_instruction *in)
{
	uint64_t target = p->pc + (uint64_t)in->immediate;
	uint8_t low = (in->opcode & 7) | (in->rex & 1) << 3;

	switch (in->opcode) {
	case 0x50 ... 0x57:
		push(p);
		store(p, low, p->now.sp);
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:
		push(p);
		break;
	case 0x58 ... 0x5f:
		pop(p, low);
		break;
	case 0x81:
	case 0x83:
		arithmetic(p, in);
		break;
	case 0x89:
	case 0x8b:
		move(p, in);
		break;
	case 0x8d:
		set(p, in->reg, address_of(p, in));
		break;
	case 0xc9:
		leave(p);
		break;
	case 0x9d:
		p->now.sp = value_plus(p->now.sp, 8);
		break;
	case 0xc2:
	case 0xc3:
		return PATH_RETURNS;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		path_branch(p, target);
		break;
	case 0xe9:
	case 0xeb:
		return path_jump(p, target);
	case 0xcc:
	case 0xf4: /* hlt */
		return PATH_DEAD;
	case 0xff:
		return indirect(p, in);
	default:
		break;
	}
	return PATH_GOES_ON;
}

enum path_end epilogue_step_x86_64(struct path *p)
{
	size_t got;
	const unsigned char *bytes =
		window_at(p->code, p->pc, X86_SIZE_MAX, &got);
	struct x86_instruction in;

	if (!bytes) /* the end of the code may be near */
		bytes = window_at(p->code, p->pc, 1, &got);
	if (!bytes || !x86_decode(bytes, got, &in))
		return PATH_DEAD;
	p->pc += in.size;
	if (in.is_vector || in.map > 1)
		return PATH_GOES_ON;
	if (in.map == 0) {
		enum path_end end = one_byte(p, &in);

		p->pushed_global &= in.opcode == 0xff;
		return end;
	}
	if (in.opcode == 0x0b)
		return PATH_DEAD; /* ud2 */
	if (in.opcode >= 0x80 && in.opcode <= 0x8f)
		path_branch(p, p->pc + (uint64_t)in.immediate);
	return PATH_GOES_ON;
}
