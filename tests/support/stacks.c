/* A program whose stack takes many forms, to be walked at every instruction:
 * recursion, callbacks out of the C library, variable and realigned frames, a
 * frame of many pages, jumps out of calls, signals on this and on another
 * stack, last calls, and first calls through a PLT. Ends with 0 when all went
 * well. */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sum;

APART static void add(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += ((const unsigned char *)bytes)[i];
}

APART static int recurse(int n)
{
	if (n < 2)
		return n;
	return recurse(n - 1) + recurse(n - 2) + (int)(sum & 0);
}

APART static void variable(size_t n)
{
	char *bytes = alloca(n);

	memset(bytes, (int)n, n);
	add(bytes, n);
}

/* Both of variable size and aligned to more than the stack is. */
APART static void realigned(size_t n)
{
	_Alignas(64) char line[64];
	char *bytes = alloca(n);

	memset(line, 1, sizeof(line));
	memset(bytes, 2, n);
	add(line, sizeof(line));
	add(bytes, n);
}

APART static void wide(void)
{
	char pages[3 * 4096 + 8];

	memset(pages, 1, 16);
	memset(pages + sizeof(pages) - 16, 1, 16);
	add(pages, 16);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

APART static void call_back(void)
{
	int items[] = { 5, 3, 9, 1 };

	qsort(items, 4, sizeof(*items), by_value);
	add(items, sizeof(items));
}

APART static int last(int n)
{
	sum += (uint64_t)n;
	return n;
}

APART static int last_call(int n)
{
	return last(n + 1);
}

static jmp_buf back;

APART static void jump(int depth)
{
	if (!depth)
		longjmp(back, 1);
	jump(depth - 1);
	sum++;
}

static void handle(int number)
{
	sum += (uint64_t)recurse(3) + (uint64_t)number;
}

APART static void interrupt(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sum++;
}

APART static void interrupt_elsewhere(void)
{
	static char other[65536];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };

	sigaltstack(&stack, NULL);
	interrupt(SA_ONSTACK);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

/* The handler interrupts a function that has no frame, anywhere in it. */
APART static void fault(volatile int *at)
{
	*at = 1;
}

static sigjmp_buf out;

static void leave(int number)
{
	sum += (uint64_t)number;
	siglongjmp(out, 1);
}

static void faults(void)
{
	struct sigaction action = { .sa_handler = leave };

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(out, 1))
		fault(NULL);
}

APART static double library(void)
{
	struct timespec now;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "%d.5", (int)(now.tv_sec & 1));
	return strtod(text, NULL) + (double)strlen(text);
}

int main(void)
{
	int (*volatile indirect)(int) = last_call;

	recurse(5);
	variable(100);
	realigned(33);
	wide();
	call_back();
	indirect(1);
	if (!setjmp(back))
		jump(3);
	interrupt(0);
	interrupt_elsewhere();
	faults();
	return library() > 100;
}
