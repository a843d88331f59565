#include "elf/eh_frame_read.h"

#include <dwarf.h>
#include <string.h>

uint16_t eh_u16(struct cursor *c)
{
	const unsigned char *bytes = cursor_bytes(c, 2);

	return bytes ? (uint16_t)(bytes[0] | bytes[1] << 8) : 0;
}

uint64_t eh_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

int64_t eh_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

uint64_t eh_number(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case DW_EH_PE_udata2:
		return eh_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)eh_u16(c);
	case DW_EH_PE_uleb128:
		return eh_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)eh_sleb(c);
	default:
		c->failed = true;
		return 0;
	}
}

static uint64_t address_of(const struct cursor *c, const struct eh_bases *b)
{
	return b->address + (uint64_t)(c->at - b->bytes);
}

/* DW_EH_PE_aligned: the next whole word. */
static uint64_t aligned(struct cursor *c, const struct eh_bases *bases)
{
	cursor_bytes(c, -address_of(c, bases) & 7);
	return cursor_u64(c);
}

/* What a pointer at the cursor counts from. */
static uint64_t base_of(struct cursor *c, uint8_t encoding,
			const struct eh_bases *bases)
{
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return 0;
	case DW_EH_PE_pcrel:
		return address_of(c, bases);
	case DW_EH_PE_datarel:
		return bases->data;
	case DW_EH_PE_funcrel:
		return bases->function;
	default: /* relative to the text: no machine of ours has it */
		c->failed = true;
		return 0;
	}
}

uint64_t eh_pointer(struct cursor *c, uint8_t encoding,
		    const struct eh_bases *bases)
{
	uint64_t base;

	if (encoding == DW_EH_PE_aligned)
		return aligned(c, bases);
	if (encoding & DW_EH_PE_indirect) {
		c->failed = true;
		return 0;
	}
	base = base_of(c, encoding, bases);
	return base + eh_number(c, encoding);
}

void eh_skip_pointer(struct cursor *c, uint8_t encoding,
		     const struct eh_bases *bases)
{
	if (encoding == EH_OMIT)
		return;
	if (encoding == DW_EH_PE_aligned)
		aligned(c, bases);
	else
		eh_number(c, encoding);
}
