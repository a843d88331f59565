#include "unit.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/syscall.h"

static void parses(void **state)
{
	struct os_syscall s;

	(void)state;
	assert_true(os_syscall_parse(
		"202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7f00a0 0x7f00b0\n",
		&s));
	assert_int_equal(s.number, 202);
	assert_int_equal(s.argument, 0x7f01);
	assert_int_equal(s.registers.sp, 0x7f00a0);
	assert_int_equal(s.registers.pc, 0x7f00b0);
	assert_true(os_syscall_parse("-1 0x10 0x20\n", &s));
	assert_int_equal(s.number, -1);
	assert_int_equal(s.registers.sp, 0x10);
	assert_int_equal(s.registers.pc, 0x20);
}

static void refuses(void **state)
{
	static const char *const texts[] = { "running\n", "",
					     "202",	  "202 ",
					     "1 0x1",	  "1 0x1 0x2 0x3",
					     "1 0x1 x" };
	struct os_syscall s;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(os_syscall_parse(texts[i], &s));
}

/* We run: there is nothing to tell of us. */
static void reads_our_own(void **state)
{
	int fd = open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC);
	struct os_syscall s;

	(void)state;
	if (fd < 0)
		skip();
	assert_true(!os_syscall_read(fd, &s) || s.registers.sp);
	close(fd);
}

static void names_waits(void **state)
{
	(void)state;
	assert_string_equal(os_syscall_wait(SYS_futex), "futex");
	assert_null(os_syscall_wait(SYS_getpid));
	assert_null(os_syscall_wait(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(reads_our_own),
		cmocka_unit_test(names_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
