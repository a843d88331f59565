#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

static void test_zero_sizes_give_memory(void **state)
{
	void *p[] = { xmalloc(0), xcalloc(0, 8), xrealloc(NULL, 0),
		      xreallocarray(NULL, 0, 8) };

	for (int i = 0; i < 4; i++) {
		assert_non_null(p[i]);
		free(p[i]);
	}
}

static void test_grow_keeps_contents(void **state)
{
	int *array = NULL;
	size_t capacity = 0;

	for (int i = 0; i < 1000; i++) {
		ALLOC_GROW(array, (size_t)i + 1, capacity);
		assert_true(capacity > (size_t)i);
		array[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

static void test_asprintf_of_any_length(void **state)
{
	char *s = xasprintf("%s-%05d", "x", 42);
	char *long_one = xasprintf("%5000s", "");

	assert_string_equal(s, "x-00042");
	assert_int_equal(long_one[4999], ' ');
	assert_int_equal(long_one[5000], 0);
	free(s);
	free(long_one);
}

/* A product that overflows must not become a small allocation. */
static void test_overflow_aborts(void **state)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		free(xreallocarray(NULL, (size_t)-1 / 4, 8));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_sizes_give_memory),
		cmocka_unit_test(test_grow_keeps_contents),
		cmocka_unit_test(test_asprintf_of_any_length),
		cmocka_unit_test(test_overflow_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
