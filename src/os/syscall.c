#include "os/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The file reads "running", "-1 SP PC" or "NUMBER SIX-ARGUMENTS SP PC", all but
 * the number in hexadecimal. */
bool os_syscall_parse(const char *text, struct os_syscall *out)
{
	uint64_t words[8] = { 0 };
	char *end;
	int n = 0;

	memset(out, 0, sizeof(*out));
	out->number = strtol(text, &end, 10);
	if (end == text)
		return false;
	while (n < 8 && *end == ' ') {
		const char *start = end + 1;

		words[n] = strtoull(start, &end, 16);
		if (end == start)
			break;
		n++;
	}
	if (n != 2 && n != 8)
		return false;
	out->argument = n == 8 ? words[0] : 0;
	out->registers.sp = words[n - 2];
	out->registers.pc = words[n - 1];
	return true;
}

bool os_syscall_read(int fd, struct os_syscall *out)
{
	char text[256];
	ssize_t n;

	errno = 0;
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = 0;
	return os_syscall_parse(text, out);
}

const char *os_syscall_wait(long number)
{
	static const struct {
		long number;
		const char *name;
	} waits[] = {
#ifdef SYS_poll
		{ SYS_poll, "poll" },
		{ SYS_select, "select" },
		{ SYS_epoll_wait, "epoll" },
#endif
		{ SYS_futex, "futex" },
		{ SYS_read, "read" },
		{ SYS_pread64, "read" },
		{ SYS_readv, "read" },
		{ SYS_write, "write" },
		{ SYS_writev, "write" },
		{ SYS_ppoll, "poll" },
		{ SYS_pselect6, "select" },
		{ SYS_epoll_pwait, "epoll" },
		{ SYS_nanosleep, "sleep" },
		{ SYS_clock_nanosleep, "sleep" },
		{ SYS_recvfrom, "recv" },
		{ SYS_recvmsg, "recv" },
		{ SYS_sendto, "send" },
		{ SYS_sendmsg, "send" },
		{ SYS_accept, "accept" },
		{ SYS_accept4, "accept" },
		{ SYS_connect, "connect" },
		{ SYS_wait4, "wait" },
		{ SYS_waitid, "wait" },
		{ SYS_fsync, "fsync" },
		{ SYS_fdatasync, "fsync" },
		{ SYS_flock, "flock" },
		{ SYS_rt_sigtimedwait, "signal" },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (waits[i].number == number)
			return waits[i].name;
	return NULL;
}
