#include "os/cores.h"

#include <sys/prctl.h>
#include <sys/resource.h>

int sched_core(void)
{
	return sched_getcpu();
}

bool sched_pin(int core)
{
	cpu_set_t set;

	if (core < 0 || core >= CPU_SETSIZE)
		return false;
	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

void sched_permitted(struct sched_cores *out)
{
	CPU_ZERO(&out->set);
	sched_getaffinity(0, sizeof(out->set), &out->set);
}

void sched_unpin(const struct sched_cores *cores)
{
	sched_setaffinity(0, sizeof(cores->set), &cores->set);
}

void sched_precise_timers(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}

uint64_t sched_switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return 0;
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}
