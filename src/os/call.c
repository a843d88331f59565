#include "os/call.h"

#include <stddef.h>
#include <sys/syscall.h>

/* aarch64 has no calls that a newer one made superfluous. */
static const struct call {
	int64_t number;
	const char *name;
} calls[] = {
#define CALL(name)                \
	{                         \
		SYS_##name, #name \
	}
#ifdef SYS_accept
	CALL(accept),
#endif
	CALL(accept4),
	CALL(clock_nanosleep),
	CALL(connect),
	CALL(epoll_pwait),
#ifdef SYS_epoll_pwait2
	CALL(epoll_pwait2),
#endif
#ifdef SYS_epoll_wait
	CALL(epoll_wait),
#endif
	CALL(fcntl),
	CALL(fdatasync),
	CALL(flock),
	CALL(fsync),
	CALL(futex),
#ifdef SYS_futex_waitv
	CALL(futex_waitv),
#endif
	CALL(io_getevents),
#ifdef SYS_io_uring_enter
	CALL(io_uring_enter),
#endif
	CALL(ioctl),
	CALL(msgrcv),
	CALL(msgsnd),
	CALL(msync),
	CALL(nanosleep),
	CALL(openat),
#ifdef SYS_pause
	CALL(pause),
#endif
#ifdef SYS_poll
	CALL(poll),
#endif
	CALL(ppoll),
	CALL(pread64),
	CALL(preadv),
	CALL(pselect6),
	CALL(pwrite64),
	CALL(pwritev),
	CALL(read),
	CALL(readv),
	CALL(recvfrom),
	CALL(recvmmsg),
	CALL(recvmsg),
	CALL(rt_sigsuspend),
	CALL(rt_sigtimedwait),
#ifdef SYS_select
	CALL(select),
#endif
	CALL(semop),
	CALL(semtimedop),
	CALL(sendfile),
	CALL(sendmmsg),
	CALL(sendmsg),
	CALL(sendto),
	CALL(splice),
	CALL(wait4),
	CALL(waitid),
	CALL(write),
	CALL(writev),
#undef CALL
};

const char *call_name(int64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}

bool call_is_futex(int64_t number)
{
	return number == SYS_futex;
}
