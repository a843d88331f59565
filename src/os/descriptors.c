#include "os/descriptors.h"

#include <limits.h>
#include <sys/resource.h>

#define RESERVE 32

int descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (int)limit.rlim_cur;
}

bool descriptors_scarce(int fd)
{
	struct rlimit limit;

	return fd >= 0 && !getrlimit(RLIMIT_NOFILE, &limit) &&
	       (rlim_t)fd + RESERVE >= limit.rlim_cur;
}
