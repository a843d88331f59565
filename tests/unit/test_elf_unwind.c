/* The stack of a child that has called itself a number of times and waits. */
#include "unit.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/process.h"
#include "stopped.h"

#define DEPTH	   20
#define FRAMES_MAX 256

__attribute__((noinline, noclone)) int descend(int depth);

__attribute__((noinline, noclone)) int descend(int depth)
{
	volatile int room[4] = { depth }; /* or it becomes a loop */

	if (depth)
		return descend(depth - 1) + room[0];
	while (pause() < 0)
		;
	return 0;
}

struct child {
	pid_t pid;
	struct memory *memory;
	struct unwinder *unwinder;
	struct unwind_registers regs;
	struct unwind_stack stack;
	unsigned char copy[16384];
};

static struct child *start(void)
{
	struct child *c = calloc(1, sizeof(*c));

	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(descend(DEPTH));
	}
	while (process_state(c->pid) != 'S')
		usleep(1000);
	assert_true(stopped_stop(c->pid));
	assert_true(stopped_registers(c->pid, &c->regs));
	assert_int_equal(memory_open_process(&c->memory, c->pid, NULL), 0);
	assert_int_equal(unwinder_new(&c->unwinder, c->pid, c->memory, NULL),
			 0);
	c->stack = (struct unwind_stack){ .address = c->regs.sp,
					  .bytes = c->copy,
					  .size = sizeof(c->copy) };
	while (memory_read(c->memory, c->regs.sp, c->copy, c->stack.size))
		c->stack.size -= 64;
	return c;
}

static void end(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	unwinder_free(c->unwinder);
	memory_free(c->memory);
	free(c);
}

static uint32_t walk(struct child *c, struct native_frame *frames, uint32_t max,
		     enum unwind_end *why)
{
	return unwinder_walk(c->unwinder, &c->regs, &c->stack, frames, max,
			     why);
}

static void test_calls_are_found(void **state)
{
	struct native_frame frames[FRAMES_MAX];
	struct child *c = start();
	enum unwind_end why;
	uint32_t n = walk(c, frames, FRAMES_MAX, &why), same = 0;

	(void)state;
	assert_int_equal(why, UNWIND_ROOT);
	assert_int_equal(frames[0].pc, c->regs.pc);
	assert_false(frames[0].is_return);
	for (uint32_t i = 1; i < n; i++) {
		same += frames[i].pc == frames[i - 1].pc;
		assert_true(frames[i].is_return);
		/* Of one that has put nothing on the stack they are the same:
		 * its return address is in a register. */
		assert_true(frames[i].sp >= frames[i - 1].sp);
	}
	/* All but the innermost wait for the same call. */
	assert_int_equal(same, DEPTH - 1);
	end(c);
}

static void test_module_is_told(void **state)
{
	struct native_frame frames[FRAMES_MAX];
	const struct unwind_module_info *m = NULL;
	struct child *c = start();
	char exe[PATH_MAX];
	enum unwind_end why;
	uint32_t n = walk(c, frames, FRAMES_MAX, &why);

	(void)state;
	process_exe(getpid(), exe);
	for (uint32_t i = 1; i < n; i++)
		if (frames[i].pc == frames[i - 1].pc)
			m = unwinder_module(c->unwinder, frames[i].module);
	assert_non_null(m);
	assert_string_equal(m->path, exe);
	assert_in_range((uintptr_t)descend, m->start, m->end);
	assert_true(m->bias <= m->start);
	assert_null(unwinder_module(c->unwinder, UNWIND_NO_MODULE));
	assert_true(unwinder_module_count(c->unwinder) >= 2);
	end(c);
}

static void test_warm_walk_neither_reads_nor_allocates(void **state)
{
	struct native_frame frames[FRAMES_MAX];
	struct child *c = start();
	enum unwind_end why;
	struct mallinfo2 before;
	uint64_t reads;

	(void)state;
	walk(c, frames, FRAMES_MAX, &why);
	before = mallinfo2();
	reads = c->memory->reads;
	for (int i = 0; i < 100; i++)
		walk(c, frames, FRAMES_MAX, &why);
	assert_int_equal(why, UNWIND_ROOT);
	assert_int_equal(c->memory->reads, reads);
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	end(c);
}

static void test_ends_are_told(void **state)
{
	struct native_frame frames[FRAMES_MAX];
	struct child *c = start();
	struct unwind_registers regs = c->regs;
	enum unwind_end why;
	uint32_t whole = walk(c, frames, FRAMES_MAX, &why);

	(void)state;
	assert_int_equal(walk(c, frames, 3, &why), 3);
	assert_int_equal(why, UNWIND_FULL);
	assert_int_equal(walk(c, frames, whole, &why), whole);
	assert_int_equal(why, UNWIND_ROOT);
	c->regs.sp = 8; /* where nothing can be read */
	walk(c, frames, FRAMES_MAX, &why);
	assert_int_equal(why, UNWIND_UNREADABLE);
	c->regs = regs;
	c->regs.pc = 16; /* no code */
	c->regs.fp = 0;
	assert_int_equal(walk(c, frames, FRAMES_MAX, &why), 1);
	assert_int_equal(why, UNWIND_NO_RULE);
	assert_int_equal(frames[0].module, UNWIND_NO_MODULE);
	end(c);
}

static void test_no_process(void **state)
{
	struct error err = ERROR_INIT;
	struct unwinder *u = NULL;

	(void)state;
	assert_int_equal(unwinder_new(&u, 0x7ffffff0, NULL, &err),
			 -ERR_NO_PROCESS);
	assert_null(u);
	unwinder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_are_found),
		cmocka_unit_test(test_module_is_told),
		cmocka_unit_test(test_warm_walk_neither_reads_nor_allocates),
		cmocka_unit_test(test_ends_are_told),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
