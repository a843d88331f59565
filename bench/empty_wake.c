/* empty_wake PID HERTZ: what waking up costs, with nothing done.
 *
 * A sampler that rides the core of the thread it watches takes that core at
 * every tick, if only for a moment. This program does the same and reads
 * nothing: the slowdown it causes is what the machine charges for the wake-up
 * itself, and what a sampler causes beyond it is the sampler's own. It follows
 * the main thread of PID from core to core, and ends with it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FOLLOW_EVERY 20 /* ticks between looks at where the thread is */
#define PROCESSOR    37 /* field of stat, counted from the state */

/* The core a thread ran on last, or -1 when it is gone. */
static int core_of(int stat)
{
	char text[1024];
	ssize_t n = pread(stat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return -1;
	text[n] = 0;
	char *at = strrchr(text, ')');
	if (!at || at[1] != ' ' || at[2] == 'Z')
		return -1;
	at += 2;
	for (int field = 1; at && field < PROCESSOR; field++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

static int move_to(int core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* The next tick; those that passed while we were stopped are left out. */
static void advance(struct timespec *due, long period)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long late = (now.tv_sec - due->tv_sec) * 1000000000L + now.tv_nsec -
		    due->tv_nsec;
	if (late > 10 * period)
		*due = now;
	due->tv_nsec += period;
	if (due->tv_nsec >= 1000000000L) {
		due->tv_nsec -= 1000000000L;
		due->tv_sec++;
	}
}

static int wake(int stat, long period)
{
	struct timespec due;
	int current = -1;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (unsigned tick = 0;; tick++) {
		if (tick % FOLLOW_EVERY == 0) {
			int core = core_of(stat);
			if (core < 0)
				return 0;
			if (core != current && move_to(core) < 0)
				return 1;
			current = core;
		}
		advance(&due, period);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due,
				       NULL) == EINTR)
			;
	}
}

int main(int argc, char **argv)
{
	char path[64];
	long hertz = argc == 3 ? atol(argv[2]) : 0;

	if (hertz <= 1 || hertz > 1000000) {
		fprintf(stderr, "usage: empty_wake PID HERTZ\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", atoi(argv[1]));
	int stat = open(path, O_RDONLY | O_CLOEXEC);
	if (stat < 0) {
		fprintf(stderr, "empty_wake: %s: %s\n", path, strerror(errno));
		return 1;
	}
	prctl(PR_SET_TIMERSLACK, 1L);
	return wake(stat, 1000000000L / hertz);
}
