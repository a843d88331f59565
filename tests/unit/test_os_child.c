/* Programs that are started, or cannot be. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"

static int run(const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct error err = ERROR_INIT;
	pid_t pid = 0;

	assert_int_equal(child_start(&pid, argv, NULL, &err), 0);
	assert_true(pid > 0);
	return child_wait(pid);
}

static int open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_exit_codes(void **state)
{
	int status;

	(void)state;
	assert_int_equal(WEXITSTATUS(run("exit 0")), 0);
	assert_int_equal(WEXITSTATUS(run("exit 42")), 42);
	assert_int_equal(WEXITSTATUS(run("exit 127")), 127);
	status = run("kill -TERM $$");
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void test_missing_program(void **state)
{
	char *argv[] = { "/no/such/program", NULL };
	struct error err = ERROR_INIT;
	pid_t pid = 0;
	int before = open_files();

	(void)state;
	assert_int_equal(child_start(&pid, argv, NULL, &err), -ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/no/such/program"));
	assert_int_equal(pid, 0);
	assert_int_equal(open_files(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void test_file_that_is_no_program(void **state)
{
	char path[] = "/tmp/pyrometer-child-XXXXXX";
	char *argv[] = { path, NULL };
	struct error err = ERROR_INIT;
	int fd = mkstemp(path);
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(child_start(&pid, argv, NULL, &err), -ERR_PERMISSION);
	assert_non_null(strstr(err.text, path));
	unlink(path);
}

static void test_not_ours(void **state)
{
	(void)state;
	assert_int_equal(child_wait(1 << 30), -1);
}

/* Whether the program is started with the signal ignored. */
static bool child_ignores(int number)
{
	char script[128];

	snprintf(script, sizeof(script), "kill -%d $$; exit 5", number);
	return WIFEXITED(run(script));
}

static void test_signals_are_the_programs_own(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as we do for ourselves */
	assert_false(child_ignores(SIGPIPE));
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL); /* the test may be under nohup itself */
	assert_false(child_ignores(SIGHUP));
	signal(SIGHUP, SIG_IGN); /* as nohup does */
	assert_true(child_ignores(SIGHUP));
	signal(SIGHUP, SIG_DFL);
}

static void test_mask_is_the_programs_own(void **state)
{
	char *argv[] = { "sh", "-c", "kill -TERM $$; exit 5", NULL };
	struct error err = ERROR_INIT;
	sigset_t term, before;
	pid_t pid;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	assert_int_equal(child_start(&pid, argv, &before, &err), 0);
	assert_true(WIFSIGNALED(child_wait(pid)));
	assert_int_equal(child_start(&pid, argv, NULL, &err), 0);
	assert_true(WIFEXITED(child_wait(pid)));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_file_that_is_no_program),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_signals_are_the_programs_own),
		cmocka_unit_test(test_mask_is_the_programs_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
