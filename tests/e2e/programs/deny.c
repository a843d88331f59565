/* deny [perf] [ptrace] -- command...: run a command that may not use perf
 * events or ptrace, as in a container. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE SECCOMP_RET_ERRNO | EPERM

/* Refuse one system call, allow all others. */
static int refuse(unsigned int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, REFUSE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int i = 1, failed = 0;

	for (; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "perf"))
			failed |= refuse(SYS_perf_event_open);
		else if (!strcmp(argv[i], "ptrace"))
			failed |= refuse(SYS_ptrace);
	}
	if (failed || i + 1 >= argc) {
		perror("deny");
		return 125;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 126;
}
