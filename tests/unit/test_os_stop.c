/* Children that are stopped for a moment, and what becomes of them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"
#include "os/stop.h"

#define PATIENCE 5000 /* ms */

/* Shared with the child, which counts as long as it runs. */
struct shared {
	atomic_ulong count, signals;
};

static struct shared *shared_new(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static struct shared *of_child; /* what the handler counts in */

static void on_signal(int number)
{
	(void)number;
	of_child->signals++;
}

static pid_t counting_child(struct shared *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		of_child = s;
		signal(SIGUSR1, on_signal);
		for (;;)
			s->count++;
	}
	assert_true(pid > 0);
	while (!s->count)
		usleep(100);
	return pid;
}

static bool goes_on(const struct shared *s)
{
	unsigned long before = s->count;

	for (int i = 0; i < PATIENCE; i++, usleep(1000))
		if (s->count != before)
			return true;
	return false;
}

static bool is_traced(pid_t pid)
{
	char path[64], line[256];
	long tracer = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "TracerPid:", 10))
			tracer = atol(line + 10);
	if (f)
		fclose(f);
	return tracer != 0;
}

/* Stop a thread; on a busy machine it may take some tries. */
static int stop_soon(struct stop *stop, pid_t pid, struct cpu_registers *r)
{
	int status = -ERR_LIMIT;

	for (int i = 0; i < PATIENCE && status == -ERR_LIMIT; i++)
		status = stop_thread(stop, pid, r);
	return status;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void stops_and_goes_on(void **state)
{
	struct shared *s = shared_new();
	struct stop stop = STOP_INIT;
	pid_t pid = counting_child(s);

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct cpu_registers r;
		unsigned long before;

		assert_int_equal(stop_soon(&stop, pid, &r), 0);
		assert_true(r.pc && r.sp);
		before = s->count;
		usleep(200);
		assert_int_equal(s->count, before);
		stop_release(&stop);
		assert_false(is_traced(pid));
		assert_true(goes_on(s));
	}
	finish(pid);
}

/* A signal that comes in the middle of a stop reaches the program, once. */
static void signals_pass(void **state)
{
	struct shared *s = shared_new();
	struct stop stop = STOP_INIT;
	pid_t pid = counting_child(s);

	(void)state;
	for (unsigned long i = 0; i < 20; i++) {
		struct cpu_registers r;

		if (i % 2)
			kill(pid, SIGUSR1);
		assert_int_equal(stop_soon(&stop, pid, &r), 0);
		if (!(i % 2))
			kill(pid, SIGUSR1);
		stop_release(&stop);
		for (int k = 0; k < PATIENCE && s->signals <= i; k++)
			usleep(1000);
		assert_int_equal(s->signals, i + 1);
	}
	finish(pid);
}

/* Killed while it holds a thread: the kernel lets that go. */
static void killed_in_the_middle(void **state)
{
	struct shared *s = shared_new();
	pid_t pid = counting_child(s), tracer;
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	tracer = fork();
	if (tracer == 0) {
		struct stop stop = STOP_INIT;
		struct cpu_registers r;
		int status = stop_soon(&stop, pid, &r);

		byte = (char)status;
		status = (int)write(ready[1], &byte, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (byte == (char)-ERR_PERMISSION) {
		finish(tracer);
		finish(pid);
		skip(); /* only a parent may trace here */
	}
	assert_int_equal(byte, 0);
	assert_true(is_traced(pid));
	assert_int_equal(process_state(pid), 't');
	finish(tracer);
	assert_true(goes_on(s));
	assert_false(is_traced(pid));
	finish(pid);
	close(ready[0]);
	close(ready[1]);
}

/* The end of a child of ours stays for those who wait for it. */
static void exits_are_not_stolen(void **state)
{
	struct stop stop = STOP_INIT;
	int status, got;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct cpu_registers r;
		pid_t pid = fork();

		if (pid == 0) {
			for (volatile int k = i * 100; k; k--)
				;
			_exit(7);
		}
		stop.own = pid;
		while ((got = stop_soon(&stop, pid, &r)) == 0)
			stop_release(&stop);
		assert_true(got == -ERR_GONE || got == -ERR_PERMISSION);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_and_goes_on),
		cmocka_unit_test(signals_pass),
		cmocka_unit_test(killed_in_the_middle),
		cmocka_unit_test(exits_are_not_stolen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
