/* Lengths of x86-64's instructions follow from few rules: prefixes, one to
 * three bytes of opcode, a ModRM byte with what it asks for, an immediate. The
 * tables say for each opcode whether it has the last two. */
#include "elf/x86_instruction.h"

#include <assert.h>

#include "base/buffer.h"
#include "elf/eh_frame_read.h"

/* What follows an opcode: nothing, ModRM, a Byte, two (Word), four (Double),
 * four or with prefix 66 two (Z), eight with REX.W and else as Z (Q), an
 * Address of eight; m and z are ModRM with B and Z, E is W and B; X is no
 * instruction. */
static const char one_byte[] = "MMMMBZXXMMMMBZXX" /* 00 */
			       "MMMMBZXXMMMMBZXX" /* 10 */
			       "MMMMBZXXMMMMBZXX" /* 20 */
			       "MMMMBZXXMMMMBZXX" /* 30 */
			       "XXXXXXXXXXXXXXXX" /* 40 */
			       "NNNNNNNNNNNNNNNN" /* 50 */
			       "XXXMXXXXZzBmNNNN" /* 60 */
			       "BBBBBBBBBBBBBBBB" /* 70 */
			       "mzXmMMMMMMMMMMMM" /* 80 */
			       "NNNNNNNNNNXNNNNN" /* 90 */
			       "AAAANNNNBZNNNNNN" /* a0 */
			       "BBBBBBBBQQQQQQQQ" /* b0 */
			       "mmWNXXmzENWNNBXN" /* c0 */
			       "MMMMXXXNMMMMMMMM" /* d0 */
			       "BBBBBBBBDDXBNNNN" /* e0 */
			       "XNXXNNMMNNNNNNMM" /* f0 */;

static const char two_bytes[] = "MMMMXNNNNNXNXMNm" /* 00 */
				"MMMMMMMMMMMMMMMM" /* 10 */
				"MMMMXXXXMMMMMMMM" /* 20 */
				"NNNNNNXNXXXXXXXX" /* 30 */
				"MMMMMMMMMMMMMMMM" /* 40 */
				"MMMMMMMMMMMMMMMM" /* 50 */
				"MMMMMMMMMMMMMMMM" /* 60 */
				"mmmmMMMNMMXXMMMM" /* 70 */
				"DDDDDDDDDDDDDDDD" /* 80 */
				"MMMMMMMMMMMMMMMM" /* 90 */
				"NNNMmMXXNNNMmMMM" /* a0 */
				"MMMMMMMMMMmMMMMM" /* b0 */
				"MMmMmmmMNNNNNNNN" /* c0 */
				"MMMMMMMMMMMMMMMM" /* d0 */
				"MMMMMMMMMMMMMMMM" /* e0 */
				"MMMMMMMMMMMMMMMM" /* f0 */;

static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257,
	      "one letter for each opcode");

static char what_follows(const struct x86_instruction *in)
{
	switch (in->map) {
	case 0:
		return one_byte[in->opcode];
	case 1:
		return two_bytes[in->opcode];
	case 3:
	case 8: /* XOP */
		return 'm';
	case 10:
		return 'z';
	default: /* 0f 38, the newer ones of EVEX, XOP's second */
		return 'M';
	}
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
	       byte == 0x65 || byte == 0x67;
}

static uint8_t read_prefixes(struct cursor *c, struct x86_instruction *in)
{
	uint8_t byte = cursor_byte(c);

	while (byte == 0x66 || is_prefix(byte)) {
		in->is_short |= byte == 0x66;
		byte = cursor_byte(c);
	}
	if ((byte & 0xf0) == 0x40) {
		in->rex = byte;
		byte = cursor_byte(c);
	}
	return byte;
}

/* C5, C4, 62 and (unless it is a pop) 8F begin vector instructions. */
static bool read_vector(struct cursor *c, struct x86_instruction *in,
			uint8_t byte)
{
	uint8_t next = cursor_left(c) ? *c->at : 0;

	if (byte != 0xc5 && byte != 0xc4 && byte != 0x62 &&
	    !(byte == 0x8f && (next & 0x1f) >= 8))
		return false;
	in->is_vector = true;
	in->map = 1;
	if (byte == 0xc5)
		cursor_bytes(c, 1);
	else
		in->map = cursor_byte(c) & (byte == 0x62 ? 7 : 0x1f);
	if (byte != 0xc5)
		cursor_bytes(c, byte == 0x62 ? 2 : 1);
	in->opcode = cursor_byte(c);
	return true;
}

static void read_opcode(struct cursor *c, struct x86_instruction *in)
{
	uint8_t byte = read_prefixes(c, in);

	if (read_vector(c, in, byte))
		return;
	if (byte == 0x0f) {
		in->map = 1;
		byte = cursor_byte(c);
		if (byte == 0x38 || byte == 0x3a) {
			in->map = byte == 0x38 ? 2 : 3;
			byte = cursor_byte(c);
		}
	}
	in->opcode = byte;
}

static void read_modrm(struct cursor *c, struct x86_instruction *in)
{
	uint8_t byte = cursor_byte(c), sib, low = byte & 7;

	in->has_modrm = true;
	in->mod = byte >> 6;
	in->reg = (byte >> 3 & 7) | (in->rex & 4) << 1;
	in->rm = low | (in->rex & 1) << 3;
	if (in->mod == 3)
		return;
	if (low == 4) {
		sib = cursor_byte(c);
		in->rm = (sib & 7) | (in->rex & 1) << 3;
		in->is_indexed = (sib >> 3 & 7) != 4 || in->rex & 2;
		low = sib & 7;
	}
	if (in->mod == 1)
		in->offset = (int8_t)cursor_byte(c);
	else if (in->mod == 2 || low == 5)
		in->offset = (int32_t)cursor_u32(c);
	if (in->mod == 0 && low == 5)
		in->rm = UINT8_MAX; /* rip, or no register at all */
}

static int64_t read_z(struct cursor *c, const struct x86_instruction *in)
{
	if (in->is_short && !(in->rex & 8))
		return (int16_t)eh_u16(c);
	return (int32_t)cursor_u32(c);
}

static int64_t read_immediate(struct cursor *c,
			      const struct x86_instruction *in, char follows)
{
	switch (follows) {
	case 'B':
	case 'm':
		return (int8_t)cursor_byte(c);
	case 'W':
		return eh_u16(c);
	case 'E':
		return eh_u16(c) | cursor_byte(c) << 16;
	case 'D':
		return (int32_t)cursor_u32(c);
	case 'Z':
	case 'z':
		return read_z(c, in);
	case 'Q':
		return in->rex & 8 ? (int64_t)cursor_u64(c) : read_z(c, in);
	case 'A':
		return (int64_t)cursor_u64(c);
	default:
		return 0;
	}
}

bool x86_decode(const unsigned char *bytes, size_t size,
		struct x86_instruction *out)
{
	struct cursor c =
		cursor_over(bytes, size < X86_SIZE_MAX ? size : X86_SIZE_MAX);
	char follows;

	*out = (struct x86_instruction){ 0 };
	read_opcode(&c, out);
	follows = what_follows(out);
	if (c.failed || follows == 'X')
		return false;
	if (follows == 'M' || follows == 'm' || follows == 'z')
		read_modrm(&c, out);
	if (!out->map && (out->opcode & 0xfe) == 0xf6 && (out->reg & 7) < 2)
		follows = out->opcode == 0xf6 ? 'm' : 'z'; /* test */
	out->immediate = read_immediate(&c, out, follows);
	out->size = (uint8_t)(c.at - bytes);
	return !c.failed;
}

/* Calls are e8 and a distance, or ff /2 of 2 to 8 bytes. What stands before may
 * look like one by chance; an instruction that is one and ends there decides.
 */
bool x86_ends_in_call(const unsigned char *bytes, size_t size)
{
	struct x86_instruction in;

	for (size_t n = 2; n <= 8 && n <= size; n++)
		if (x86_decode(bytes + size - n, n, &in) && in.size == n &&
		    !in.map && !in.is_vector &&
		    (in.opcode == 0xe8 ||
		     (in.opcode == 0xff && (in.reg & 7) == 2)))
			return true;
	return false;
}
