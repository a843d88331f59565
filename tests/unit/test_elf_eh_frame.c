/* Unwind tables made by hand, for both machines. */
#include "unit.h"

#include <dwarf.h>
#include <string.h>

#include "base/buffer.h"
#include "elf/eh_frame_rows.h"

#define SECTION_AT    UINT64_C(0x10000)
#define FUNCTION_AT   UINT64_C(0x2000)
#define FUNCTION_SIZE 100

/* A section that is being written. */
struct section {
	struct buffer b;
	size_t entry; /* where the length of the entry is */
	size_t cie;
	bool is_debug;
};

static void begin_entry(struct section *s, uint32_t id)
{
	s->entry = s->b.size;
	buffer_add_u32(&s->b, 0);
	buffer_add_u32(&s->b, id);
}

static void end_entry(struct section *s)
{
	uint32_t size;

	while (s->b.size % 8 != 4)
		buffer_add_byte(&s->b, DW_CFA_nop);
	size = (uint32_t)(s->b.size - s->entry - 4);
	memcpy(s->b.data + s->entry, &size, sizeof(size));
}

/* `pointers`: the encoding of addresses. */
static void add_cie(struct section *s, const char *letters, uint8_t pointers,
		    uint8_t ra, const void *program, size_t size)
{
	s->cie = s->b.size;
	begin_entry(s, s->is_debug ? UINT32_MAX : 0);
	buffer_add_byte(&s->b, s->is_debug ? 3 : 1);
	buffer_add(&s->b, letters, strlen(letters) + 1);
	buffer_add_byte(&s->b, 1);    /* code */
	buffer_add_byte(&s->b, 0x78); /* data: -8 */
	buffer_add_byte(&s->b, ra);
	if (letters[0] == 'z') {
		buffer_add_byte(&s->b, strchr(letters, 'P') ? 6 : 1);
		if (strchr(letters, 'P')) {
			buffer_add_byte(&s->b, DW_EH_PE_udata4);
			buffer_add_u32(&s->b, 77);
		}
		buffer_add_byte(&s->b, pointers);
	}
	buffer_add(&s->b, program, size);
	end_entry(s);
}

static void add_pointer(struct section *s, uint8_t encoding, uint64_t value)
{
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value -= SECTION_AT + s->b.size;
	if ((encoding & 0x0f) == DW_EH_PE_absptr ||
	    (encoding & 0x07) == DW_EH_PE_udata8)
		buffer_add_u64(&s->b, value);
	else if ((encoding & 0x0f) == DW_EH_PE_uleb128)
		buffer_add_varint(&s->b, value);
	else if ((encoding & 0x07) == DW_EH_PE_udata2)
		buffer_add(&s->b, &value, 2);
	else
		buffer_add_u32(&s->b, (uint32_t)value);
}

static size_t add_fde(struct section *s, bool has_data, uint8_t pointers,
		      uint64_t start, const void *program, size_t size)
{
	size_t at = s->b.size;

	begin_entry(s, (uint32_t)(s->is_debug ? s->cie : at + 4 - s->cie));
	add_pointer(s, pointers, start);
	add_pointer(s, pointers & 0x0f, FUNCTION_SIZE);
	if (has_data)
		buffer_add_byte(&s->b, 0);
	buffer_add(&s->b, program, size);
	end_entry(s);
	return at;
}

static struct eh_frame frame_of(const struct section *s)
{
	return (struct eh_frame){ .bytes = s->b.data,
				  .size = s->b.size,
				  .address = SECTION_AT,
				  .is_debug = s->is_debug };
}

static const uint8_t cie_x86_64[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16,
				      1 };

/* The rows of one function with this program. */
static struct eh_rows rows_of(const struct unwind_machine *machine,
			      const char *letters, const uint8_t *program,
			      size_t size)
{
	static const uint8_t cie_aarch64[] = { DW_CFA_def_cfa, 31, 0 };
	struct section s = { 0 };
	struct eh_rows rows = { 0 };
	struct eh_frame e;
	struct eh_fde fde;
	size_t at, n;

	if (machine == &unwind_x86_64)
		add_cie(&s, letters, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 16,
			cie_x86_64, sizeof(cie_x86_64));
	else
		add_cie(&s, letters, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 30,
			cie_aarch64, sizeof(cie_aarch64));
	at = add_fde(&s, true, DW_EH_PE_pcrel | DW_EH_PE_sdata4, FUNCTION_AT,
		     program, size);
	e = frame_of(&s);
	assert_true(eh_frame_fde(&e, at, &fde));
	assert_int_equal(fde.start, FUNCTION_AT);
	n = eh_rows_run(&rows, &e, &fde, machine);
	assert_int_equal(n, rows.count);
	buffer_release(&s.b);
	return rows;
}

/* What every function of a compiler does: push, move, pop. */
static void test_frame_pointer(void **state)
{
	static const uint8_t program[] = {
		DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset,
		16,
		DW_CFA_offset | 6,
		2,
		DW_CFA_advance_loc | 3,
		DW_CFA_def_cfa_register,
		6,
		DW_CFA_advance_loc1,
		60,
		DW_CFA_def_cfa,
		7,
		8,
	};
	struct eh_rows r =
		rows_of(&unwind_x86_64, "zR", program, sizeof(program));

	(void)state;
	assert_int_equal(r.count, 5);
	assert_int_equal(r.items[0].rule.cfa, CFA_IS);
	assert_int_equal(r.items[0].rule.anchor, ANCHOR_SP);
	assert_int_equal(r.items[0].rule.cfa_offset, 8);
	assert_int_equal(r.items[0].rule.ra, SAVED_AT_CFA);
	assert_int_equal(r.items[0].rule.ra_offset, -8);
	assert_int_equal(r.items[0].rule.fp, SAVED_SAME);
	assert_int_equal(r.items[1].offset, 1);
	assert_int_equal(r.items[1].rule.cfa_offset, 16);
	assert_int_equal(r.items[1].rule.fp, SAVED_AT_CFA);
	assert_int_equal(r.items[1].rule.fp_offset, -16);
	assert_int_equal(r.items[2].offset, 4);
	assert_int_equal(r.items[2].rule.anchor, ANCHOR_FP);
	assert_int_equal(r.items[3].offset, 64);
	assert_int_equal(r.items[3].rule.anchor, ANCHOR_SP);
	assert_int_equal(r.items[4].offset, FUNCTION_SIZE);
	assert_int_equal(r.items[4].rule.cfa, CFA_NONE);
	eh_rows_release(&r);
}

static void test_states_are_remembered(void **state)
{
	static const uint8_t program[] = {
		DW_CFA_def_cfa_offset, 32,
		DW_CFA_offset | 6,     2,
		DW_CFA_remember_state, DW_CFA_advance_loc | 8,
		DW_CFA_def_cfa_offset, 8,
		DW_CFA_restore | 6,    DW_CFA_advance_loc | 1,
		DW_CFA_restore_state,
	};
	struct eh_rows r =
		rows_of(&unwind_x86_64, "zR", program, sizeof(program));

	(void)state;
	assert_int_equal(r.count, 4);
	assert_int_equal(r.items[1].rule.cfa_offset, 8);
	assert_int_equal(r.items[1].rule.fp, SAVED_SAME);
	assert_int_equal(r.items[2].rule.cfa_offset, 32);
	assert_int_equal(r.items[2].rule.fp, SAVED_AT_CFA);
	eh_rows_release(&r);
}

static void test_expressions(void **state)
{
	static const uint8_t plt[] = {
		DW_CFA_def_cfa_expression,
		11,
		DW_OP_breg7,
		8,
		DW_OP_breg16,
		0,
		DW_OP_lit15,
		DW_OP_and,
		DW_OP_lit11,
		DW_OP_ge,
		DW_OP_lit3,
		DW_OP_shl,
		DW_OP_plus,
	};
	static const uint8_t realigned[] = {
		DW_CFA_expression,
		6,
		2,
		DW_OP_breg6,
		0,
		DW_CFA_def_cfa_expression,
		3,
		DW_OP_breg6,
		0x78,
		DW_OP_deref,
	};
	static const uint8_t put_away[] = {
		DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 40, DW_OP_deref,
		DW_OP_plus_uconst,	   8,
	};
	static const uint8_t other[] = { DW_CFA_def_cfa_expression, 1,
					 DW_OP_lit1 };
	struct eh_rows r;

	(void)state;
	r = rows_of(&unwind_x86_64, "zR", plt, sizeof(plt));
	assert_int_equal(r.items[0].rule.cfa, CFA_PLT);
	assert_int_equal(r.items[0].rule.cfa_offset, 11);
	eh_rows_release(&r);
	r = rows_of(&unwind_x86_64, "zR", realigned, sizeof(realigned));
	assert_int_equal(r.items[0].rule.cfa, CFA_AT);
	assert_int_equal(r.items[0].rule.anchor, ANCHOR_FP);
	assert_int_equal(r.items[0].rule.cfa_offset, -8);
	assert_int_equal(r.items[0].rule.fp, SAVED_AT_FP);
	eh_rows_release(&r);
	r = rows_of(&unwind_x86_64, "zR", put_away, sizeof(put_away));
	assert_int_equal(r.items[0].rule.cfa, CFA_AFTER);
	assert_int_equal(r.items[0].rule.anchor, ANCHOR_SP);
	assert_int_equal(r.items[0].rule.cfa_offset, 40);
	eh_rows_release(&r);
	r = rows_of(&unwind_x86_64, "zR", other, sizeof(other));
	assert_int_equal(r.items[0].rule.cfa, CFA_NONE);
	assert_int_equal(r.items[0].rule.flags, RULE_LOST);
	eh_rows_release(&r);
}

static void test_signal_frame_and_root(void **state)
{
	static const uint8_t signal[] = {
		DW_CFA_def_cfa_expression,
		4,
		DW_OP_breg7,
		0xa0,
		1,
		DW_OP_deref,
		DW_CFA_expression,
		6,
		3,
		DW_OP_breg7,
		0xf8,
		0,
		DW_CFA_expression,
		16,
		3,
		DW_OP_breg7,
		0xa8,
		1,
	};
	static const uint8_t root[] = { DW_CFA_undefined, 16 };
	static const uint8_t vfork[] = { DW_CFA_def_cfa_offset, 0,
					 DW_CFA_register, 16, 5 };
	struct eh_rows r;

	(void)state;
	r = rows_of(&unwind_x86_64, "zRS", signal, sizeof(signal));
	assert_int_equal(r.items[0].rule.flags, RULE_SIGNAL);
	assert_int_equal(r.items[0].rule.cfa, CFA_AT);
	assert_int_equal(r.items[0].rule.cfa_offset, 160);
	assert_int_equal(r.items[0].rule.ra, SAVED_AT_SP);
	assert_int_equal(r.items[0].rule.ra_offset, 168);
	assert_int_equal(r.items[0].rule.fp_offset, 120);
	eh_rows_release(&r);
	r = rows_of(&unwind_x86_64, "zR", vfork, sizeof(vfork));
	assert_int_equal(r.items[0].rule.ra, SAVED_IN_ARGUMENT);
	assert_int_equal(r.items[0].rule.cfa_offset, 0);
	eh_rows_release(&r);
	r = rows_of(&unwind_x86_64, "zR", root, sizeof(root));
	assert_int_equal(r.items[0].rule.ra, SAVED_UNDEFINED);
	eh_rows_release(&r);
}

/* Signed return addresses, a frame record below the CFA. */
static void test_aarch64(void **state)
{
	static const uint8_t program[] = {
		DW_CFA_AARCH64_negate_ra_state,
		DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_offset,
		32,
		DW_CFA_offset | 29,
		4,
		DW_CFA_offset | 30,
		3,
		DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_register,
		29,
	};
	struct eh_rows r =
		rows_of(&unwind_aarch64, "zRB", program, sizeof(program));

	(void)state;
	assert_int_equal(r.count, 4);
	assert_int_equal(r.items[0].rule.cfa, CFA_IS);
	assert_int_equal(r.items[0].rule.cfa_offset, 0);
	assert_int_equal(r.items[0].rule.ra, SAVED_SAME);
	assert_int_equal(r.items[1].rule.ra, SAVED_AT_CFA);
	assert_int_equal(r.items[1].rule.ra_offset, -24);
	assert_int_equal(r.items[1].rule.fp_offset, -32);
	assert_int_equal(r.items[2].rule.anchor, ANCHOR_FP);
	eh_rows_release(&r);
}

static void test_pointer_encodings(void **state)
{
	static const uint8_t encodings[] = {
		DW_EH_PE_absptr,
		DW_EH_PE_udata8,
		DW_EH_PE_udata4,
		DW_EH_PE_udata2,
		DW_EH_PE_uleb128,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata8,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(encodings); i++) {
		struct section s = { 0 };
		struct eh_frame e;
		struct eh_fde fde;
		size_t at;

		add_cie(&s, i % 2 ? "zPR" : "zR", encodings[i], 16, cie_x86_64,
			sizeof(cie_x86_64));
		at = add_fde(&s, true, encodings[i], FUNCTION_AT, NULL, 0);
		e = frame_of(&s);
		assert_true(eh_frame_fde(&e, at, &fde));
		assert_int_equal(fde.start, FUNCTION_AT);
		assert_int_equal(fde.end, FUNCTION_AT + FUNCTION_SIZE);
		assert_false(eh_frame_fde(&e, s.cie, &fde));
		assert_false(eh_frame_fde(&e, s.b.size, &fde));
		buffer_release(&s.b);
	}
}

static void test_index(void **state)
{
	for (int is_debug = 0; is_debug < 2; is_debug++) {
		struct section s = { .is_debug = is_debug };
		struct eh_index index = { 0 };
		struct eh_frame e;
		size_t second;

		add_cie(&s, is_debug ? "" : "zR", DW_EH_PE_absptr, 16,
			cie_x86_64, sizeof(cie_x86_64));
		add_fde(&s, !is_debug, DW_EH_PE_absptr, 0x5000, NULL, 0);
		second = add_fde(&s, !is_debug, DW_EH_PE_absptr, 0x3000, NULL,
				 0);
		e = frame_of(&s);
		eh_index_from_scan(&index, &e, 0x1000);
		assert_int_equal(index.count, 2);
		assert_null(eh_index_find(&index, 0x2fff));
		assert_int_equal(eh_index_find(&index, 0x3000)->offset, second);
		assert_int_equal(eh_index_find(&index, 0x4fff)->offset, second);
		assert_int_not_equal(eh_index_find(&index, 0x5000)->offset,
				     second);
		assert_null(eh_index_find(&index, 0));
		eh_index_release(&index);
		buffer_release(&s.b);
	}
	(void)state;
}

/* Whatever is cut off or turned around ends in no rule, not in a wrong one. */
static void test_broken_programs(void **state)
{
	static const uint8_t programs[][4] = {
		{ DW_CFA_restore_state },
		{ DW_CFA_low_user },
		{ DW_CFA_advance_loc4, 0xff, 0xff, 0xff },
		{ DW_CFA_def_cfa_expression, 0x7f, 0x77, 0x08 },
		{ DW_CFA_expression, 16, 0x7f },
		{ DW_CFA_register, 16, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct eh_rows r = rows_of(&unwind_x86_64, "zR", programs[i],
					   sizeof(programs[i]));

		assert_true(r.count >= 1);
		assert_int_equal(r.items[r.count - 1].rule.cfa, CFA_NONE);
		if (i != 2)
			assert_int_equal(r.items[0].rule.cfa, CFA_NONE);
		eh_rows_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_states_are_remembered),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_signal_frame_and_root),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_pointer_encodings),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_broken_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
