#include "os/signals.h"

#include <signal.h>
#include <stdio.h>

/* Those that end a program with a core file, and some by which one may have
 * been told to end. */
static const struct named_signal {
	int number;
	const char *name;
	bool dumps;
} signals[] = {
	{ SIGABRT, "SIGABRT", true },  { SIGBUS, "SIGBUS", true },
	{ SIGFPE, "SIGFPE", true },    { SIGILL, "SIGILL", true },
	{ SIGQUIT, "SIGQUIT", true },  { SIGSEGV, "SIGSEGV", true },
	{ SIGSYS, "SIGSYS", true },    { SIGTRAP, "SIGTRAP", true },
	{ SIGXCPU, "SIGXCPU", true },  { SIGXFSZ, "SIGXFSZ", true },
	{ SIGHUP, "SIGHUP", false },   { SIGINT, "SIGINT", false },
	{ SIGKILL, "SIGKILL", false }, { SIGPIPE, "SIGPIPE", false },
	{ SIGSTOP, "SIGSTOP", false }, { SIGTERM, "SIGTERM", false },
	{ SIGUSR1, "SIGUSR1", false }, { SIGUSR2, "SIGUSR2", false },
};

#define N_SIGNALS (sizeof(signals) / sizeof(*signals))

void signal_name(int number, char name[32])
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (signals[i].number == number) {
			snprintf(name, 32, "%s", signals[i].name);
			return;
		}
	snprintf(name, 32, "signal %d", number);
}

bool signal_dumps_core(int number)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (signals[i].number == number)
			return signals[i].dumps;
	return false;
}
