#if defined(__aarch64__)
#include <asm/perf_regs.h>
#include <elf.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "base/error.h"
#include "os/registers.h"

const uint64_t registers_perf_mask =
	UINT64_C(1) << PERF_REG_ARM64_X29 | UINT64_C(1) << PERF_REG_ARM64_LR |
	UINT64_C(1) << PERF_REG_ARM64_SP | UINT64_C(1) << PERF_REG_ARM64_PC;
const uint32_t registers_perf_count = 4;

void registers_from_perf(struct cpu_registers *out,
			 const uint64_t words[REGISTERS_PERF_MAX])
{
	*out = (struct cpu_registers){
		.fp = words[0], .lr = words[1], .sp = words[2], .pc = words[3]
	};
}

const uint16_t registers_entry_offsets[REGISTERS_PERF_MAX] = {
	offsetof(struct user_regs_struct, regs[29]),
	offsetof(struct user_regs_struct, regs[30]),
	offsetof(struct user_regs_struct, sp),
	offsetof(struct user_regs_struct, pc),
};
const uint16_t registers_entry_sp = offsetof(struct user_regs_struct, sp);
const uint16_t registers_entry_call =
	offsetof(struct user_regs_struct, regs[8]);
const uint16_t registers_entry_argument =
	offsetof(struct user_regs_struct, regs[0]);

int registers_of_stopped(struct cpu_registers *out, pid_t tid)
{
	struct user_regs_struct regs;
	struct iovec vector = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &vector) < 0)
		return -ERR_GONE;
	*out = (struct cpu_registers){ .pc = regs.pc,
				       .sp = regs.sp,
				       .fp = regs.regs[29],
				       .lr = regs.regs[30] };
	return 0;
}
#endif
