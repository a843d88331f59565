/* What the readers of the two machines' code share. */
#ifndef PYROMETER_ELF_EPILOGUE_PRIVATE_H
#define PYROMETER_ELF_EPILOGUE_PRIVATE_H

#include "elf/epilogue.h"

#define INSTRUCTIONS_MAX 16384 /* read for one rule */
#define STARTS_MAX	 256   /* places to read on from */
#define OFFSET_MAX	 (64 << 20)

/* A value in terms of the registers at the pc: anchor + offset, or what is in
 * memory there, plus a number. */
struct value {
	bool is_known;
	uint8_t anchor; /* enum unwind_anchor */
	int64_t offset;
	bool is_in_memory;
	int64_t plus;
};

enum kept_kind {
	KEPT_SAME,   /* the register holds what it held at the pc */
	KEPT_VALUE,  /* it holds `value`, in this function's service */
	KEPT_MEMORY, /* it was loaded from address `value` */
};

/* A register that the caller wants back. */
struct kept {
	uint8_t kind; /* enum kept_kind */
	struct value value;
	struct value slot; /* where it was stored after the pc, if it was */
};

struct path_state {
	struct value sp;
	struct kept fp, base; /* base: lr on aarch64 */
	struct kept scratch;  /* r10 */
};

struct path_start {
	uint64_t pc;
	struct path_state state;
};

enum path_end {
	PATH_GOES_ON,
	PATH_RETURNS, /* the state is that before the return */
	PATH_DEAD,
};

struct path {
	struct window *code;
	struct epilogue_bounds bounds;
	uint64_t begin, pc;
	struct path_state now;
	bool pushed_global; /* x86-64: as the last thing; the first PLT stub */
	/* Where jumps lead; those before `next` were taken. */
	struct path_start starts[STARTS_MAX];
	unsigned count, next;
	unsigned left; /* instructions */
};

struct value value_plus(struct value v, int64_t n);
/* The value of a register, which `anchor` stands for when it is the same. */
struct value kept_value(const struct kept *k, enum unwind_anchor anchor);
void kept_set(struct kept *k, struct value value);
void kept_load(struct kept *k, struct value from);
void kept_store(struct kept *k, struct value to);

/* A jump: to be read from there later, unless it already was. */
void path_branch(struct path *p, uint64_t pc);
/* Go on at another place now; dead when that was read already. */
enum path_end path_jump(struct path *p, uint64_t pc);

/* Take one instruction. */
enum path_end epilogue_step_x86_64(struct path *p);
enum path_end epilogue_step_aarch64(struct path *p);

#endif
