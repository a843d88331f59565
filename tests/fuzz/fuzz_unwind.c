/* The input is an object file, the stack and the registers of a thread that
 * runs it: all as a broken or lying target may have them. The last 2 KB are the
 * stack; its first words are the registers. The file is mapped as code too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/eh_frame_rows.h"
#include "elf/epilogue.h"
#include "elf/unwind.h"
#include "elf/unwind_table.h"
#include "elf/x86_instruction.h"

#define FILE_AT	   UINT64_C(0x400000)
#define STACK_AT   UINT64_C(0x7ff000000000)
#define STACK_SIZE 2048
#define FRAMES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* Two regions: the file, and the stack. */
struct fake {
	struct memory memory;
	const uint8_t *file, *stack;
	size_t file_size, stack_size;
};

/* Pages are whole: behind the last byte come zeros. */
static bool copy(const uint8_t *from, size_t from_size, uint64_t into,
		 const struct memory_piece *piece)
{
	size_t whole = (from_size + 4095) & ~(size_t)4095, n = 0;

	if (piece->size > whole || into > whole - piece->size)
		return false;
	if (into < from_size)
		n = from_size - into < piece->size ? from_size - into
						   : piece->size;
	memset(piece->into, 0, piece->size);
	if (n)
		memcpy(piece->into, from + into, n);
	return true;
}

static ssize_t read_fake(struct memory *m, const struct memory_piece *pieces,
			 size_t n)
{
	const struct fake *f = (const struct fake *)m;
	ssize_t total = 0;

	for (size_t i = 0; i < n; i++) {
		if (!copy(f->file, f->file_size, pieces[i].address - FILE_AT,
			  &pieces[i]) &&
		    !copy(f->stack, f->stack_size, pieces[i].address - STACK_AT,
			  &pieces[i]))
			return total ? total : -ERR_UNREADABLE;
		total += (ssize_t)pieces[i].size;
	}
	return total;
}

static const struct memory_ops fake_ops = { read_fake, NULL };

static uint64_t word(const struct fake *f, size_t i)
{
	uint64_t value = 0;

	if (f->stack_size >= (i + 1) * 8)
		memcpy(&value, f->stack + i * 8, 8);
	return value;
}

static void walk(struct unwinder *u, const struct unwind_registers *regs)
{
	struct native_frame frames[FRAMES_MAX];
	enum unwind_end why = -1;
	uint32_t n = unwinder_walk(u, regs, NULL, frames, FRAMES_MAX, &why);

	require(n >= 1 && n <= FRAMES_MAX && why <= UNWIND_FULL);
	require(frames[0].pc == regs->pc && !frames[0].is_return);
	for (uint32_t i = 1; i < n; i++) {
		require(frames[i].pc);
		require(frames[i].module == UNWIND_NO_MODULE ||
			unwinder_module(u, frames[i].module));
		/* A signal may have come on another stack. */
		require(frames[i - 1].is_signal || !frames[i].is_return ||
			frames[i].sp >= frames[i - 1].sp);
	}
}

/* From the pc that the input tells, and from places all over its code. */
static void walk_all(struct unwinder *u, const struct fake *f)
{
	struct unwind_registers regs = { .pc = word(f, 0),
					 .sp = STACK_AT + word(f, 1) % 256,
					 .fp = STACK_AT + word(f, 2) % 512,
					 .lr = word(f, 3),
					 .rbx = STACK_AT + word(f, 4) % 512,
					 .r10 = STACK_AT + word(f, 5) % 512 };

	walk(u, &regs);
	for (size_t i = 0; i < 12 && f->file_size; i++) {
		regs.pc = FILE_AT + i * 61 * 64 % f->file_size + i % 4;
		regs.fp = i % 3 ? regs.fp : 0;
		walk(u, &regs);
	}
	walk(u, &regs); /* warm */
}

/* The tables of either machine, and code as either would read it. */
static void run_tables(const struct module *file, struct memory *memory)
{
	static const struct unwind_machine *const machines[] = {
		&unwind_x86_64, &unwind_aarch64
	};
	static struct window window;
	struct epilogue_bounds all = { 0, UINT64_MAX }, some;
	struct unwind_rule rule;

	for (int k = 0; k < 2; k++) {
		struct unwind_table *tables[] = {
			unwind_table_new(file, machines[k]),
			unwind_table_new_debug(file, machines[k]),
		};

		for (int i = 0; i < 2; i++) {
			for (uint64_t at = 0; tables[i] && at < 65536; at += 37)
				unwind_table_find(tables[i], at);
			unwind_table_free(tables[i]);
		}
		window = (struct window){ .memory = memory };
		for (uint64_t at = FILE_AT; at < FILE_AT + 8192; at += 4100) {
			some = (struct epilogue_bounds){ at, at + 4096 };
			epilogue_rule(&window, machines[k], at, &all, &rule);
			prologue_rule(&window, machines[k], at + 64, &some,
				      &rule);
			epilogue_after_call(memory, machines[k], at);
		}
	}
}

static int open_of_fake(const struct opener *o, const struct mapping *mapping)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)mapping->inode);
	return opener_regular(path, 0);
}

static void run(const struct fake *f, int fd)
{
	static const struct opener opener = { open_of_fake };
	struct mapping mapping = { .start = FILE_AT,
				   .end = FILE_AT + f->file_size + 1,
				   .inode = (uint64_t)fd,
				   .readable = true,
				   .executable = true,
				   .path = "/fake" };
	struct maps maps = { .items = &mapping, .count = 1 };
	struct memory *memory = (struct memory *)&f->memory;
	struct unwinder *u;
	struct module *file;

	require(!unwinder_new_over(&u, &maps, memory, &opener, NULL));
	walk_all(u, f);
	unwinder_free(u);
	if (module_open_by(&file, &opener, &mapping) < 0)
		return;
	run_tables(file, memory);
	module_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t stack = size < STACK_SIZE ? size : STACK_SIZE;
	struct fake f = { .memory = { &fake_ops, 0 },
			  .file = data,
			  .file_size = size - stack,
			  .stack = data + (size - stack),
			  .stack_size = stack };
	int fd = memfd_create("module", MFD_CLOEXEC);

	require(fd >= 0);
	require(write(fd, data, f.file_size) == (ssize_t)f.file_size);
	run(&f, fd);
	close(fd);
	return 0;
}
