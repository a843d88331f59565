#include "elf/disassembly.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#define SIZE_MAX_ (16u << 20) /* bytes of one function */

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

#if defined(__x86_64__)
#define ARCH CS_ARCH_X86
#define MODE CS_MODE_64
#define STEP 1 /* bytes to go on by where there is no instruction */
#else
#define ARCH CS_ARCH_ARM64
#define MODE CS_MODE_LITTLE_ENDIAN
#define STEP 4
#endif

bool disassembly_available(void)
{
	return true;
}

static bool in_group(csh handle, const cs_insn *i, unsigned group)
{
	return cs_insn_group(handle, i, group);
}

/* The operand of a direct jump is an address. */
static uint64_t target_of(csh handle, const cs_insn *i)
{
	uint64_t target = 0;

	if (!in_group(handle, i, CS_GRP_JUMP) &&
	    !in_group(handle, i, CS_GRP_CALL))
		return 0;
#if defined(__x86_64__)
	if (i->detail->x86.op_count &&
	    i->detail->x86.operands[0].type == X86_OP_IMM)
		target = (uint64_t)i->detail->x86.operands[0].imm;
#else
	for (int n = 0; n < i->detail->arm64.op_count; n++)
		if (i->detail->arm64.operands[n].type == ARM64_OP_IMM)
			target = (uint64_t)i->detail->arm64.operands[n].imm;
#endif
	return target;
}

struct position {
	const uint8_t *at;
	size_t left;
	uint64_t address;
};

static bool visit_byte(struct position *p,
		       bool (*visit)(void *context, const struct instruction *),
		       void *context)
{
	uint32_t size = p->left < STEP ? (uint32_t)p->left : STEP;
	struct instruction i = { p->address, size, NULL, 0, false };
	char text[64];
	int n = snprintf(text, sizeof(text), ".byte ");

	for (uint32_t k = 0; k < size; k++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s0x%02x",
			      k ? ", " : "", p->at[k]);
	i.text = text;
	p->at += size;
	p->left -= size;
	p->address += size;
	return visit(context, &i);
}

static bool visit_one(csh handle, const cs_insn *c,
		      bool (*visit)(void *context, const struct instruction *),
		      void *context)
{
	struct instruction i = { c->address, c->size, NULL,
				 target_of(handle, c),
				 in_group(handle, c, CS_GRP_CALL) };
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s", c->mnemonic,
		 c->op_str[0] ? " " : "", c->op_str);
	i.text = text;
	return visit(context, &i);
}

int disassembly_visit_bytes(const void *bytes, size_t size, uint64_t address,
			    bool (*visit)(void *context,
					  const struct instruction *i),
			    void *context, struct error *err)
{
	struct position p = { bytes, size, address };
	csh handle;
	cs_insn *one;
	bool goes_on = true;

	if (cs_open(ARCH, MODE, &handle) != CS_ERR_OK)
		return fail(err, ERR_UNSUPPORTED,
			    "capstone does not know this machine's code");
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	one = cs_malloc(handle);
	while (goes_on && p.left && one)
		goes_on =
			cs_disasm_iter(handle, &p.at, &p.left, &p.address, one)
				? visit_one(handle, one, visit, context)
				: visit_byte(&p, visit, context);
	if (one)
		cs_free(one, 1);
	cs_close(&handle);
	return 0;
}

#else

bool disassembly_available(void)
{
	return false;
}

int disassembly_visit_bytes(const void *bytes, size_t size, uint64_t address,
			    bool (*visit)(void *context,
					  const struct instruction *i),
			    void *context, struct error *err)
{
	(void)bytes;
	(void)size;
	(void)address;
	(void)visit;
	(void)context;
	return fail(err, ERR_UNSUPPORTED,
		    "this pyrometer was built without capstone, which "
		    "disassembles");
}

#endif

int disassembly_visit(struct symbols *s, uint64_t start, uint64_t end,
		      bool (*visit)(void *context, const struct instruction *i),
		      void *context, struct error *err)
{
	unsigned char *bytes;
	size_t size;
	int status;

	if (end <= start || end - start > SIZE_MAX_)
		return fail(err, ERR_LIMIT,
			    "a function of %" PRIu64 " bytes is not shown",
			    end - start);
	bytes = xmalloc(end - start);
	size = symbols_read(s, start, bytes, end - start);
	status = size ? disassembly_visit_bytes(bytes, size, start, visit,
						context, err)
		      : fail(err, ERR_NOT_FOUND,
			     "the file does not hold address %#" PRIx64, start);
	free(bytes);
	return status;
}
