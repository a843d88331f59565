/* walk_process PID: stop every thread of a process, print the native stack of
 * each by our unwinder, let it go on. For tests, to be compared with what a
 * debugger says: Pyrometer itself never stops a process like this.
 *
 *   thread TID END
 *   PC CFA MODULE+ADDRESS [return] [signal]
 *   ... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/process.h"
#include "stopped.h"

#define FRAMES_MAX 1024

static void print_frame(const struct unwinder *u, const struct native_frame *f)
{
	const struct unwind_module_info *m = unwinder_module(u, f->module);

	printf("%#" PRIx64 " %#" PRIx64 " %s+%#" PRIx64 "%s%s\n", f->pc, f->sp,
	       m ? m->path : "", f->pc - (m ? m->bias : 0),
	       f->is_return ? " return" : "", f->is_signal ? " signal" : "");
}

static void print_thread(struct unwinder *u, pid_t tid)
{
	static const char *const ends[] = { "root", "no-rule", "unreadable",
					    "loop", "full" };
	static struct native_frame frames[FRAMES_MAX];
	struct unwind_registers regs;
	enum unwind_end why;
	uint32_t n;

	if (!stopped_registers(tid, &regs))
		return;
	n = unwinder_walk(u, &regs, NULL, frames, FRAMES_MAX, &why);
	printf("thread %d %s\n", (int)tid, ends[why]);
	for (uint32_t i = 0; i < n; i++)
		print_frame(u, &frames[i]);
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? atoi(argv[1]) : 0, *tids = NULL;
	struct error err = ERROR_INIT;
	struct memory *memory;
	struct unwinder *u;
	int n, capacity = 0;

	if (memory_open_process(&memory, pid, &err) < 0 ||
	    unwinder_new(&u, pid, memory, &err) < 0) {
		fprintf(stderr, "walk_process: %s\n", err.text);
		return 1;
	}
	n = process_threads(pid, &tids, &capacity);
	for (int i = 0; i < n; i++)
		if (!stopped_stop(tids[i]))
			tids[i] = 0;
	for (int i = 0; i < n; i++)
		if (tids[i])
			print_thread(u, tids[i]);
	free(tids); /* our end lets them go */
	unwinder_free(u);
	memory_free(memory);
	return 0;
}
