/* A CFA program changes a table row by row as the address advances. Each
 * instruction takes at least one byte, so its length bounds the work.
 *
 * Expressions are not evaluated. Those that occur in practice are recognised
 * and become rules like others: a register plus a number, the word found there
 * (realigned frames, signal frames), and the linker's for PLT stubs. */
#include "elf/eh_frame_rows.h"

#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define REMEMBERED_MAX 32	 /* states one upon the other */
#define ROWS_MAX       (1 << 17) /* of one function */
#define LOST	       0xff	 /* enum unwind_saved: somewhere unknown */

static_assert(sizeof(struct unwind_rule) == 20, "rules are compared as bytes");

/* Registers that are followed. */
enum { FOLLOW_RA, FOLLOW_FP, FOLLOW_BASE, FOLLOWED };

struct place {
	uint8_t kind; /* enum unwind_saved */
	int64_t offset;
};

struct state {
	uint8_t cfa; /* enum unwind_cfa */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct place places[FOLLOWED];
};

struct run {
	const struct eh_frame *frame;
	const struct eh_fde *fde;
	const struct unwind_machine *machine;
	struct eh_rows *rows;
	size_t first;		 /* of our rows */
	uint64_t location, size; /* counted from the function's start */
	struct state now, initial, remembered[REMEMBERED_MAX];
	unsigned depth;
	bool failed;
};

static int followed(const struct run *r, uint64_t number)
{
	if (number == r->fde->cie.ra)
		return FOLLOW_RA;
	if (number == r->machine->numbers[ANCHOR_FP])
		return FOLLOW_FP;
	if (number == r->machine->numbers[ANCHOR_BASE])
		return FOLLOW_BASE;
	return FOLLOWED;
}

static void place(struct run *r, uint64_t number, uint8_t kind, int64_t offset)
{
	int i = followed(r, number);

	if (i < FOLLOWED)
		r->now.places[i] = (struct place){ kind, offset };
}

static int anchor_of(const struct run *r, uint64_t number)
{
	for (int i = 0; i < ANCHORS; i++)
		if (r->machine->numbers[i] == number && number != NO_REGISTER)
			return i;
	return ANCHORS;
}

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* A register's place as the rule has it; one that cannot be said is lost. */
static uint8_t put_place(const struct place *p, int32_t *offset)
{
	if (p->kind == LOST || !fits(p->offset))
		return LOST;
	*offset = (int32_t)p->offset;
	return p->kind;
}

static bool has_return_address(const struct run *r, uint8_t kind)
{
	return kind != LOST &&
	       (kind != SAVED_SAME || r->machine->ra_in_register);
}

static bool has_cfa(const struct state *s, int anchor)
{
	return s->cfa != CFA_NONE && fits(s->cfa_offset) && anchor < ANCHORS;
}

static void put_others(const struct run *r, struct unwind_rule *rule)
{
	int32_t base = 0;

	rule->fp = put_place(&r->now.places[FOLLOW_FP], &rule->fp_offset);
	if (rule->fp == LOST)
		rule->fp = SAVED_UNDEFINED;
	rule->base = put_place(&r->now.places[FOLLOW_BASE], &base);
	if (rule->base == LOST || base % 8 || base / 8 > INT16_MAX ||
	    base / 8 < INT16_MIN)
		rule->base = SAVED_UNDEFINED;
	else
		rule->base_offset_words = (int16_t)(base / 8);
}

static struct unwind_rule rule_of(const struct run *r)
{
	struct unwind_rule rule = {
		.cfa = r->now.cfa,
		.anchor = (uint8_t)anchor_of(r, r->now.cfa_register),
		.flags = r->fde->cie.is_signal ? RULE_SIGNAL : 0,
	};

	rule.ra = put_place(&r->now.places[FOLLOW_RA], &rule.ra_offset);
	if (rule.ra == SAVED_UNDEFINED && !has_cfa(&r->now, rule.anchor))
		return (struct unwind_rule){ .ra = SAVED_UNDEFINED };
	if (!has_return_address(r, rule.ra) || !has_cfa(&r->now, rule.anchor))
		return (struct unwind_rule){ .flags = RULE_LOST };
	rule.cfa_offset = (int32_t)r->now.cfa_offset;
	put_others(r, &rule);
	return rule;
}

/* Add a row at the current location, unless it says nothing new. */
static void add_row(struct run *r, struct unwind_rule rule)
{
	struct eh_rows *rows = r->rows;
	struct eh_row *last =
		rows->count > r->first ? &rows->items[rows->count - 1] : NULL;

	if (last && last->offset == r->location) {
		last->rule = rule;
		return;
	}
	if (last && !memcmp(&last->rule, &rule, sizeof(rule)))
		return;
	ALLOC_GROW(rows->items, rows->count + 1, rows->capacity);
	rows->items[rows->count++] =
		(struct eh_row){ (uint32_t)r->location, rule };
}

static void advance(struct run *r, uint64_t delta)
{
	uint64_t step;

	add_row(r, rule_of(r));
	if (__builtin_mul_overflow(delta, r->fde->cie.code_align, &step) ||
	    step > r->size - r->location ||
	    r->rows->count - r->first >= ROWS_MAX)
		r->failed = true;
	else
		r->location += step;
}

static void set_location(struct run *r, struct cursor *c)
{
	struct eh_bases bases = { .bytes = r->frame->bytes,
				  .address = r->frame->address,
				  .data = r->frame->hdr };
	uint64_t to = eh_pointer(c, r->fde->cie.pointers, &bases);

	add_row(r, rule_of(r));
	to -= r->fde->start;
	if (to < r->location || to > r->size ||
	    r->rows->count - r->first >= ROWS_MAX)
		r->failed = true;
	else
		r->location = to;
}

/* register + number, and nothing else (CFA_IS), a DW_OP_deref behind it
 * (CFA_AT), or that and 8 more (CFA_AFTER) */
struct simple {
	uint64_t number;
	int64_t offset;
	enum unwind_cfa kind;
};

static bool read_breg(struct cursor *c, uint64_t *number, int64_t *offset)
{
	uint8_t op = cursor_byte(c);

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*number = op - DW_OP_breg0;
	else if (op == DW_OP_bregx)
		*number = eh_uleb(c);
	else
		return false;
	*offset = eh_sleb(c);
	return !c->failed;
}

static bool is_rest(const struct cursor *c, const uint8_t *bytes, size_t size)
{
	return cursor_left(c) == size && !memcmp(c->at, bytes, size);
}

static bool read_simple(struct cursor c, struct simple *out)
{
	static const uint8_t deref[] = { DW_OP_deref, DW_OP_plus_uconst, 8 };

	if (!read_breg(&c, &out->number, &out->offset))
		return false;
	out->kind = CFA_NONE;
	if (!cursor_left(&c))
		out->kind = CFA_IS;
	else if (is_rest(&c, deref, 1))
		out->kind = CFA_AT;
	else if (is_rest(&c, deref, sizeof(deref)))
		out->kind = CFA_AFTER;
	return out->kind != CFA_NONE;
}

/* rsp + 8 + ((rip & 15 >= N) << 3): a stub has pushed its number or not. */
static bool read_plt(struct cursor c, int64_t *from)
{
	static const uint8_t before[] = { DW_OP_breg0 + 7,  8,
					  DW_OP_breg0 + 16, 0,
					  DW_OP_lit15,	    DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl,
					 DW_OP_plus };

	if (cursor_left(&c) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(c.at, before, sizeof(before)) ||
	    memcmp(c.at + sizeof(before) + 1, after, sizeof(after)))
		return false;
	*from = c.at[sizeof(before)] - DW_OP_lit0;
	return *from >= 0 && *from < 16;
}

static struct cursor read_expression(struct cursor *c)
{
	uint64_t size = eh_uleb(c);
	const void *bytes = cursor_bytes(c, (size_t)size);

	return cursor_over(bytes, bytes ? (size_t)size : 0);
}

static void cfa_expression(struct run *r, struct cursor expression)
{
	struct simple s;
	int64_t from;

	if (read_simple(expression, &s)) {
		r->now.cfa = (uint8_t)s.kind;
		r->now.cfa_register = s.number;
		r->now.cfa_offset = s.offset;
	} else if (r->machine == &unwind_x86_64 &&
		   read_plt(expression, &from)) {
		r->now.cfa = CFA_PLT;
		r->now.cfa_register = r->machine->numbers[ANCHOR_SP];
		r->now.cfa_offset = from;
	} else {
		r->now.cfa = CFA_NONE;
	}
}

/* A register saved at an address that an expression gives. */
static void place_expression(struct run *r, uint64_t number,
			     struct cursor expression)
{
	struct simple s;
	int anchor = ANCHORS;

	if (read_simple(expression, &s) && s.kind == CFA_IS)
		anchor = anchor_of(r, s.number);
	if (anchor == ANCHOR_SP)
		place(r, number, SAVED_AT_SP, s.offset);
	else if (anchor == ANCHOR_FP)
		place(r, number, SAVED_AT_FP, s.offset);
	else
		place(r, number, LOST, 0);
}

static void restore(struct run *r, uint64_t number)
{
	int i = followed(r, number);

	if (i < FOLLOWED)
		r->now.places[i] = r->initial.places[i];
}

static void remember(struct run *r)
{
	if (r->depth == REMEMBERED_MAX)
		r->failed = true;
	else
		r->remembered[r->depth++] = r->now;
}

static void recall(struct run *r)
{
	if (!r->depth)
		r->failed = true;
	else
		r->now = r->remembered[--r->depth];
}

static void define_cfa(struct run *r, uint64_t number, int64_t offset)
{
	r->now.cfa = CFA_IS;
	r->now.cfa_register = number;
	r->now.cfa_offset = offset;
}

/* The offset alone, or the register alone, of a CFA that is a register plus an
 * offset. */
static void change_cfa(struct run *r, const uint64_t *number,
		       const int64_t *offset)
{
	if (r->now.cfa != CFA_IS) {
		r->now.cfa = CFA_NONE;
		return;
	}
	if (number)
		r->now.cfa_register = *number;
	if (offset)
		r->now.cfa_offset = *offset;
}

static int64_t factored(const struct run *r, int64_t n)
{
	int64_t product;

	if (__builtin_mul_overflow(n, r->fde->cie.data_align, &product))
		return INT64_MAX; /* fits no rule */
	return product;
}

static void run_cfa(struct run *r, struct cursor *c, uint8_t op)
{
	uint64_t number;
	int64_t offset;

	switch (op) {
	case DW_CFA_def_cfa:
		number = eh_uleb(c);
		define_cfa(r, number, (int64_t)eh_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		number = eh_uleb(c);
		define_cfa(r, number, factored(r, eh_sleb(c)));
		break;
	case DW_CFA_def_cfa_register:
		number = eh_uleb(c);
		change_cfa(r, &number, NULL);
		break;
	case DW_CFA_def_cfa_offset:
		offset = (int64_t)eh_uleb(c);
		change_cfa(r, NULL, &offset);
		break;
	case DW_CFA_def_cfa_offset_sf:
		offset = factored(r, eh_sleb(c));
		change_cfa(r, NULL, &offset);
		break;
	default: /* DW_CFA_def_cfa_expression */
		cfa_expression(r, read_expression(c));
	}
}

static void run_place(struct run *r, struct cursor *c, uint8_t op)
{
	uint64_t number = eh_uleb(c);

	switch (op) {
	case DW_CFA_offset_extended:
		place(r, number, SAVED_AT_CFA,
		      factored(r, (int64_t)eh_uleb(c)));
		break;
	case DW_CFA_offset_extended_sf:
		place(r, number, SAVED_AT_CFA, factored(r, eh_sleb(c)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		place(r, number, SAVED_AT_CFA,
		      factored(r, -(int64_t)eh_uleb(c)));
		break;
	case DW_CFA_val_offset:
		place(r, number, SAVED_IS_CFA,
		      factored(r, (int64_t)eh_uleb(c)));
		break;
	case DW_CFA_val_offset_sf:
		place(r, number, SAVED_IS_CFA, factored(r, eh_sleb(c)));
		break;
	case DW_CFA_restore_extended:
		restore(r, number);
		break;
	case DW_CFA_undefined:
		place(r, number, SAVED_UNDEFINED, 0);
		break;
	default: /* DW_CFA_same_value */
		place(r, number, SAVED_SAME, 0);
	}
}

/* A register in another register, or as the value of an expression. */
static void run_elsewhere(struct run *r, struct cursor *c, uint8_t op)
{
	uint64_t number = eh_uleb(c);

	if (op == DW_CFA_expression) {
		place_expression(r, number, read_expression(c));
		return;
	}
	if (op == DW_CFA_register && eh_uleb(c) == r->machine->argument &&
	    number == r->machine->ra) {
		place(r, number, SAVED_IN_ARGUMENT, 0);
		return;
	}
	if (op != DW_CFA_register)
		read_expression(c);
	place(r, number, LOST, 0);
}

static void run_extended(struct run *r, struct cursor *c, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* signatures are masked */
	case DW_CFA_AARCH64_negate_ra_state - 1:
		break;
	case DW_CFA_set_loc:
		set_location(r, c);
		break;
	case DW_CFA_advance_loc1:
		advance(r, cursor_byte(c));
		break;
	case DW_CFA_advance_loc2:
		advance(r, eh_u16(c));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cursor_u32(c));
		break;
	case DW_CFA_MIPS_advance_loc8:
		advance(r, cursor_u64(c));
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size:
		eh_uleb(c);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		run_cfa(r, c, op);
		break;
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		run_elsewhere(r, c, op);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		run_place(r, c, op);
		break;
	default:
		r->failed = true;
	}
}

static void run(struct run *r, struct cursor c)
{
	while (cursor_left(&c) && !r->failed) {
		uint8_t op = cursor_byte(&c), low = op & 0x3f;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance(r, low);
			break;
		case DW_CFA_offset:
			place(r, low, SAVED_AT_CFA,
			      factored(r, (int64_t)eh_uleb(&c)));
			break;
		case DW_CFA_restore:
			restore(r, low);
			break;
		default:
			run_extended(r, &c, op);
		}
		if (c.failed)
			r->failed = true;
	}
}

size_t eh_rows_run(struct eh_rows *rows, const struct eh_frame *e,
		   const struct eh_fde *fde,
		   const struct unwind_machine *machine)
{
	struct run r = { .frame = e,
			 .fde = fde,
			 .machine = machine,
			 .rows = rows,
			 .first = rows->count,
			 .size = fde->end - fde->start };

	if (r.size > UINT32_MAX)
		r.size = UINT32_MAX;
	run(&r, fde->cie.program);
	r.location = 0; /* a common part has no place to advance to */
	rows->count = r.first;
	r.initial = r.now;
	if (!r.failed)
		run(&r, fde->program);
	add_row(&r, r.failed ? (struct unwind_rule){ .flags = RULE_LOST }
			     : rule_of(&r));
	r.location = r.size;
	add_row(&r, (struct unwind_rule){ .cfa = CFA_NONE });
	return rows->count - r.first;
}

void eh_rows_release(struct eh_rows *rows)
{
	free(rows->items);
	memset(rows, 0, sizeof(*rows));
}
