/* A walk is a chain of steps, and a step needs a rule (unwind_rule.h). To find
 * one takes a search for the region, one for the function and one for the row,
 * and the first time the reading of a file and the running of a program. But a
 * program runs in few places: each rule that was found is put into a cache by
 * its address, where nearly every step of a later walk finds it at once.
 *
 * Where there is no rule (code made at run time, written by hand, or built
 * without tables) the code itself is read (epilogue.h). If that finds nothing,
 * the frame pointer is followed. Both are guesses: what they find counts only
 * if it lies above the stack pointer, and if there is a call before it. */
#include "elf/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "elf/epilogue.h"
#include "elf/unwind_code.h"
#include "elf/unwind_scan.h"
#include "elf/walk.h"

#define CACHE_BITS    13
#define REREAD_SHARE  20 /* one part in so many of the time */
#define SURE_SHARE    2	 /* the same, at first, for what must be code */
#define MISSED_BITS   6
#define ARGUMENTS_MAX 64		   /* words on the stack, of one call */
#define FRAME_MAX     (UINT64_C(16) << 20) /* bytes, of one frame */
#define GUESSES_MAX   65536		   /* kept; then all are forgotten */

struct known_rule {
	uint64_t address; /* 0: free */
	struct unwind_rule rule;
	uint32_t module;
};

/* Flags of a rule in the cache: whether a call comes before the address that
 * follows it, once that was asked. */
enum { AFTER_CALL = 64, NOT_AFTER_CALL = 128 };

struct unwinder {
	pid_t pid; /* 0: what is mapped does not change */
	struct memory *memory;
	const struct opener *opener;
	struct process_opener files; /* of a live process */
	const struct unwind_machine *machine;
	struct code code;
	uint64_t reread_from, sure_from; /* not before: of the maps */
	uint32_t sure_share;
	/* Pages that were in no mapping when these were read. */
	uint64_t missed[1 << MISSED_BITS];
	struct known_rule cache[1 << CACHE_BITS];
	struct walk_stack stack;
	/* What code without tables told, by address: too costly to forget for
	 * want of a place in the cache. CFA_NONE: nothing. */
	struct map guess_of;
	struct unwind_rule *guesses;
	size_t guess_count, guess_capacity;
	struct window window; /* on code */
	struct scan scan;
};

static struct unwinder *new_unwinder(struct memory *memory)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->memory = memory;
	u->window.memory = memory;
	u->stack.beyond.memory = memory;
	u->scan = (struct scan){ .code = &u->code,
				 .memory = memory,
				 .stack = &u->stack };
	u->machine = UNWIND_NATIVE;
	u->sure_share = SURE_SHARE;
	return u;
}

static void set_opener(struct unwinder *u, const struct opener *opener)
{
	u->opener = opener;
	u->scan.opener = opener;
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
	set_opener(*out, &(*out)->files.opener);
	code_update(&(*out)->code, &maps);
	maps_release(&maps);
	return 0;
}

int unwinder_new_over(struct unwinder **out, const struct maps *maps,
		      struct memory *memory, const struct opener *opener,
		      struct error *err)
{
	*out = new_unwinder(memory);
	set_opener(*out, opener);
	code_update(&(*out)->code, maps);
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	code_release(&u->code);
	map_release(&u->guess_of);
	scan_release(&u->scan);
	free(u->guesses);
	free(u);
}

static uint64_t *missed_of(struct unwinder *u, uint64_t page)
{
	return &u->missed[(page * 0x9e3779b97f4a7c15u) >> (64 - MISSED_BITS)];
}

static void forget(struct unwinder *u)
{
	memset(u->cache, 0, sizeof(u->cache));
	memset(u->missed, 0, sizeof(u->missed));
	map_clear(&u->guess_of);
	u->guess_count = 0;
}

/* Returns whether the code is there now. A process that has ended has no
 * mappings, but pictures of it may be left to be walked: the old ones stay. */
static bool reread(struct unwinder *u, uint64_t address)
{
	struct maps maps = MAPS_INIT;
	uint64_t start = clock_now(), end;
	bool found;

	if (!maps_read(&maps, u->pid, NULL) && maps.count &&
	    code_update(&u->code, &maps))
		forget(u);
	maps_release(&maps);
	found = code_find(&u->code, address);
	end = clock_now();
	u->reread_from = end + REREAD_SHARE * (end - start);
	u->sure_from = found ? end : end + u->sure_share * (end - start);
	if (found)
		u->sure_share = SURE_SHARE;
	else if (u->sure_share < REREAD_SHARE)
		u->sure_share *= 2;
	if (!found)
		*missed_of(u, address >> 12) = address >> 12;
	return found;
}

/* Libraries come and go; but what jumps into nowhere must not make us read the
 * maps for every sample, so that is given a small share of the time. A program
 * that imports maps one library after the other, though, and runs each at once:
 * where code must be (`sure`), it is looked for now; if that was in vain, only
 * after a while, which becomes longer as it happens again. */
static bool may_reread(struct unwinder *u, uint64_t address, bool sure)
{
	uint64_t now = clock_now(), page = address >> 12;

	return u->pid &&
	       (now >= u->reread_from ||
		(sure && now >= u->sure_from && *missed_of(u, page) != page));
}

static const struct code_region *find_region(struct unwinder *u,
					     uint64_t address, bool sure)
{
	const struct code_region *r = code_find(&u->code, address);

	if (!r && may_reread(u, address, sure) && reread(u, address))
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

/* No rule, and not the first frame either. */
static bool is_none(const struct unwind_rule *rule)
{
	return rule->cfa == CFA_NONE && rule->ra != SAVED_UNDEFINED;
}

/* What is known of where the function begins and ends. `address` is in it. */
static struct epilogue_bounds bounds_of(struct unwinder *u,
					struct code_module *m, uint64_t address)
{
	struct epilogue_bounds b = { 0, UINT64_MAX };
	struct module_function f;
	uint64_t next;

	if (!m)
		return b;
	if (code_function(m, u->opener, address, &f))
		b = (struct epilogue_bounds){ f.start, f.end };
	if (!m->table)
		return b;
	next = unwind_table_next(m->table, address - m->info.bias);
	if (next != UINT64_MAX && next + m->info.bias < b.end)
		b.end = next + m->info.bias;
	return b;
}

static struct unwind_rule guess(struct unwinder *u, struct code_module *m,
				uint64_t address, uint64_t pc)
{
	uint32_t i = map_get(&u->guess_of, pc, 0);
	struct unwind_rule rule = { .cfa = CFA_NONE };
	struct epilogue_bounds bounds;

	if (i != MAP_NONE)
		return u->guesses[i];
	if (u->guess_count == GUESSES_MAX) {
		map_clear(&u->guess_of);
		u->guess_count = 0;
	}
	u->window.size = 0; /* the code may have changed */
	bounds = bounds_of(u, m, address);
	if (!epilogue_rule(&u->window, u->machine, pc, &bounds, &rule) &&
	    !prologue_rule(&u->window, u->machine, pc, &bounds, &rule))
		rule = (struct unwind_rule){ .cfa = CFA_NONE };
	ALLOC_GROW(u->guesses, u->guess_count + 1, u->guess_capacity);
	u->guesses[u->guess_count] = rule;
	map_put(&u->guess_of, pc, 0, (uint32_t)u->guess_count++);
	return rule;
}

static struct unwind_rule make_rule(struct unwinder *u, struct code_module *m,
				    uint64_t address, uint64_t pc)
{
	struct unwind_rule rule = { .cfa = CFA_NONE };
	uint8_t lost;

	if (m && m->table)
		rule = unwind_table_find(m->table, address - m->info.bias);
	if (m && m->debug && is_none(&rule) && !(rule.flags & RULE_LOST))
		rule = unwind_table_find(m->debug, address - m->info.bias);
	if ((rule.flags & RULE_SIGNAL || is_none(&rule)) && is_sigreturn(u, pc))
		return u->machine->signal;
	if (!is_none(&rule))
		return rule;
	lost = rule.flags & RULE_LOST;
	rule = guess(u, m, address, pc);
	rule.flags |= lost;
	return rule;
}

static struct known_rule *slot_of(struct unwinder *u, uint64_t address)
{
	return &u->cache[(address * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS)];
}

/* `pc` is the address, or the one behind it; `sure`: the walk is there. NULL:
 * that is no code. */
static struct known_rule *find_rule(struct unwinder *u, uint64_t address,
				    uint64_t pc, bool sure)
{
	struct known_rule *known = slot_of(u, address);
	const struct code_region *region;
	struct code_module *m = NULL;

	if (known->address == address && address)
		return known;
	region = find_region(u, address, sure);
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

/* A handler returns to code that nobody called. */
static bool is_after_call(struct unwinder *u, uint64_t pc)
{
	struct known_rule *known = find_rule(u, pc - 1, pc, false);

	if (!known)
		return false;
	if (known->rule.flags & RULE_SIGNAL)
		return true;
	if (!(known->rule.flags & (AFTER_CALL | NOT_AFTER_CALL)))
		known->rule.flags |=
			epilogue_after_call(u->memory, u->machine, pc)
				? AFTER_CALL
				: NOT_AFTER_CALL;
	return known->rule.flags & AFTER_CALL;
}

struct walk {
	struct unwinder *u;
	struct walk_frame at;
	bool is_return; /* `at.pc` follows a call */
	bool is_first;	/* the first frame of the thread was found */
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
	if (rule->flags & RULE_SIGNAL)
		return true;
	if (rule->ra == SAVED_SAME || rule->ra == SAVED_IN_ARGUMENT)
		return cfa >= w->at.sp;
	return cfa > w->at.sp;
}

/* Be at the caller, and complete what is known of the frame that was left. */
static bool go_to(struct walk *w, const struct walk_frame *to,
		  const struct unwind_rule *rule)
{
	struct native_frame *frame = &w->frames[w->count - 1];
	bool is_signal = rule->flags & RULE_SIGNAL;

	if (!is_signal)
		frame->sp = to->sp;
	frame->is_signal = is_signal;
	w->is_return = !is_signal;
	w->at = *to;
	return to->pc ? true : end(w, UNWIND_ROOT);
}

static bool is_in_memory(const struct unwind_rule *rule)
{
	return rule->cfa == CFA_AT || rule->cfa == CFA_AFTER;
}

/* To where vfork goes back, which only a register tells. The call has left it
 * below the stack pointer; or the child, which goes on from there on the same
 * stack, has left its next call, in the same function, below what it passes. */
static bool step_to_parent(struct walk *w, const struct unwind_rule *rule)
{
	struct walk_frame to = w->at;

	for (uint64_t i = 0; i < ARGUMENTS_MAX; i++) {
		to.sp = w->at.sp - 8 * i;
		if (walk_read(&w->u->stack, to.sp - 8, &to.pc) &&
		    is_after_call(w->u, to.pc))
			return go_to(w, &to, rule);
	}
	return end(w, UNWIND_NO_RULE);
}

static bool step_by_rule(struct walk *w, const struct unwind_rule *rule)
{
	uint64_t cfa;
	struct walk_frame to;

	if (!w->at.fp && rule->anchor == ANCHOR_FP)
		w->at.fp = scan_frame_pointer(&w->u->scan, &w->at, rule);
	if (!w->at.argument && rule->ra == SAVED_IN_ARGUMENT)
		return step_to_parent(w, rule);
	to = w->at;
	cfa = walk_cfa(&w->u->stack, &w->at, rule);
	if (!cfa)
		return end(w, is_in_memory(rule) ? UNWIND_UNREADABLE
						 : UNWIND_NO_RULE);
	if (!is_above(w, rule, cfa))
		return end(w, UNWIND_LOOP);
	if (!walk_step(&w->u->stack, &to, rule, cfa, w->u->machine))
		return end(w, UNWIND_UNREADABLE);
	return go_to(w, &to, rule);
}

/* A step that may be wrong: false, and nothing changed, when it is. */
static bool try_step(struct walk *w, const struct unwind_rule *rule,
		     struct walk_frame *to)
{
	uint64_t cfa = walk_cfa(&w->u->stack, &w->at, rule);

	*to = w->at;
	return cfa && cfa % 8 == 0 && is_above(w, rule, cfa) &&
	       cfa - w->at.sp <= FRAME_MAX &&
	       walk_step(&w->u->stack, to, rule, cfa, w->u->machine) &&
	       is_after_call(w->u, to->pc);
}

/* Go to where a function without rules, which does not return, was called. */
static bool step_by_scan(struct walk *w)
{
	static const struct unwind_rule rule = { .flags = RULE_GUESS };
	struct walk_frame to;
	bool is_root;

	if (!scan_find(&w->u->scan, &w->at, &to, &is_root))
		return false;
	w->is_first = is_root;
	return go_to(w, &to, &rule);
}

static bool step_by_guess(struct walk *w, const struct unwind_rule *rule)
{
	const struct unwind_rule *pointer = &w->u->machine->pointer;
	struct walk_frame to;

	if (rule->flags & RULE_GUESS && try_step(w, rule, &to))
		return go_to(w, &to, rule);
	if (try_step(w, pointer, &to))
		return go_to(w, &to, pointer);
	if (!(rule->flags & RULE_LOST) && step_by_scan(w))
		return true;
	/* The ABI marks the first frame so. */
	return end(w, !w->at.fp && w->count > 1 ? UNWIND_ROOT : UNWIND_NO_RULE);
}

/* Add the frame that we are at, and go to its caller. */
static bool step(struct walk *w)
{
	const struct known_rule *known =
		find_rule(w->u, w->at.pc - w->is_return, w->at.pc, true);
	struct unwind_rule rule = { .cfa = CFA_NONE };

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
	if (w->is_first)
		return end(w, UNWIND_ROOT);
	if (known)
		rule = known->rule; /* its place may be taken by another */
	if (is_none(&rule) || rule.flags & RULE_GUESS)
		return step_by_guess(w, &rule);
	if (rule.ra == SAVED_UNDEFINED)
		return end_at_root(w, &rule);
	return step_by_rule(w, &rule);
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
			.scratch = regs->r10,
			.argument = regs->rdi },
	};

	u->stack.copy = stack ? *stack : (struct unwind_stack){ 0 };
	u->stack.beyond.size = 0;
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
