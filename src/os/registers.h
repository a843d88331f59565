/* The registers that a stack is walked from, and how the kernel hands them out:
 * in the records of perf events, in the frame of its entry, and for a stopped
 * thread. One file per CPU. */
#ifndef PYROMETER_OS_REGISTERS_H
#define PYROMETER_OS_REGISTERS_H

#include <stdint.h>
#include <sys/types.h>

struct cpu_registers {
	uint64_t pc, sp;
	uint64_t fp; /* 0: not known */
	uint64_t lr; /* 0 where the CPU has none */
	/* x86-64: hand-written and realigned code is walked by these. 0: not
	 * known. */
	uint64_t rbx, r10;
};

/* Bytes below the stack pointer that a function may use: at its last
 * instruction the registers that it has just restored are still there, and
 * unwind rules say so. */
#define STACK_RED_ZONE 128

#define REGISTERS_PERF_MAX 5

/* Which registers to ask a perf event for, and how many these are. */
extern const uint64_t registers_perf_mask;
extern const uint32_t registers_perf_count;
/* From the words of a record, in the order of the mask's bits. */
void registers_from_perf(struct cpu_registers *out,
			 const uint64_t words[REGISTERS_PERF_MAX]);

/* Where these words lie in the frame that the kernel makes when it is entered,
 * which begins as struct user_regs_struct does, and the stack pointer. */
extern const uint16_t registers_entry_offsets[REGISTERS_PERF_MAX];
extern const uint16_t registers_entry_sp;
/* And, of a thread that is in a system call, its number and first argument. */
extern const uint16_t registers_entry_call, registers_entry_argument;

/* Of a thread that stands in a ptrace stop. 0 or -ERR_GONE. */
int registers_of_stopped(struct cpu_registers *out, pid_t tid);

#endif
