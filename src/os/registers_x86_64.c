#if defined(__x86_64__)
#include <asm/perf_regs.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/error.h"
#include "os/registers.h"

const uint64_t registers_perf_mask =
	UINT64_C(1) << PERF_REG_X86_BX | UINT64_C(1) << PERF_REG_X86_BP |
	UINT64_C(1) << PERF_REG_X86_SP | UINT64_C(1) << PERF_REG_X86_IP |
	UINT64_C(1) << PERF_REG_X86_R10;
const uint32_t registers_perf_count = 5;

void registers_from_perf(struct cpu_registers *out,
			 const uint64_t words[REGISTERS_PERF_MAX])
{
	*out = (struct cpu_registers){ .rbx = words[0],
				       .fp = words[1],
				       .sp = words[2],
				       .pc = words[3],
				       .r10 = words[4] };
}

const uint16_t registers_entry_offsets[REGISTERS_PERF_MAX] = {
	offsetof(struct user_regs_struct, rbx),
	offsetof(struct user_regs_struct, rbp),
	offsetof(struct user_regs_struct, rsp),
	offsetof(struct user_regs_struct, rip),
	offsetof(struct user_regs_struct, r10),
};
const uint16_t registers_entry_sp = offsetof(struct user_regs_struct, rsp);
const uint16_t registers_entry_call =
	offsetof(struct user_regs_struct, orig_rax);
const uint16_t registers_entry_argument =
	offsetof(struct user_regs_struct, rdi);

int registers_of_stopped(struct cpu_registers *out, pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
		return -ERR_GONE;
	*out = (struct cpu_registers){ .pc = regs.rip,
				       .sp = regs.rsp,
				       .fp = regs.rbp,
				       .rbx = regs.rbx,
				       .r10 = regs.r10 };
	return 0;
}
#endif
