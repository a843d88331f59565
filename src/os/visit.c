#include "os/visit.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/cores.h"

#define HEAD_MAX 2048u
#define ITEM_MAX 1024u
#define CODE_MAX 128

/* What the program writes, at the start of the shared page. */
struct report {
	uint64_t there, head_error;
	uint64_t n_items;
	uint64_t rest;	/* address of an item that was not copied; 0: none */
	uint64_t first; /* behind the record between */
	uint64_t values[VISIT_FIELDS];
	uint64_t registers[REGISTERS_PERF_MAX];
	uint64_t stack_size, stack_error;
};

/* What it is given. */
struct question {
	uint64_t device, inode;
	struct bpf_pidns_info thread;
	uint64_t head;
	uint64_t fields[VISIT_FIELDS];
	uint64_t stack_top;
};

struct visitor {
	struct visit_shape shape;
	uint32_t stride; /* from one item to the next, its address in front */
	int map_fd, program_fd;
	size_t size, stack_at;
	unsigned char *memory; /* report, record, items, stack */
};

#define HEAD_AT	 128u
#define ITEMS_AT (HEAD_AT + HEAD_MAX)

static_assert(sizeof(struct report) <= HEAD_AT, "the report has its place");
static_assert(sizeof(struct bpf_pidns_info) == 8, "it is compared as a word");

/* ---- the program ---- */

enum {
	ANSWER,
	ARGUMENT1,
	ARGUMENT2,
	ARGUMENT3,
	ARGUMENT4,
	QUESTION = BPF_REG_6,
	MEMORY,
	ITEM,
	COUNT,
	FRAME
};

struct assembly {
	struct bpf_insn code[CODE_MAX];
	uint32_t n;
	uint32_t exits[16]; /* jumps to the end */
	uint32_t n_exits;
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

static void load(struct assembly *a, int to, int from, size_t offset)
{
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, to, from, (int)offset, 0);
}

static void store(struct assembly *a, int to, size_t offset, int from)
{
	emit(a, BPF_STX | BPF_MEM | BPF_DW, to, from, (int)offset, 0);
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

static void exit_if(struct assembly *a, uint32_t jump)
{
	a->exits[a->n_exits++] = jump;
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

/* Is it the thread that is meant? */
static void emit_check(struct assembly *a)
{
	load(a, ARGUMENT1, QUESTION, offsetof(struct question, device));
	load(a, ARGUMENT2, QUESTION, offsetof(struct question, inode));
	copy(a, ARGUMENT3, FRAME);
	add(a, ARGUMENT3, -8);
	set(a, ARGUMENT4, sizeof(struct bpf_pidns_info));
	call(a, BPF_FUNC_get_ns_current_pid_tgid);
	exit_if(a, jump(a, BPF_JNE, ANSWER, 0));
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, ARGUMENT1, FRAME, -8, 0);
	load(a, ARGUMENT2, QUESTION, offsetof(struct question, thread));
	exit_if(a,
		emit(a, BPF_JMP | BPF_JNE | BPF_X, ARGUMENT1, ARGUMENT2, 0, 0));
	set(a, ARGUMENT1, 1);
	store(a, MEMORY, offsetof(struct report, there), ARGUMENT1);
}

/* The registers are in the frame that the kernel made when the thread came into
 * it, by this interrupt or by a call. */
static void emit_registers(struct assembly *a, size_t stack_at)
{
	uint32_t none, fits;

	call(a, BPF_FUNC_get_current_task_btf);
	copy(a, ARGUMENT1, ANSWER);
	call(a, BPF_FUNC_task_pt_regs);
	for (uint32_t i = 0; i < registers_perf_count; i++) {
		load(a, ARGUMENT1, ANSWER, registers_entry_offsets[i]);
		store(a, MEMORY, offsetof(struct report, registers) + 8 * i,
		      ARGUMENT1);
	}
	load(a, ARGUMENT3, ANSWER, registers_entry_sp);
	add(a, ARGUMENT3, -STACK_RED_ZONE);
	load(a, ARGUMENT2, QUESTION, offsetof(struct question, stack_top));
	none = jump(a, BPF_JEQ, ARGUMENT2, 0);
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, ARGUMENT2, ARGUMENT3, 0, 0);
	fits = jump(a, BPF_JLE, ARGUMENT2, VISIT_STACK_MAX);
	set(a, ARGUMENT2, VISIT_STACK_MAX);
	land(a, fits);
	store(a, MEMORY, offsetof(struct report, stack_size), ARGUMENT2);
	place(a, ARGUMENT1, stack_at);
	call(a, BPF_FUNC_probe_read_user);
	store(a, MEMORY, offsetof(struct report, stack_error), ANSWER);
	land(a, none);
}

static void emit_head(struct assembly *a, const struct visit_shape *shape)
{
	load(a, ARGUMENT3, QUESTION, offsetof(struct question, head));
	exit_if(a, jump(a, BPF_JEQ, ARGUMENT3, 0));
	place(a, ARGUMENT1, HEAD_AT);
	read_user(a, shape->head_size);
	store(a, MEMORY, offsetof(struct report, head_error), ANSWER);
	exit_if(a, jump(a, BPF_JNE, ANSWER, 0));
	load(a, ITEM, MEMORY, HEAD_AT + shape->first);
}

static void emit_fields(struct assembly *a)
{
	for (size_t i = 0; i < VISIT_FIELDS; i++) {
		uint32_t none;

		load(a, ARGUMENT3, QUESTION,
		     offsetof(struct question, fields) + 8 * i);
		none = jump(a, BPF_JEQ, ARGUMENT3, 0);
		place(a, ARGUMENT1, offsetof(struct report, values) + 8 * i);
		read_user(a, 8);
		land(a, none);
	}
}

static void emit_via(struct assembly *a, uint32_t offset)
{
	store(a, MEMORY, offsetof(struct report, rest), ITEM);
	exit_if(a, jump(a, BPF_JEQ, ITEM, 0));
	copy(a, ARGUMENT3, ITEM);
	add(a, ARGUMENT3, (int32_t)offset);
	place(a, ARGUMENT1, offsetof(struct report, first));
	read_user(a, 8);
	exit_if(a, jump(a, BPF_JNE, ANSWER, 0));
	load(a, ITEM, MEMORY, offsetof(struct report, first));
}

/* The address of each item, then its bytes. */
static void emit_items(struct assembly *a, const struct visit_shape *shape,
		       uint32_t stride)
{
	uint32_t again = a->n, end, unreadable;

	end = jump(a, BPF_JEQ, ITEM, 0);
	copy(a, ARGUMENT1, COUNT);
	emit(a, BPF_ALU64 | BPF_MUL | BPF_K, ARGUMENT1, 0, 0, (int32_t)stride);
	emit(a, BPF_ALU64 | BPF_ADD | BPF_X, ARGUMENT1, MEMORY, 0, 0);
	add(a, ARGUMENT1, (int32_t)ITEMS_AT);
	store(a, ARGUMENT1, 0, ITEM);
	add(a, ARGUMENT1, 8);
	emit(a, BPF_STX | BPF_MEM | BPF_DW, FRAME, ARGUMENT1, -16, 0);
	copy(a, ARGUMENT3, ITEM);
	read_user(a, shape->item_size);
	unreadable = jump(a, BPF_JNE, ANSWER, 0);
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, ARGUMENT1, FRAME, -16, 0);
	load(a, ITEM, ARGUMENT1, shape->next);
	add(a, COUNT, 1);
	emit(a, BPF_JMP | BPF_JLT | BPF_K, COUNT, 0, (int)again - (int)a->n - 1,
	     VISIT_ITEMS_MAX);
	land(a, end);
	land(a, unreadable);
	store(a, MEMORY, offsetof(struct report, n_items), COUNT);
	store(a, MEMORY, offsetof(struct report, rest), ITEM);
}

static void assemble(struct assembly *a, const struct visitor *v)
{
	copy(a, QUESTION, ARGUMENT1);
	emit(a, BPF_LD | BPF_IMM | BPF_DW, MEMORY, BPF_PSEUDO_MAP_VALUE, 0,
	     v->map_fd);
	emit(a, 0, 0, 0, 0, 0); /* its second half: the offset */
	set(a, COUNT, 0);
	store(a, MEMORY, offsetof(struct report, there), COUNT);
	store(a, MEMORY, offsetof(struct report, head_error), COUNT);
	store(a, MEMORY, offsetof(struct report, n_items), COUNT);
	store(a, MEMORY, offsetof(struct report, rest), COUNT);
	store(a, MEMORY, offsetof(struct report, stack_size), COUNT);
	emit_check(a);
	if (v->shape.registers)
		emit_registers(a, v->stack_at);
	emit_head(a, &v->shape);
	emit_fields(a);
	if (v->shape.via != VISIT_DIRECT)
		emit_via(a, v->shape.via);
	emit_items(a, &v->shape, v->stride);
	for (uint32_t i = 0; i < a->n_exits; i++)
		land(a, a->exits[i]);
	set(a, ANSWER, 0);
	emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- asking the kernel ---- */

static int bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static int new_map(size_t size)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_ARRAY;
	a.key_size = 4;
	a.value_size = (uint32_t)size;
	a.max_entries = 1;
	a.map_flags = BPF_F_MMAPABLE;
	return bpf(BPF_MAP_CREATE, &a);
}

static int new_program(const struct visitor *v)
{
	struct assembly assembly = { .n = 0 };
	union bpf_attr a;

	assemble(&assembly, v);
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insns = (uintptr_t)assembly.code;
	a.insn_cnt = assembly.n;
	a.license = (uintptr_t) "Dual MIT/GPL";
	return bpf(BPF_PROG_LOAD, &a);
}

static int run_program(const struct visitor *v, const struct question *q,
		       int core)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (uint32_t)v->program_fd;
	a.test.ctx_in = (uintptr_t)q;
	a.test.ctx_size_in = sizeof(*q);
	a.test.flags = BPF_F_TEST_RUN_ON_CPU;
	a.test.cpu = (uint32_t)core;
	return bpf(BPF_PROG_TEST_RUN, &a);
}

static int refuse(struct visitor *v, const char *what, struct error *err)
{
	int why = errno;

	visitor_free(v);
	return fail(err, why == EPERM ? ERR_PERMISSION : ERR_UNSUPPORTED,
		    "%s: %s", what, strerror(why));
}

static bool is_possible(const struct visit_shape *s)
{
	return s->head_size <= HEAD_MAX && s->first + 8 <= s->head_size &&
	       s->item_size <= ITEM_MAX && s->next + 8 <= s->item_size &&
	       (s->via == VISIT_DIRECT || s->via < HEAD_MAX);
}

int visitor_new(struct visitor **out, const struct visit_shape *shape,
		struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct question nobody = { 0 };
	struct visitor *v;

	if (!is_possible(shape))
		return fail(err, ERR_UNSUPPORTED,
			    "the list cannot be followed "
			    "by the kernel");
	v = xcalloc(1, sizeof(*v));
	v->shape = *shape;
	v->stride = 8 + (shape->item_size + 7) / 8 * 8;
	v->stack_at = ITEMS_AT + (size_t)VISIT_ITEMS_MAX * v->stride;
	v->size = v->stack_at + (shape->registers ? VISIT_STACK_MAX : 0);
	v->size = (v->size + page - 1) / page * page;
	v->program_fd = -1;
	v->map_fd = new_map(v->size);
	if (v->map_fd < 0)
		return refuse(v, "no BPF map", err);
	v->memory = mmap(NULL, v->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 v->map_fd, 0);
	if (v->memory == MAP_FAILED) {
		v->memory = NULL;
		return refuse(v, "no BPF map in memory", err);
	}
	v->program_fd = new_program(v);
	if (v->program_fd < 0)
		return refuse(v, "no BPF program", err);
	if (run_program(v, &nobody, sched_core()) < 0)
		return refuse(v, "no BPF program on a core", err);
	*out = v;
	return 0;
}

void visitor_free(struct visitor *v)
{
	if (!v)
		return;
	if (v->memory)
		munmap(v->memory, v->size);
	if (v->program_fd >= 0)
		close(v->program_fd);
	if (v->map_fd >= 0)
		close(v->map_fd);
	free(v);
}

enum visit_result visitor_visit(struct visitor *v, struct visit *visit)
{
	const struct report *report = (const void *)v->memory;
	struct question q = {
		.device = visit->namespace_device,
		.inode = visit->namespace_inode,
		.thread = { .pid = (uint32_t)visit->tid,
			    .tgid = (uint32_t)visit->pid },
		.head = visit->head,
		.stack_top = visit->stack_top,
	};

	memcpy(q.fields, visit->fields, sizeof(q.fields));
	visit->n_items = visit->stack_size = 0;
	if (run_program(v, &q, visit->core) < 0 || !report->there)
		return VISIT_AWAY;
	if (report->head_error)
		return VISIT_UNREADABLE;
	visit->head_copy = v->memory + HEAD_AT;
	memcpy(visit->values, report->values, sizeof(visit->values));
	visit->items = v->memory + ITEMS_AT;
	visit->stride = v->stride;
	visit->n_items = (uint32_t)report->n_items;
	visit->whole = !report->rest;
	registers_from_perf(&visit->registers, report->registers);
	visit->stack = v->memory + v->stack_at;
	if (!report->stack_error)
		visit->stack_size = (uint32_t)report->stack_size;
	return VISIT_TAKEN;
}

const unsigned char *visit_item(const struct visit *visit, uint32_t i,
				uint64_t *address)
{
	const unsigned char *item = visit->items + (size_t)i * visit->stride;

	memcpy(address, item, sizeof(*address));
	return item + sizeof(*address);
}

bool visit_namespace(pid_t pid, uint64_t *device, uint64_t *inode)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &st) < 0)
		return false;
	/* As the kernel has it, not as it tells us. */
	*device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	*inode = st.st_ino;
	return true;
}
