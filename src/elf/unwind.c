/* A walk is a chain of steps, and a step needs a rule (unwind_rule.h). To find
 * one takes a search for the region, one for the function and one for the row,
 * and the first time the reading of a file and the running of a program. But a
 * program runs in few places: each rule that was found is put into a cache by
 * its address, where nearly every step of a later walk finds it at once.
 *
 * Where there is no rule (code made at run time, or built without tables) the
 * frame pointer is followed, if it looks like one: it lies above the stack
 * pointer, and a return address into code beside it. */
#include "elf/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "elf/unwind_code.h"
#include "elf/walk.h"

#define CACHE_BITS	13
#define REREAD_INTERVAL (NS_PER_SECOND / 10)
#define FRAME_MAX	(UINT64_C(16) << 20) /* bytes, of one frame */

struct known_rule {
	uint64_t address; /* 0: free */
	struct unwind_rule rule;
	uint32_t module;
};

struct unwinder {
	pid_t pid; /* 0: what is mapped does not change */
	struct memory *memory;
	const struct opener *opener;
	struct process_opener files; /* of a live process */
	const struct unwind_machine *machine;
	struct code code;
	uint64_t last_read; /* of the maps */
	struct known_rule cache[1 << CACHE_BITS];
	struct walk_stack stack;
};

static struct unwinder *new_unwinder(struct memory *memory)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->memory = memory;
	u->machine = UNWIND_NATIVE;
	return u;
}

int unwinder_new(struct unwinder **out, pid_t pid, struct memory *memory,
		 struct error *err)
{
	struct maps maps = MAPS_INIT;
	int status = maps_read(&maps, pid, err);

	if (status < 0)
		return status;
	*out = new_unwinder(memory);
	(*out)->pid = pid;
	(*out)->files = opener_of_process(pid);
	(*out)->opener = &(*out)->files.opener;
	(*out)->last_read = clock_now();
	code_update(&(*out)->code, &maps);
	maps_release(&maps);
	return 0;
}

int unwinder_new_over(struct unwinder **out, const struct maps *maps,
		      struct memory *memory, const struct opener *opener,
		      struct error *err)
{
	*out = new_unwinder(memory);
	(*out)->opener = opener;
	code_update(&(*out)->code, maps);
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	code_release(&u->code);
	free(u);
}

/* Libraries come and go; but what jumps into nowhere must not make us read the
 * maps for every sample. */
static bool reread(struct unwinder *u)
{
	struct maps maps = MAPS_INIT;
	uint64_t now = clock_now();
	bool changed = false;

	if (!u->pid || now - u->last_read < REREAD_INTERVAL)
		return false;
	u->last_read = now;
	if (!maps_read(&maps, u->pid, NULL))
		changed = code_update(&u->code, &maps);
	if (changed)
		memset(u->cache, 0, sizeof(u->cache));
	maps_release(&maps);
	return changed;
}

static const struct code_region *find_region(struct unwinder *u,
					     uint64_t address)
{
	const struct code_region *r = code_find(&u->code, address);

	if (!r && reread(u))
		r = code_find(&u->code, address);
	return r;
}

/* Code that returns from a signal handler has no rules in some C libraries, and
 * on aarch64 rules that skip the interrupted frame. */
static bool is_sigreturn(struct unwinder *u, uint64_t pc)
{
	unsigned char bytes[16];
	size_t size = u->machine->sigreturn_size;

	return !memory_read(u->memory, pc, bytes, size) &&
	       !memcmp(bytes, u->machine->sigreturn, size);
}

/* CFA_NONE and not the root: there is none. */
static struct unwind_rule make_rule(struct unwinder *u, struct code_module *m,
				    uint64_t address, uint64_t pc)
{
	struct unwind_rule rule = { .cfa = CFA_NONE };

	if (!m || !m->table ||
	    !unwind_table_find(m->table, address - m->info.bias, &rule))
		rule = (struct unwind_rule){ .cfa = CFA_NONE };
	if ((rule.signal || (rule.cfa == CFA_NONE && !rule.ra)) &&
	    is_sigreturn(u, pc))
		return u->machine->signal;
	return rule;
}

static struct known_rule *slot_of(struct unwinder *u, uint64_t address)
{
	return &u->cache[(address * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS)];
}

/* `pc` is the address, or the one behind it. NULL: that is no code. */
static const struct known_rule *find_rule(struct unwinder *u, uint64_t address,
					  uint64_t pc)
{
	struct known_rule *known = slot_of(u, address);
	const struct code_region *region;
	struct code_module *m = NULL;

	if (known->address == address && address)
		return known;
	region = find_region(u, address);
	if (!region)
		return NULL;
	if (region->module != UNWIND_NO_MODULE) {
		m = u->code.modules[region->module];
		code_load(m, u->memory, u->opener, u->machine);
	}
	known->address = address;
	known->module = region->module;
	known->rule = make_rule(u, m, address, pc);
	return known;
}

struct walk {
	struct unwinder *u;
	struct walk_frame at;
	bool is_return; /* `at.pc` follows a call */
	struct native_frame *frames;
	uint32_t count, max;
	enum unwind_end why;
};

static bool end(struct walk *w, enum unwind_end why)
{
	w->why = why;
	return false;
}

static bool end_at_root(struct walk *w, const struct unwind_rule *rule)
{
	uint64_t cfa = walk_cfa(&w->u->stack, &w->at, rule);

	if (cfa > w->at.sp)
		w->frames[w->count - 1].sp = cfa;
	return end(w, UNWIND_ROOT);
}

/* Whether the CFA can be: a call has put something on the stack, unless the
 * return address is still in a register. A signal may come on any stack. */
static bool is_above(const struct walk *w, const struct unwind_rule *rule,
		     uint64_t cfa)
{
	if (rule->signal)
		return true;
	if (rule->ra == SAVED_SAME)
		return cfa >= w->at.sp;
	return cfa > w->at.sp;
}

static bool step_by_rule(struct walk *w, const struct unwind_rule *rule)
{
	struct unwinder *u = w->u;
	struct native_frame *frame = &w->frames[w->count - 1];
	uint64_t cfa = walk_cfa(&u->stack, &w->at, rule);

	if (!cfa)
		return end(w, rule->cfa == CFA_AT ? UNWIND_UNREADABLE
						  : UNWIND_NO_RULE);
	if (!is_above(w, rule, cfa))
		return end(w, UNWIND_LOOP);
	frame->sp = rule->signal ? w->at.sp : cfa;
	frame->is_signal = rule->signal;
	if (!walk_step(&u->stack, &w->at, rule, cfa, u->machine))
		return end(w, UNWIND_UNREADABLE);
	w->is_return = !rule->signal;
	return w->at.pc ? true : end(w, UNWIND_ROOT);
}

static bool step_by_pointer(struct walk *w)
{
	struct unwinder *u = w->u;
	struct walk_frame to = w->at;
	uint64_t cfa = w->at.fp + 16;

	if (!w->at.fp && w->count > 1)
		return end(w, UNWIND_ROOT); /* as the ABI marks it */
	if (w->at.fp % 8 || w->at.fp < w->at.sp ||
	    w->at.fp - w->at.sp > FRAME_MAX)
		return end(w, UNWIND_NO_RULE);
	if (!walk_step(&u->stack, &to, &u->machine->pointer, cfa, u->machine))
		return end(w, UNWIND_UNREADABLE);
	if (to.pc && !find_region(u, to.pc - 1))
		return end(w, UNWIND_NO_RULE);
	w->frames[w->count - 1].sp = cfa;
	w->at = to;
	w->is_return = true;
	return to.pc ? true : end(w, UNWIND_ROOT);
}

/* Add the frame that we are at, and go to its caller. */
static bool step(struct walk *w)
{
	const struct known_rule *known =
		find_rule(w->u, w->at.pc - w->is_return, w->at.pc);

	if (!known && w->count)
		return end(w, UNWIND_NO_RULE); /* that was no return address */
	if (w->count == w->max)
		return end(w, UNWIND_FULL);
	w->frames[w->count++] = (struct native_frame){
		.pc = w->at.pc,
		.sp = w->at.sp,
		.module = known ? known->module : UNWIND_NO_MODULE,
		.is_return = w->is_return,
	};
	if (!known || (known->rule.cfa == CFA_NONE && !known->rule.ra))
		return step_by_pointer(w);
	if (known->rule.ra == SAVED_UNDEFINED)
		return end_at_root(w, &known->rule);
	return step_by_rule(w, &known->rule);
}

uint32_t unwinder_walk(struct unwinder *u, const struct unwind_registers *regs,
		       const struct unwind_stack *stack,
		       struct native_frame *frames, uint32_t max,
		       enum unwind_end *why)
{
	struct walk w = {
		.u = u,
		.frames = frames,
		.max = max,
		.at = { .pc = regs->pc,
			.sp = regs->sp,
			.fp = regs->fp,
			.base = u->machine->ra_in_register ? regs->lr
							   : regs->rbx,
			.scratch = regs->r10 },
	};

	u->stack.copy = stack ? *stack : (struct unwind_stack){ 0 };
	u->stack.memory = u->memory;
	u->stack.window_size = 0;
	while (step(&w))
		;
	*why = w.why;
	return w.count;
}

const struct unwind_module_info *unwinder_module(const struct unwinder *u,
						 uint32_t module)
{
	return module < u->code.module_count ? &u->code.modules[module]->info
					     : NULL;
}

uint32_t unwinder_module_count(const struct unwinder *u)
{
	return (uint32_t)u->code.module_count;
}
