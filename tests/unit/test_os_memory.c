/* Reading our own memory, and that of a child which ends. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/memory.h"

static struct memory *open_own(void)
{
	struct memory *m = NULL;

	assert_int_equal(memory_open_process(&m, getpid(), NULL), 0);
	return m;
}

/* Two pages, of which the second cannot be read. */
static char *half_readable(size_t *page)
{
	char *pages;

	*page = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, *page * 2, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + *page, *page), 0);
	return pages;
}

static void test_words(void **state)
{
	const uint64_t word = 0x1122334455667788;
	struct memory *m = open_own();
	uint64_t whole = 0;
	uint32_t half = 0;

	(void)state;
	assert_int_equal(memory_read_u64(m, (uintptr_t)&word, &whole), 0);
	assert_int_equal(whole, word);
	assert_int_equal(memory_read_u32(m, (uintptr_t)&word, &half), 0);
	assert_int_equal(half, (uint32_t)word);
	assert_int_equal(memory_read_u64(m, 0, &whole), -ERR_UNREADABLE);
	assert_int_equal(memory_read_u64(m, UINT64_MAX - 4, &whole),
			 -ERR_UNREADABLE);
	memory_free(m);
}

static void test_short_read_is_none(void **state)
{
	struct memory *m = open_own();
	char into[64];
	size_t page;
	char *pages = half_readable(&page);

	(void)state;
	assert_int_equal(memory_read(m, (uintptr_t)pages + page - 64, into, 64),
			 0);
	assert_int_equal(memory_read(m, (uintptr_t)pages + page - 32, into, 64),
			 -ERR_UNREADABLE);
	munmap(pages, page);
	memory_free(m);
}

static void test_string_at_the_end_of_a_mapping(void **state)
{
	struct memory *m = open_own();
	char into[64];
	size_t page;
	char *pages = half_readable(&page), *last = pages + page - 6;

	(void)state;
	memcpy(last, "hello", 6);
	assert_int_equal(memory_read_string(m, (uintptr_t)last, into, 64), 0);
	assert_string_equal(into, "hello");
	assert_int_equal(memory_read_string(m, (uintptr_t)last, into, 5),
			 -ERR_LIMIT);
	assert_int_equal(memory_read_string(m, (uintptr_t)last, into, 6), 0);
	last[5] = 'x';
	assert_int_equal(memory_read_string(m, (uintptr_t)last, into, 64),
			 -ERR_UNREADABLE);
	munmap(pages, page);
	memory_free(m);
}

static void test_vector_ends_at_what_is_unreadable(void **state)
{
	struct memory *m = open_own();
	uint64_t word = 7, into[3] = { 0 };
	struct memory_piece pieces[] = { { (uintptr_t)&word, &into[0], 8 },
					 { 1, &into[1], 8 },
					 { (uintptr_t)&word, &into[2], 8 } };

	(void)state;
	assert_int_equal(memory_readv(m, pieces, 3), 8);
	assert_int_equal(into[0], 7);
	assert_int_equal(memory_readv(m, pieces + 1, 1), -ERR_UNREADABLE);
	assert_int_equal(memory_readv(m, pieces, 0), 0);
	memory_free(m);
}

/* The end is noticed before and after somebody has waited for the process. */
static void test_process_that_ends(void **state)
{
	uint64_t word = 9, read = 0;
	struct memory *m = NULL;
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(memory_open_process(&m, pid, NULL), 0);
	assert_int_equal(memory_read_u64(m, (uintptr_t)&word, &read), 0);
	assert_int_equal(read, 9);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(memory_read_u64(m, (uintptr_t)&word, &read),
			 -ERR_GONE);
	waitpid(pid, NULL, 0);
	assert_int_equal(memory_read_u64(m, (uintptr_t)&word, &read),
			 -ERR_GONE);
	memory_free(m);
}

static void test_no_process_id(void **state)
{
	struct error err = ERROR_INIT;
	struct memory *m = NULL;

	(void)state;
	assert_int_equal(memory_open_process(&m, 0, &err), -ERR_NO_PROCESS);
	assert_int_equal(memory_open_process(&m, -1, &err), -ERR_NO_PROCESS);
	memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_short_read_is_none),
		cmocka_unit_test(test_string_at_the_end_of_a_mapping),
		cmocka_unit_test(test_vector_ends_at_what_is_unreadable),
		cmocka_unit_test(test_process_that_ends),
		cmocka_unit_test(test_no_process_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
