/* unwind_speed [DEPTH]: what a walk over a native stack costs, in CPU time of
 * the walking thread: the first time, when tables are read and rules made; then
 * with a copy of the stack at hand, as the sampler has it; and reading the
 * stack as well. A child recurses to the depth and waits. Built with the tests.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "stopped.h"

#define WALKS	   20000
#define FRAMES_MAX 4096
#define COPY_SIZE  (64 << 10)

__attribute__((noinline, noclone)) static int descend(int depth)
{
	volatile char room[64];

	room[0] = (char)depth;
	if (depth)
		return descend(depth - 1) + room[0];
	while (pause() < 0)
		;
	return 0;
}

static pid_t start(int depth)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(descend(depth));
	}
	usleep(100000); /* until it waits */
	return stopped_stop(pid) ? pid : 0;
}

static void measure(const char *what, struct unwinder *u,
		    const struct unwind_registers *regs,
		    const struct unwind_stack *stack, int times)
{
	static struct native_frame frames[FRAMES_MAX];
	uint64_t from = clock_thread_cpu(), spent;
	enum unwind_end why = UNWIND_ROOT;
	uint32_t n = 0;

	for (int i = 0; i < times; i++)
		n = unwinder_walk(u, regs, stack, frames, FRAMES_MAX, &why);
	spent = clock_thread_cpu() - from;
	printf("%-24s %4u frames %s %9.2f us a walk %7.1f ns a frame\n", what,
	       n, why == UNWIND_ROOT ? "whole " : "broken",
	       (double)spent / times / 1e3, (double)spent / times / n);
}

int main(int argc, char **argv)
{
	static unsigned char bytes[COPY_SIZE];
	pid_t pid = start(argc > 1 ? atoi(argv[1]) : 44);
	struct unwind_stack stack = { .bytes = bytes };
	struct unwind_registers regs;
	struct memory *memory;
	struct unwinder *u;

	if (!pid || memory_open_process(&memory, pid, NULL) < 0 ||
	    unwinder_new(&u, pid, memory, NULL) < 0 ||
	    !stopped_registers(pid, &regs))
		return 1;
	stack.address = regs.sp;
	for (stack.size = COPY_SIZE; stack.size > 4096; stack.size -= 1024)
		if (!memory_read(memory, regs.sp, bytes, stack.size))
			break;
	measure("first walk", u, &regs, &stack, 1);
	measure("warm, stack at hand", u, &regs, &stack, WALKS);
	measure("warm, stack to be read", u, &regs, NULL, WALKS);
	unwinder_free(u);
	memory_free(memory);
	kill(pid, SIGKILL);
	return 0;
}
