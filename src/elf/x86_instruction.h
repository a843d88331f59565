/* An instruction of x86-64, as far as its length and its operands go. */
#ifndef PYROMETER_ELF_X86_INSTRUCTION_H
#define PYROMETER_ELF_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_SIZE_MAX 15

struct x86_instruction {
	uint8_t size;
	uint8_t map; /* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a, above: others */
	uint8_t opcode;
	bool is_vector;	   /* VEX, EVEX or XOP: no general register */
	uint8_t rex;	   /* 0: none */
	bool is_short;	   /* prefix 66 */
	bool has_modrm;	   /* the four below count */
	uint8_t mod;	   /* 3: both operands are registers */
	uint8_t reg, rm;   /* with the bits of rex */
	bool is_indexed;   /* a SIB byte with an index */
	int32_t offset;	   /* displacement of the memory operand */
	int64_t immediate; /* also the distance of a jump */
};

/* Decode one; false when the bytes are no instruction, or are too few. */
bool x86_decode(const unsigned char *bytes, size_t size,
		struct x86_instruction *out);

/* Whether a call ends where these `size` bytes do. */
bool x86_ends_in_call(const unsigned char *bytes, size_t size);

#endif
