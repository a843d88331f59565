/* step_process [-every N] [-most N] [-main] PROGRAM [ARGUMENT]...
 *
 * Run a program instruction by instruction and compare, at each of them, the
 * stack that the unwinder finds with the true one. The true one is kept here:
 * whatever a call puts on the stack is a return address until the stack pointer
 * is above it. No table, symbol or frame pointer is asked.
 *
 * With -main the comparing begins there, and not with the dynamic linker.
 * Prints "steps N wrong N" and what was wrong, by place. x86-64 only. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "elf/unwind.h"
#include "os/process.h"

#if defined(__x86_64__)
#define DEPTH_MAX  4096
#define CODE_BYTES 16
#define SHOWN	   40

struct call {
	uint64_t slot; /* gone when the stack pointer is above it */
	uint64_t pc;
};

struct stepper {
	pid_t pid;
	struct memory *memory;
	struct unwinder *unwinder;
	struct user_regs_struct regs, before;
	unsigned char code[CODE_BYTES]; /* at the pc before the step */
	struct call calls[DEPTH_MAX];
	unsigned depth;
	bool is_between; /* stacks, in a long jump */
	uint64_t steps, wrong, broken;
	struct map places; /* wrong ones */
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint64_t word_at(struct stepper *s, uint64_t address)
{
	uint64_t value = 0;

	memory_read_u64(s->memory, address, &value);
	return value;
}

/* What is mapped may have changed, and we cannot wait until that is noticed. */
static void renew(struct stepper *s)
{
	struct error err = ERROR_INIT;

	unwinder_free(s->unwinder);
	if (unwinder_new(&s->unwinder, s->pid, s->memory, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
}

static void push(struct stepper *s, uint64_t slot, uint64_t pc)
{
	if (s->depth == DEPTH_MAX)
		exit(3);
	s->calls[s->depth++] = (struct call){ slot, pc };
}

static bool may_be_call(unsigned char byte)
{
	return byte == 0xe8 || byte == 0xff || (byte & 0xf0) == 0x40 ||
	       byte == 0xf2 || byte == 0x3e || byte == 0x66 || byte == 0x67;
}

/* After a step: what was left, what was called. */
static void follow(struct stepper *s)
{
	unsigned depth = s->depth;
	uint64_t top;

	while (s->depth && s->calls[s->depth - 1].slot < s->regs.rsp)
		s->depth--;
	/* A long jump has set the stack pointer and not jumped yet: there is no
	 * truth about that. */
	if (s->regs.rip - s->before.rip > sizeof(s->code))
		s->is_between = false;
	else if (s->depth < depth)
		s->is_between = true;
	if (s->regs.rsp == s->before.rsp - 8 && may_be_call(s->code[0])) {
		top = word_at(s, s->regs.rsp);
		if (top > s->before.rip && top <= s->before.rip + 8)
			push(s, s->regs.rsp, top);
	}
	if (s->code[0] == 0x0f && s->code[1] == 0x05 &&
	    s->before.rax >= SYS_mmap && s->before.rax <= SYS_munmap)
		renew(s);
}

/* The kernel has put a frame there, as if the handler were called from the code
 * that returns from the signal, and that from where it came. */
static void follow_signal(struct stepper *s)
{
	push(s, s->regs.rsp + 8, s->before.rip);
	push(s, s->regs.rsp, word_at(s, s->regs.rsp));
}

static void tell(struct stepper *s, const struct native_frame *frames,
		 uint32_t n, enum unwind_end why)
{
	uint32_t i = 1;
	const struct unwind_module_info *m;

	while (i < n && i <= s->depth &&
	       frames[i].pc == s->calls[s->depth - i].pc)
		i++;
	m = unwinder_module(s->unwinder, frames[i - 1].module);
	if (!m || map_get(&s->places, frames[i - 1].pc, 0) != MAP_NONE)
		return;
	map_put(&s->places, frames[i - 1].pc, 0, 1);
	if (s->places.count > SHOWN)
		return;
	printf("after frame %u at %s+%#" PRIx64 " (leaf %#llx): %u frames of "
	       "%u, end %d, found %#" PRIx64 " for %#" PRIx64 "\n",
	       i - 1, m->path, frames[i - 1].pc - m->bias, s->regs.rip, n,
	       s->depth + 1, (int)why, i < n ? frames[i].pc : 0,
	       i <= s->depth ? s->calls[s->depth - i].pc : 0);
}

static void compare(struct stepper *s)
{
	static struct native_frame frames[DEPTH_MAX];
	struct unwind_registers regs = { .pc = s->regs.rip,
					 .sp = s->regs.rsp,
					 .fp = s->regs.rbp,
					 .rbx = s->regs.rbx,
					 .r10 = s->regs.r10 };
	enum unwind_end why;
	uint32_t n = unwinder_walk(s->unwinder, &regs, NULL, frames, DEPTH_MAX,
				   &why);
	bool right = n == s->depth + 1 && (why == UNWIND_ROOT || n == 1);

	for (uint32_t i = 1; right && i < n; i++)
		right = frames[i].pc == s->calls[s->depth - i].pc;
	s->steps++;
	if (right)
		return;
	if (why == UNWIND_ROOT)
		s->wrong++;
	else
		s->broken++; /* and says so */
	tell(s, frames, n, why);
}

/* Returns the signal that the program got, 0 for none, -1 when it has ended. */
static int step(struct stepper *s, int signal)
{
	int status;

	s->before = s->regs;
	memory_read(s->memory, s->regs.rip, s->code, 2);
	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, signal) ||
	    waitpid(s->pid, &status, 0) != s->pid)
		die("step");
	if (!WIFSTOPPED(status))
		return -1;
	if (ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs))
		die("registers");
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		exit(2);
	return pid;
}

/* The address of main, in memory. */
static uint64_t find_main(pid_t pid)
{
	static const char *const names[] = { "main" };
	struct maps maps = MAPS_INIT;
	char exe[PATH_MAX];
	uint64_t at = 0;

	process_exe(pid, exe);
	if (maps_read(&maps, pid, NULL) < 0)
		exit(2);
	for (size_t i = 0; i < maps.count && !at; i++) {
		const struct mapping *mapping = &maps.items[i];
		struct module *m;

		if (strcmp(mapping->path, exe) || !mapping->executable ||
		    module_open_mapped(&m, pid, mapping) < 0)
			continue;
		if (module_symbols(m, names, &at, 1))
			at += module_code_bias(m, mapping);
		module_free(m);
	}
	maps_release(&maps);
	return at;
}

static void run(struct stepper *s, uint64_t every, uint64_t most, uint64_t from)
{
	int signal = 0;

	if (ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs))
		die("registers");
	for (uint64_t i = 0; i < most; i++) {
		int got;

		if (s->regs.rip == from)
			from = 0;
		if (i % every == 0 && !from && !s->is_between)
			compare(s);
		got = step(s, signal);
		if (got < 0)
			return;
		if (signal && !got)
			follow_signal(s);
		else
			follow(s);
		signal = got;
	}
	kill(s->pid, SIGKILL);
}

struct options {
	uint64_t every, most;
	bool from_main;
};

/* Returns how many words were options. */
static int read_options(char **argv, struct options *o)
{
	int i = 1;

	*o = (struct options){ 1, UINT64_MAX, false };
	for (; argv[i] && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-main"))
			o->from_main = true;
		else if (!strcmp(argv[i], "-every") && argv[i + 1])
			o->every = (uint64_t)atoll(argv[++i]);
		else if (!strcmp(argv[i], "-most") && argv[i + 1])
			o->most = (uint64_t)atoll(argv[++i]);
	}
	return i;
}

int main(int argc, char **argv)
{
	static struct stepper s;
	struct options o;
	int first = read_options(argv, &o);

	if (first >= argc || !o.every)
		return 2;
	s.pid = start(argv + first);
	if (memory_open_process(&s.memory, s.pid, NULL) < 0)
		return 2;
	renew(&s);
	run(&s, o.every, o.most, o.from_main ? find_main(s.pid) : 0);
	printf("steps %" PRIu64 " wrong %" PRIu64 " broken %" PRIu64 "\n",
	       s.steps, s.wrong, s.broken);
	unwinder_free(s.unwinder);
	memory_free(s.memory);
	map_release(&s.places);
	return s.wrong != 0;
}
#else
int main(void)
{
	return 77;
}
#endif
