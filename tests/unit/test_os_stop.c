/* Children that are stopped for a moment, and what becomes of them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"
#include "os/stop.h"

#define PATIENCE 5000 /* ms */

/* Shared with the child, which counts as long as it runs. */
struct shared {
	atomic_ulong count, signals;
	atomic_int pid, tid;
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
		signal(SIGRTMIN, on_signal);
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

/* Who is killed while it holds a thread that stopped for a signal takes no
 * signal along. Signals come so close that most stops are for one. */
static void killed_with_a_signal(void **state)
{
	struct shared *s = shared_new();
	unsigned long sent = 0;
	pid_t pid = counting_child(s);

	(void)state;
	for (int i = 0; i < 40; i++) {
		pid_t tracer;

		for (int k = 0; k < 200; k++, sent++)
			assert_int_equal(kill(pid, SIGRTMIN), 0);
		tracer = fork();
		if (tracer == 0) {
			struct stop stop = STOP_INIT;
			struct cpu_registers r;
			int status = stop_thread(&stop, pid, &r);

			raise(status == -ERR_PERMISSION ? SIGTERM : SIGKILL);
		}
		assert_int_equal(waitpid(tracer, NULL, 0), tracer);
	}
	for (int k = 0; k < PATIENCE && s->signals < sent; k++)
		usleep(1000);
	assert_int_equal(s->signals, sent);
	finish(pid);
}

/* A process of two threads that count, started by a child of ours, so that
 * somebody else waits for it. The first does what it is ordered to. */
struct grandchild {
	pid_t parent, pid, tid;
	int order[2], end[2];
};

static void *count_on(void *context)
{
	struct shared *s = context;

	s->tid = (int)syscall(SYS_gettid);
	for (;;)
		s->count++;
	return NULL;
}

static void two_threads(struct shared *s, int order)
{
	pthread_t thread;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s->pid = getpid();
	pthread_create(&thread, NULL, count_on, s);
	while (read(order, &byte, 1) != 1)
		;
	if (byte == 'x')
		execlp("true", "true", (char *)NULL);
	_exit(3);
}

static void start_grandchild(struct grandchild *g, struct shared *s)
{
	assert_int_equal(pipe2(g->order, O_CLOEXEC), 0);
	assert_int_equal(pipe2(g->end, O_CLOEXEC), 0);
	g->parent = fork();
	if (g->parent == 0) {
		pid_t pid = fork();

		if (pid == 0)
			two_threads(s, g->order[0]);
		waitpid(pid, NULL, 0);
		if (write(g->end[1], "e", 1) == 1)
			_exit(0);
		_exit(1);
	}
	while (!s->count)
		usleep(100);
	g->pid = s->pid;
	g->tid = s->tid;
}

static bool has_ended(const struct grandchild *g)
{
	struct pollfd fd = { .fd = g->end[0], .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* The process ends (`e`) or executes another program (`x`) while we hold one of
 * its threads: that thread cannot be let go any more, and must not hold up the
 * end. */
static void ends_in_the_middle(char how, bool first)
{
	struct shared *s = shared_new();
	struct stop stop = STOP_INIT;
	struct grandchild g;
	struct cpu_registers r;
	int status;

	start_grandchild(&g, s);
	stop.process = g.pid;
	status = stop_soon(&stop, first ? g.pid : g.tid, &r);
	if (status == 0) {
		if (first)
			kill(g.pid, SIGKILL);
		else
			assert_int_equal(write(g.order[1], &how, 1), 1);
		usleep(50000);
		stop_release(&stop);
		for (int i = 0; i < PATIENCE && !has_ended(&g); i++) {
			stop_settle(&stop);
			usleep(1000);
		}
		assert_true(has_ended(&g));
		assert_int_equal(stop.tid, 0);
	}
	finish(g.parent);
	for (int i = 0; i < 2; i++) {
		close(g.order[i]);
		close(g.end[i]);
	}
	if (status)
		skip(); /* only a parent may trace here */
}

static void process_ends(void **state)
{
	(void)state;
	ends_in_the_middle('e', false);
}

static void process_executes(void **state)
{
	(void)state;
	ends_in_the_middle('x', false);
}

static void process_is_killed(void **state)
{
	(void)state;
	ends_in_the_middle('k', true);
}

/* A thread that executes a program while it is asked to stop has another number
 * afterwards, and is let go all the same. */
static void *execute(void *context)
{
	struct shared *s = context;

	s->tid = (int)syscall(SYS_gettid);
	while (s->count++ < 300000)
		;
	execlp("sleep", "sleep", "0.01", (char *)NULL);
	return NULL;
}

static void thread_executes(void **state)
{
	struct cpu_registers r;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct shared *s = shared_new();
		struct stop stop = STOP_INIT;
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			pthread_t thread;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pthread_create(&thread, NULL, execute, s);
			for (;;)
				pause();
		}
		while (!s->tid)
			usleep(100);
		stop.process = stop.own = pid;
		do {
			status = stop_thread(&stop, s->tid, &r);
			stop_release(&stop);
		} while (status == 0 || status == -ERR_LIMIT);
		stop_end(&stop);
		assert_int_equal(stop.tid, 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		munmap(s, 4096);
	}
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
		cmocka_unit_test(killed_with_a_signal),
		cmocka_unit_test(process_ends),
		cmocka_unit_test(process_executes),
		cmocka_unit_test(process_is_killed),
		cmocka_unit_test(thread_executes),
		cmocka_unit_test(exits_are_not_stolen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
