/* Try what the system permits, on a child made for it. Settings tell only a
 * part of the truth: seccomp filters, security modules and namespaces have
 * their say too. Each returns 0 or the errno of the refusal. */
#ifndef PYROMETER_OS_TRIAL_H
#define PYROMETER_OS_TRIAL_H

#include <stdbool.h>

/* Read a child's memory by process_vm_readv, or through /proc/PID/mem. */
int trial_read_child(void);
int trial_read_child_file(void);

/* Let a child read our memory: it is no ancestor of ours, as an attaching
 * profiler is none of its target. */
int trial_read_stranger(void);

/* Watch a child by a perf event, with what it does in the kernel or without. */
int trial_perf(bool kernel);
/* The same by an event that takes its registers when it is switched out, and
 * by one that does when it has run for a while. */
int trial_perf_switch(void);
int trial_perf_clock(void);

/* Stop a child for a moment by ptrace. */
int trial_stop(void);

#endif
