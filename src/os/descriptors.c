#include "os/descriptors.h"

#include <sys/resource.h>

#define RESERVE 32

void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool descriptors_scarce(int fd)
{
	struct rlimit limit;

	return fd >= 0 && !getrlimit(RLIMIT_NOFILE, &limit) &&
	       (rlim_t)fd + RESERVE >= limit.rlim_cur;
}
