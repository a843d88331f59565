/* compare_stacks PID TIMES: stop every thread of a process at random moments
 * and compare three walks over each stack: ours, ours with the pc and the stack
 * pointer alone (what is known of a thread that sleeps), and libdw's. For
 * tests. Prints one line of counts; "theirs" are walks on which libdw came as
 * far as a first frame, "same" those of them on which we agree. */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/process.h"
#include "stopped.h"

#define FRAMES_MAX 1024

struct walked {
	uint64_t pcs[FRAMES_MAX];
	uint32_t count;
	bool is_whole;
};

struct counts {
	unsigned threads, whole, bare, theirs, same;
};

static void walk_ours(struct unwinder *u, const struct unwind_registers *regs,
		      struct walked *out)
{
	static struct native_frame frames[FRAMES_MAX];
	enum unwind_end why;

	out->count = unwinder_walk(u, regs, NULL, frames, FRAMES_MAX, &why);
	out->is_whole = why == UNWIND_ROOT;
	for (uint32_t i = 0; i < out->count; i++)
		out->pcs[i] = frames[i].pc;
}

static int add_frame(Dwfl_Frame *frame, void *context)
{
	struct walked *out = context;
	Dwarf_Addr pc;

	if (out->count == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	out->pcs[out->count++] = pc;
	return DWARF_CB_OK;
}

static void walk_theirs(Dwfl *dwfl, pid_t tid, struct walked *out)
{
	out->count = 0;
	out->is_whole = !dwfl_getthread_frames(dwfl, tid, add_frame, out);
}

/* libdw takes what stands where a return address would be for a frame of its
 * own when there is none: a 0 at the end. */
static bool is_same(const struct walked *a, const struct walked *b)
{
	uint32_t n = b->count;

	while (n && !b->pcs[n - 1])
		n--;
	return a->count == n && !memcmp(a->pcs, b->pcs, n * sizeof(*a->pcs));
}

static void show(const char *name, const struct walked *w)
{
	fprintf(stderr, "%s:", name);
	for (uint32_t i = 0; i < w->count; i++)
		fprintf(stderr, " %#llx", (unsigned long long)w->pcs[i]);
	fprintf(stderr, w->is_whole ? "\n" : " broken\n");
}

static void compare(struct unwinder *u, Dwfl *dwfl, pid_t tid, struct counts *c)
{
	static struct walked ours, bare, theirs;
	struct unwind_registers regs, few;

	if (!stopped_registers(tid, &regs))
		return;
	few = (struct unwind_registers){ .pc = regs.pc, .sp = regs.sp };
	walk_ours(u, &regs, &ours);
	walk_ours(u, &few, &bare);
	walk_theirs(dwfl, tid, &theirs);
	c->threads++;
	c->whole += ours.is_whole;
	c->bare += is_same(&bare, &ours);
	c->theirs += theirs.is_whole;
	c->same += theirs.is_whole && is_same(&ours, &theirs);
	if (getenv("SHOW") && (!ours.is_whole || !is_same(&ours, &theirs) ||
			       !is_same(&bare, &ours))) {
		show("ours", &ours);
		show("bare", &bare);
		show("theirs", &theirs);
	}
}

/* Reported anew each time: what is mapped may have changed. */
static Dwfl *open_dwfl(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, pid, true))
		exit(2);
	return dwfl;
}

static void compare_all(struct unwinder *u, Dwfl *dwfl, pid_t pid,
			struct counts *c)
{
	pid_t *tids = NULL;
	int capacity = 0, n = process_threads(pid, &tids, &capacity);

	for (int i = 0; i < n; i++)
		if (!stopped_stop(tids[i]))
			tids[i] = 0;
	for (int i = 0; i < n; i++)
		if (tids[i])
			compare(u, dwfl, tids[i], c);
	for (int i = 0; i < n; i++)
		if (tids[i])
			ptrace(PTRACE_DETACH, tids[i], 0, 0);
	free(tids);
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 3 ? atoi(argv[1]) : 0;
	struct counts c = { 0 };
	struct memory *memory;
	struct unwinder *u;
	Dwfl *dwfl;

	if (memory_open_process(&memory, pid, NULL) < 0 ||
	    unwinder_new(&u, pid, memory, NULL) < 0)
		return 2;
	dwfl = open_dwfl(pid);
	for (int i = atoi(argv[2]); i > 0 && process_exists(pid); i--) {
		clock_sleep_until(clock_now() + 1000000 + rand() % 3000000);
		compare_all(u, dwfl, pid, &c);
	}
	printf("threads %u whole %u bare %u theirs %u same %u\n", c.threads,
	       c.whole, c.bare, c.theirs, c.same);
	dwfl_end(dwfl);
	unwinder_free(u);
	memory_free(memory);
	return 0;
}
