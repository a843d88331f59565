#include "os/visit_program.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEAD_MAX 2048u
#define ITEM_MAX 1024u
#define CODE_MAX 192
/* From one record of a timer to the next. */
#define DOZES_MAX 2
/* Arguments of sched_switch: preempt, prev, next, prev_state. */
#define SWITCH_PREEMPTS 0
#define SWITCH_STATE	(3 * 8)

/* On the program's stack. */
#define THREAD_AT (-8)
#define KEPT_AT	  (-16)

static_assert(sizeof(struct bpf_pidns_info) == 8, "it is compared as a word");
static_assert(sizeof(struct visit_question) <= 96,
	      "a raw tracepoint has no more arguments");
static_assert(sizeof(struct visit_area) <= VISIT_RECORDS_AT,
	      "the records have their place");

/* ---- writing instructions ---- */

enum {
	ANSWER,
	ARGUMENT1,
	ARGUMENT2,
	ARGUMENT3,
	ARGUMENT4,
	QUESTION = BPF_REG_6,
	MEMORY, /* of the record */
	ITEM,
	COUNT,
	FRAME
};

struct jumps {
	uint32_t at[16], n;
};

struct assembly {
	struct bpf_insn code[CODE_MAX];
	uint32_t n;
	struct jumps to_stack, to_end, to_exit;
};

static uint32_t emit(struct assembly *a, int code, int to, int from, int offset,
		     int32_t constant)
{
	assert(a->n < CODE_MAX);
	a->code[a->n] = (struct bpf_insn){
		.code = (uint8_t)code,
		.dst_reg = (uint8_t)(to & 15),
		.src_reg = (uint8_t)(from & 15),
		.off = (int16_t)offset,
		.imm = constant,
	};
	return a->n++;
}

static void set(struct assembly *a, int to, int32_t constant)
{
	emit(a, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, constant);
}

static void copy(struct assembly *a, int to, int from)
{
	emit(a, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void add(struct assembly *a, int to, int32_t constant)
{
	emit(a, BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, constant);
}

static void add_register(struct assembly *a, int to, int from)
{
	emit(a, BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0);
}

static void multiply(struct assembly *a, int to, uint32_t constant)
{
	emit(a, BPF_ALU64 | BPF_MUL | BPF_K, to, 0, 0, (int32_t)constant);
}

static void load(struct assembly *a, int to, int from, size_t offset)
{
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, to, from, (int)offset, 0);
}

static void store(struct assembly *a, int to, size_t offset, int from)
{
	emit(a, BPF_STX | BPF_MEM | BPF_DW, to, from, (int)offset, 0);
}

static void load_map(struct assembly *a, int to, int kind, int map_fd)
{
	emit(a, BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, map_fd);
	emit(a, 0, 0, 0, 0, 0); /* its second half: the offset */
}

static void set_long(struct assembly *a, int to, uint64_t constant)
{
	emit(a, BPF_LD | BPF_IMM | BPF_DW, to, 0, 0, (int32_t)constant);
	emit(a, 0, 0, 0, 0, (int32_t)(constant >> 32));
}

/* At once, and a barrier for all that comes before and after. */
static void count(struct assembly *a, int to, size_t offset, int32_t more)
{
	set(a, ARGUMENT1, more);
	emit(a, BPF_STX | BPF_ATOMIC | BPF_DW, to, ARGUMENT1, (int)offset,
	     BPF_ADD | BPF_FETCH);
}

static void call(struct assembly *a, int function)
{
	emit(a, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* Jump ahead if the register is (BPF_JEQ) or is not (BPF_JNE) the constant;
 * land() says where to. */
static uint32_t jump(struct assembly *a, int condition, int what,
		     int32_t constant)
{
	return emit(a, BPF_JMP | condition | BPF_K, what, 0, 0, constant);
}

static void land(struct assembly *a, uint32_t jump)
{
	a->code[jump].off = (int16_t)(a->n - jump - 1);
}

/* The same, of all jumps to one place. */
static void jumps_add(struct jumps *j, uint32_t jump)
{
	assert(j->n < sizeof(j->at) / sizeof(*j->at));
	j->at[j->n++] = jump;
}

static void land_all(struct assembly *a, const struct jumps *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		land(a, j->at[i]);
}

/* Read the thread's memory at ARGUMENT3 to ARGUMENT1; 0 in ANSWER. */
static void read_user(struct assembly *a, uint32_t size)
{
	set(a, ARGUMENT2, (int32_t)size);
	call(a, BPF_FUNC_probe_read_user);
}

static void place(struct assembly *a, int to, size_t offset)
{
	copy(a, to, MEMORY);
	add(a, to, (int32_t)offset);
}

#define RECORD(field) offsetof(struct visit_record, field)
#define ASKED(field)  offsetof(struct visit_question, field)
#define AREA(field)   offsetof(struct visit_area, field)

/* ---- the parts of the program ---- */

static void emit_begin(struct assembly *a)
{
	set(a, COUNT, 0);
	store(a, MEMORY, RECORD(there), COUNT);
	store(a, MEMORY, RECORD(head_error), COUNT);
	store(a, MEMORY, RECORD(n_items), COUNT);
	store(a, MEMORY, RECORD(rest), COUNT);
	store(a, MEMORY, RECORD(stack_size), COUNT);
	store(a, MEMORY, RECORD(stack_error), COUNT);
	store(a, MEMORY, RECORD(asleep), COUNT);
}

/* The thread that is interrupted, as the namespace has it that is in the first
 * two arguments; 0 in ANSWER. */
static void emit_thread(struct assembly *a)
{
	copy(a, ARGUMENT3, FRAME);
	add(a, ARGUMENT3, THREAD_AT);
	set(a, ARGUMENT4, sizeof(struct bpf_pidns_info));
	call(a, BPF_FUNC_get_ns_current_pid_tgid);
}

static void emit_compare(struct assembly *a)
{
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, ARGUMENT1, FRAME, THREAD_AT, 0);
	load(a, ARGUMENT2, QUESTION, ASKED(thread));
	jumps_add(&a->to_end, emit(a, BPF_JMP | BPF_JNE | BPF_X, ARGUMENT1,
				   ARGUMENT2, 0, 0));
}

/* Is it the thread that is meant? */
static void emit_check(struct assembly *a)
{
	load(a, ARGUMENT1, QUESTION, ASKED(device));
	load(a, ARGUMENT2, QUESTION, ASKED(inode));
	emit_thread(a);
	jumps_add(&a->to_end, jump(a, BPF_JNE, ANSWER, 0));
	emit_compare(a);
}

static void emit_one(struct assembly *a, size_t field)
{
	set(a, ARGUMENT1, 1);
	store(a, MEMORY, field, ARGUMENT1);
}

/* The registers are in the frame that the kernel made when the thread came into
 * it, by this interrupt or by a call. */
static void emit_registers(struct assembly *a)
{
	call(a, BPF_FUNC_get_current_task_btf);
	copy(a, ARGUMENT1, ANSWER);
	call(a, BPF_FUNC_task_pt_regs);
	for (uint32_t i = 0; i < registers_perf_count; i++) {
		load(a, ARGUMENT1, ANSWER, registers_entry_offsets[i]);
		store(a, MEMORY, RECORD(registers) + 8 * i, ARGUMENT1);
	}
	load(a, ARGUMENT1, ANSWER, registers_entry_call);
	store(a, MEMORY, RECORD(call), ARGUMENT1);
	load(a, ARGUMENT1, ANSWER, registers_entry_argument);
	store(a, MEMORY, RECORD(argument), ARGUMENT1);
	load(a, ARGUMENT1, ANSWER, registers_entry_sp);
	add(a, ARGUMENT1, -STACK_RED_ZONE);
	store(a, MEMORY, RECORD(stack_from), ARGUMENT1);
}

static void emit_head(struct assembly *a, const struct visit_shape *shape)
{
	load(a, ARGUMENT3, QUESTION, ASKED(head));
	jumps_add(&a->to_stack, jump(a, BPF_JEQ, ARGUMENT3, 0));
	place(a, ARGUMENT1, VISIT_HEAD_AT);
	read_user(a, shape->head_size);
	store(a, MEMORY, RECORD(head_error), ANSWER);
	jumps_add(&a->to_stack, jump(a, BPF_JNE, ANSWER, 0));
	load(a, ITEM, MEMORY, VISIT_HEAD_AT + shape->first);
}

static void emit_fields(struct assembly *a)
{
	for (size_t i = 0; i < VISIT_FIELDS; i++) {
		uint32_t none;

		load(a, ARGUMENT3, QUESTION, ASKED(fields) + 8 * i);
		none = jump(a, BPF_JEQ, ARGUMENT3, 0);
		place(a, ARGUMENT1, RECORD(values) + 8 * i);
		read_user(a, 8);
		land(a, none);
	}
}

static void emit_via(struct assembly *a, uint32_t offset)
{
	store(a, MEMORY, RECORD(rest), ITEM);
	jumps_add(&a->to_stack, jump(a, BPF_JEQ, ITEM, 0));
	copy(a, ARGUMENT3, ITEM);
	add(a, ARGUMENT3, (int32_t)offset);
	place(a, ARGUMENT1, RECORD(first));
	read_user(a, 8);
	jumps_add(&a->to_stack, jump(a, BPF_JNE, ANSWER, 0));
	load(a, ITEM, MEMORY, RECORD(first));
}

/* The address of each item, then its bytes. */
static void emit_items(struct assembly *a, const struct visit_layout *layout)
{
	uint32_t again = a->n, end, unreadable;

	end = jump(a, BPF_JEQ, ITEM, 0);
	copy(a, ARGUMENT1, COUNT);
	multiply(a, ARGUMENT1, layout->stride);
	add_register(a, ARGUMENT1, MEMORY);
	add(a, ARGUMENT1, (int32_t)layout->items_at);
	store(a, ARGUMENT1, 0, ITEM);
	add(a, ARGUMENT1, 8);
	emit(a, BPF_STX | BPF_MEM | BPF_DW, FRAME, ARGUMENT1, KEPT_AT, 0);
	copy(a, ARGUMENT3, ITEM);
	read_user(a, layout->shape.item_size);
	unreadable = jump(a, BPF_JNE, ANSWER, 0);
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, ARGUMENT1, FRAME, KEPT_AT, 0);
	load(a, ITEM, ARGUMENT1, layout->shape.next);
	add(a, COUNT, 1);
	emit(a, BPF_JMP | BPF_JLT | BPF_K, COUNT, 0, (int)again - (int)a->n - 1,
	     VISIT_ITEMS_MAX);
	land(a, end);
	land(a, unreadable);
	store(a, MEMORY, RECORD(n_items), COUNT);
	store(a, MEMORY, RECORD(rest), ITEM);
}

/* Where the items end, in a register. Their number is read back, so that the
 * kernel's check does not follow each number of them to the end. */
static void emit_items_end(struct assembly *a, int to,
			   const struct visit_layout *layout)
{
	load(a, to, MEMORY, RECORD(n_items));
	jumps_add(&a->to_end, jump(a, BPF_JGT, to, VISIT_ITEMS_MAX));
	multiply(a, to, layout->stride);
	add(a, to, (int32_t)layout->items_at);
}

static void emit_stack(struct assembly *a, const struct visit_layout *layout)
{
	uint32_t none, fits;

	load(a, ARGUMENT3, MEMORY, RECORD(stack_from));
	load(a, ARGUMENT2, QUESTION, ASKED(stack_top));
	none = jump(a, BPF_JEQ, ARGUMENT2, 0);
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, ARGUMENT2, ARGUMENT3, 0, 0);
	fits = jump(a, BPF_JLE, ARGUMENT2, VISIT_STACK_MAX);
	set(a, ARGUMENT2, VISIT_STACK_MAX);
	land(a, fits);
	store(a, MEMORY, RECORD(stack_size), ARGUMENT2);
	emit_items_end(a, ARGUMENT1, layout);
	add_register(a, ARGUMENT1, MEMORY);
	call(a, BPF_FUNC_probe_read_user);
	store(a, MEMORY, RECORD(stack_error), ANSWER);
	land(a, none);
}

static void emit_body(struct assembly *a, const struct visit_layout *layout)
{
	emit_one(a, RECORD(there));
	if (layout->shape.registers)
		emit_registers(a);
	emit_head(a, &layout->shape);
	emit_fields(a);
	if (layout->shape.via != VISIT_DIRECT)
		emit_via(a, layout->shape.via);
	emit_items(a, layout);
	land_all(a, &a->to_stack);
	if (layout->shape.registers)
		emit_stack(a, layout);
}

static void emit_end(struct assembly *a)
{
	land_all(a, &a->to_end);
	set(a, ANSWER, 0);
	emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- of clocks ---- */

static void emit_lookup(struct assembly *a, int map_fd, int key_at)
{
	load_map(a, ARGUMENT1, BPF_PSEUDO_MAP_FD, map_fd);
	copy(a, ARGUMENT2, FRAME);
	add(a, ARGUMENT2, key_at);
	call(a, BPF_FUNC_map_lookup_elem);
	jumps_add(&a->to_exit, jump(a, BPF_JEQ, ANSWER, 0));
}

/* The area of the thread that is interrupted, if it has one. */
static void emit_area(struct assembly *a, const struct visit_clock_maps *maps)
{
	set_long(a, ARGUMENT1, maps->device);
	set_long(a, ARGUMENT2, maps->inode);
	emit_thread(a);
	jumps_add(&a->to_exit, jump(a, BPF_JNE, ANSWER, 0));
	emit_lookup(a, maps->clocks_fd, THREAD_AT);
	emit(a, BPF_LDX | BPF_MEM | BPF_W, ARGUMENT1, ANSWER, 0, 0);
	emit(a, BPF_STX | BPF_MEM | BPF_W, FRAME, ARGUMENT1, KEPT_AT, 0);
	emit_lookup(a, maps->areas_fd, KEPT_AT);
	copy(a, QUESTION, ANSWER);
}

/* Is it wanted? The area may have become another thread's meanwhile. And one
 * program may interrupt another that writes to the same area: timers of some
 * kinds go off with interrupts enabled. */
static void emit_wanted(struct assembly *a)
{
	count(a, QUESTION, AREA(busy), 1); /* what it was, in ARGUMENT1 */
	jumps_add(&a->to_end, jump(a, BPF_JNE, ARGUMENT1, 0));
	count(a, QUESTION, AREA(wanted), 0); /* likewise */
	jumps_add(&a->to_end, jump(a, BPF_JEQ, ARGUMENT1, 0));
	emit_compare(a);
}

/* It stays in COUNT. */
static void emit_time(struct assembly *a)
{
	call(a, BPF_FUNC_ktime_get_ns);
	copy(a, COUNT, ANSWER);
}

/* Several timers may have been due at one interrupt. */
static void emit_distance(struct assembly *a)
{
	load(a, ARGUMENT1, QUESTION, AREA(last));
	load(a, ARGUMENT2, QUESTION, AREA(least));
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, ANSWER, ARGUMENT1, 0, 0);
	jumps_add(&a->to_end,
		  emit(a, BPF_JMP | BPF_JLT | BPF_X, ANSWER, ARGUMENT2, 0, 0));
	store(a, QUESTION, AREA(last), COUNT);
	set(a, ARGUMENT1, 0);
	store(a, QUESTION, AREA(dozes), ARGUMENT1);
}

/* It goes on sleeping, and others do not only take their turn: two arguments of
 * the tracepoint, the state of the thread that leaves and whether it is made to
 * in the midst of something. */
static void emit_asleep(struct assembly *a)
{
	load(a, ARGUMENT2, ARGUMENT1, SWITCH_STATE);
	emit(a, BPF_ALU | BPF_MOV | BPF_X, ARGUMENT2, ARGUMENT2, 0, 0);
	jumps_add(&a->to_exit, jump(a, BPF_JEQ, ARGUMENT2, 0));
	load(a, ARGUMENT1, ARGUMENT1, SWITCH_PREEMPTS);
	jumps_add(&a->to_exit, jump(a, BPF_JNE, ARGUMENT1, 0));
}

static void emit_dozes(struct assembly *a)
{
	load(a, ARGUMENT1, QUESTION, AREA(dozes));
	jumps_add(&a->to_end, jump(a, BPF_JGE, ARGUMENT1, DOZES_MAX));
	add(a, ARGUMENT1, 1);
	store(a, QUESTION, AREA(dozes), ARGUMENT1);
}

/* The place for the record; without one it is lost. */
static void emit_place(struct assembly *a)
{
	uint32_t room;

	load(a, ARGUMENT1, QUESTION, AREA(position));
	room = jump(a, BPF_JLE, ARGUMENT1, VISIT_RECORDS_SIZE);
	load(a, ARGUMENT2, QUESTION, AREA(lost));
	add(a, ARGUMENT2, 1);
	store(a, QUESTION, AREA(lost), ARGUMENT2);
	jumps_add(&a->to_end, emit(a, BPF_JMP | BPF_JA, 0, 0, 0, 0));
	land(a, room);
	copy(a, MEMORY, QUESTION);
	add(a, MEMORY, VISIT_RECORDS_AT);
	add_register(a, MEMORY, ARGUMENT1);
	store(a, MEMORY, RECORD(time), COUNT);
}

/* The next record goes behind this one. */
static void emit_advance(struct assembly *a, const struct visit_layout *layout)
{
	emit_items_end(a, ARGUMENT1, layout);
	load(a, ARGUMENT2, MEMORY, RECORD(stack_size));
	add_register(a, ARGUMENT1, ARGUMENT2);
	add(a, ARGUMENT1, 7);
	emit(a, BPF_ALU64 | BPF_AND | BPF_K, ARGUMENT1, 0, 0, -8);
	store(a, MEMORY, RECORD(size), ARGUMENT1);
	load(a, ARGUMENT2, QUESTION, AREA(position));
	add_register(a, ARGUMENT2, ARGUMENT1);
	store(a, QUESTION, AREA(position), ARGUMENT2);
}

static void emit_idle(struct assembly *a)
{
	land_all(a, &a->to_end);
	a->to_end.n = 0;
	count(a, QUESTION, AREA(busy), -1);
	land_all(a, &a->to_exit);
}

/* ---- asking the kernel ---- */

int visit_bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

int visit_map(size_t size, uint32_t n)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_ARRAY;
	a.key_size = 4;
	a.value_size = (uint32_t)size;
	a.max_entries = n;
	a.map_flags = BPF_F_MMAPABLE;
	return visit_bpf(BPF_MAP_CREATE, &a);
}

int visit_refuse(const char *what, int why, struct error *err)
{
	return fail(err, why == EPERM ? ERR_PERMISSION : ERR_UNSUPPORTED,
		    "%s: %s", what, strerror(why));
}

static int load_program(const struct assembly *assembly, uint32_t type)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = type;
	a.insns = (uintptr_t)assembly->code;
	a.insn_cnt = assembly->n;
	a.license = (uintptr_t) "Dual MIT/GPL";
	return visit_bpf(BPF_PROG_LOAD, &a);
}

int visit_program(const struct visit_layout *layout, int map_fd)
{
	struct assembly a = { .n = 0 };

	copy(&a, QUESTION, ARGUMENT1);
	load_map(&a, MEMORY, BPF_PSEUDO_MAP_VALUE, map_fd);
	emit_begin(&a);
	emit_check(&a);
	emit_body(&a, layout);
	emit_end(&a);
	return load_program(&a, BPF_PROG_TYPE_RAW_TRACEPOINT);
}

static int load_clock_program(struct assembly *a,
			      const struct visit_layout *layout)
{
	emit_body(a, layout);
	emit_advance(a, layout);
	emit_idle(a);
	emit_end(a);
	return load_program(a, BPF_PROG_TYPE_RAW_TRACEPOINT);
}

int visit_clock_program(const struct visit_layout *layout,
			const struct visit_clock_maps *maps)
{
	struct assembly a = { .n = 0 };

	emit_area(&a, maps);
	emit_wanted(&a);
	emit_time(&a);
	emit_distance(&a);
	emit_place(&a);
	emit_begin(&a);
	return load_clock_program(&a, layout);
}

int visit_doze_program(const struct visit_layout *layout,
		       const struct visit_clock_maps *maps)
{
	struct assembly a = { .n = 0 };

	emit_asleep(&a);
	emit_area(&a, maps);
	emit_wanted(&a);
	emit_dozes(&a);
	emit_time(&a);
	emit_place(&a);
	emit_begin(&a);
	emit_one(&a, RECORD(asleep));
	return load_clock_program(&a, layout);
}

int visit_run(int program_fd, const struct visit_question *q, int core)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (uint32_t)program_fd;
	a.test.ctx_in = (uintptr_t)q;
	a.test.ctx_size_in = q ? sizeof(*q) : 0;
	a.test.flags = BPF_F_TEST_RUN_ON_CPU;
	a.test.cpu = (uint32_t)core;
	return visit_bpf(BPF_PROG_TEST_RUN, &a);
}

/* ---- records ---- */

static bool is_possible(const struct visit_shape *s)
{
	return s->head_size <= HEAD_MAX && s->first + 8 <= s->head_size &&
	       s->item_size <= ITEM_MAX && s->next + 8 <= s->item_size &&
	       (s->via == VISIT_DIRECT || s->via < HEAD_MAX);
}

int visit_layout_make(struct visit_layout *out, const struct visit_shape *shape,
		      struct error *err)
{
	if (!is_possible(shape))
		return fail(err, ERR_UNSUPPORTED,
			    "the list cannot be followed by the kernel");
	out->shape = *shape;
	out->stride = 8 + (shape->item_size + 7) / 8 * 8;
	out->items_at = VISIT_HEAD_AT + (shape->head_size + 7) / 8 * 8;
	out->record_max = out->items_at + VISIT_ITEMS_MAX * out->stride +
			  (shape->registers ? VISIT_STACK_MAX + 8 : 0);
	return 0;
}

enum visit_result visit_unpack(const struct visit_layout *layout,
			       const struct visit_record *record,
			       struct visit *visit)
{
	const unsigned char *start = (const void *)record;

	visit->n_items = visit->stack_size = 0;
	visit->time = record->time;
	visit->asleep = record->asleep;
	visit->call = record->asleep ? (long)record->call : -1;
	visit->argument = record->argument;
	if (!record->there)
		return VISIT_AWAY;
	if (record->head_error)
		return VISIT_UNREADABLE;
	visit->head_copy = start + VISIT_HEAD_AT;
	memcpy(visit->values, record->values, sizeof(visit->values));
	visit->items = start + layout->items_at;
	visit->stride = layout->stride;
	visit->n_items = (uint32_t)record->n_items;
	visit->whole = !record->rest;
	registers_from_perf(&visit->registers, record->registers);
	visit->stack = visit->items + (size_t)visit->n_items * visit->stride;
	if (!record->stack_error)
		visit->stack_size = (uint32_t)record->stack_size;
	return VISIT_TAKEN;
}
