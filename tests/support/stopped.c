#include "stopped.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

bool stopped_stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return false;
	return waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status);
}

bool stopped_registers(pid_t tid, struct unwind_registers *out)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		return false;
#if defined(__x86_64__)
	*out = (struct unwind_registers){ .pc = regs.rip,
					  .sp = regs.rsp,
					  .fp = regs.rbp,
					  .rbx = regs.rbx,
					  .r10 = regs.r10 };
#else
	*out = (struct unwind_registers){ .pc = regs.pc,
					  .sp = regs.sp,
					  .fp = regs.regs[29],
					  .lr = regs.regs[30] };
#endif
	return true;
}
