/* What /proc tells of processes whose names try to mislead. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"

#define NOBODY	 (1 << 22) /* pids are less */
#define CHILDREN 800	   /* more than the kernel lists in one read */

/* A child that has taken a name and waits to be killed. */
static pid_t start_named(const char *name)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The state may be read a moment before the child sleeps. */
static bool comes_to_sleep(pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		if (process_state(pid) == 'S')
			return true;
		usleep(1000);
	}
	return false;
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = { ") Z 1 2", ")", "a b) R",
					     ") X 9 9 9 9 9", "\n) Z (" };
	uint64_t ours = process_start_time(getpid());

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pid_t pid = start_named(names[i]);

		assert_true(comes_to_sleep(pid));
		assert_true(process_start_time(pid) >= ours);
		assert_int_equal(process_image(pid), process_image(getpid()));
		assert_int_equal(process_inner_pid(pid), pid);
		finish(pid);
	}
}

static void test_nobody(void **state)
{
	struct buffer command = BUFFER_INIT;
	pid_t *threads = NULL, children[4];
	char exe[PATH_MAX];
	int capacity = 0;

	(void)state;
	assert_false(process_exists(NOBODY));
	assert_false(process_exists(0));
	assert_false(process_exists(-1));
	assert_int_equal(process_start_time(NOBODY), 0);
	assert_int_equal(process_state(NOBODY), 0);
	assert_int_equal(process_image(NOBODY), 0);
	assert_int_equal(process_cpu_time(NOBODY), 0);
	assert_int_equal(process_children(NOBODY, children, 4), 0);
	assert_int_equal(process_threads(NOBODY, &threads, &capacity),
			 -ERR_GONE);
	process_exe(NOBODY, exe);
	assert_string_equal(exe, "");
	process_command(NOBODY, &command);
	assert_int_equal(command.size, 0);
	buffer_release(&command);
	free(threads);
}

static void test_zombie(void **state)
{
	struct buffer command = BUFFER_INIT;
	pid_t pid = start_named("gone");
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(process_exists(pid));
	assert_int_equal(process_state(pid), 'Z');
	process_command(pid, &command);
	assert_string_equal(buffer_text(&command), "[gone]");
	buffer_release(&command);
	finish(pid);
}

static void test_ourselves(void **state)
{
	struct buffer command = BUFFER_INIT;
	char exe[PATH_MAX];

	(void)state;
	assert_true(process_exists(getpid()));
	assert_int_equal(process_state(getpid()), 'R');
	process_exe(getpid(), exe);
	assert_non_null(strstr(exe, "test_os_process"));
	process_command(getpid(), &command);
	assert_non_null(strstr(buffer_text(&command), "test_os_process"));
	assert_true(process_cpu_time(getpid()) > 0);
	buffer_release(&command);
}

static void *hold(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void test_threads(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	pid_t *tids = NULL;
	int capacity = 0, n;

	(void)state;
	pthread_mutex_lock(&lock);
	n = process_threads(getpid(), &tids, &capacity);
	assert_int_equal(pthread_create(&thread, NULL, hold, &lock), 0);
	assert_int_equal(process_threads(getpid(), &tids, &capacity), n + 1);
	assert_int_equal(tids[0], getpid());
	assert_int_equal(process_outer_tid(getpid(), tids[n]), tids[n]);
	assert_int_equal(process_outer_tid(getpid(), NOBODY), 0);
	assert_int_equal(process_outer_tid(getpid(), 0), 0);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	free(tids);
}

/* Children that share our memory until they exec cost little. */
static pid_t start_waiting(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/sleep", "sleep", "30", NULL);
		_exit(1);
	}
	return pid;
}

static void test_many_children(void **state)
{
	static pid_t started[CHILDREN], found[CHILDREN + 8];
	int n;

	(void)state;
	for (int i = 0; i < CHILDREN; i++)
		assert_true((started[i] = start_waiting()) > 0);
	n = process_children(getpid(), found, CHILDREN + 8);
	for (int i = 0; i < CHILDREN; i++)
		finish(started[i]);
	assert_int_equal(n, CHILDREN);
	for (int i = 0; i < CHILDREN; i++)
		assert_int_equal(found[i], started[i]);
	assert_int_equal(process_children(getpid(), found, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_ourselves),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
