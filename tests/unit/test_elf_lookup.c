/* The process that reads debug information may crash, hang or be fed with
 * anything: whoever asked gets the name out of the symbol table, and the next
 * question is answered again. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "elf_support.h"

#define SHORT (NS_PER_SECOND / 4)

static const struct expected name_only = { "outermost", "", 0, 0, false };

/* Our only child; 0: none. */
static pid_t child(void)
{
	FILE *file = fopen("/proc/thread-self/children", "r");
	int pid = 0, another;

	if (!file)
		skip();
	if (fscanf(file, "%d %d", &pid, &another) == 2)
		assert_true(false); /* one at a time */
	fclose(file);
	return pid;
}

static int count_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_crash(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");

	(void)state;
	check(s, address, chain, 3);
	assert_int_equal(kill(child(), SIGSEGV), 0);
	check(s, address, &name_only, 1);
	check(s, address, chain, 3);
	symbols_free(s);
	workshop_end(&w);
}

static void test_hang(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");

	(void)state;
	check(s, address, chain, 3);
	assert_int_equal(kill(child(), SIGSTOP), 0);
	symbols_limit(s, SHORT, NULL);
	check(s, address, &name_only, 1);
	symbols_limit(s, 0, NULL);
	check(s, address, chain, 3);
	symbols_free(s);
	workshop_end(&w);
}

/* One that dies again and again is not started for ever. */
static void test_gives_up(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");
	int starts = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct symbol found[8];

		assert_true(symbols_find(s, address, found, 8) > 0);
		assert_string_equal(found[0].name,
				    child() ? "innermost" : "outermost");
		if (child()) {
			starts++;
			kill(child(), SIGKILL);
		}
	}
	assert_in_range(starts, 2, 8);
	symbols_free(s);
	workshop_end(&w);
}

static void test_told_to_stop(void **state)
{
	volatile sig_atomic_t stop = 0;
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");

	(void)state;
	symbols_limit(s, 0, &stop);
	check(s, address, chain, 3);
	assert_int_equal(kill(child(), SIGSTOP), 0);
	stop = 1;
	check(s, address, &name_only, 1);
	symbols_free(s);
	workshop_end(&w);
}

/* A terminal sends its signals to all of its processes. */
static void test_signals_are_for_us(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");
	pid_t pid;

	(void)state;
	check(s, address, chain, 3);
	pid = child();
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	check(s, address, chain, 3);
	assert_int_equal(child(), pid);
	symbols_free(s);
	workshop_end(&w);
}

static void test_nothing_is_left(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	int before = count_files();
	struct symbols *s = open_in(&w, "program");

	(void)state;
	check(s, address, chain, 3);
	assert_true(child() > 0);
	symbols_free(s);
	assert_int_equal(child(), 0);
	assert_int_equal(count_files(), before);
	workshop_end(&w);
}

/* The child holds nothing of ours open: who reads from a pipe of ours must see
 * its end when we close it. */
static void test_child_keeps_no_pipe_open(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	check(s, address, chain, 3);
	close(ends[1]);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	symbols_free(s);
	workshop_end(&w);
}

/* Who maps a file that shrinks gets SIGBUS. */
static void test_file_shrinks(void **state)
{
	uint64_t address;
	struct workshop w = build("-g", &address);
	struct symbols *s = open_in(&w, "program");
	char *path = workshop_path(&w, "program");
	struct symbol found[8];

	(void)state;
	check(s, address, chain, 3);
	assert_int_equal(truncate(path, 4096), 0);
	kill(child(), SIGKILL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(symbols_find(s, address, found, 8), 1);
	assert_string_equal(found[0].name, "outermost");
	symbols_free(s);
	free(path);
	workshop_end(&w);
}

/* A short name that stands for gigabytes of text. */
static void test_name_that_grows(void **state)
{
	char name[1024] = "_Z1fI1AIiiE", source[2048];
	struct workshop w = workshop_begin();
	struct symbol found[2];
	struct symbols *s;

	(void)state;
	for (int i = 1; i < 31; i++) {
		static const char digits[] =
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		size_t n = strlen(name);

		snprintf(name + n, sizeof(name) - n, "S0_IS%c_S%c_E", digits[i],
			 digits[i]);
	}
	strcat(name, "EvT_");
	snprintf(source, sizeof(source),
		 "int work(void) __asm__(\"%s\");\n"
		 "int work(void) { return 7; }\n"
		 "int main(void) { return work(); }\n",
		 name);
	workshop_write(&w, "program.c", source);
	workshop_run(&w, "cc -o program program.c");
	s = open_in(&w, "program");
	symbols_limit(s, SHORT, NULL);
	assert_int_equal(symbols_find(s, workshop_address(&w, "program", name),
				      found, 2),
			 1);
	assert_string_equal(found[0].name, name);
	symbols_free(s);
	workshop_end(&w);
}

/* Files that debug information names are not opened unless they are files: a
 * FIFO would block. */
static void test_split_file_is_a_fifo(void **state)
{
	uint64_t address;
	struct workshop w = build("-g -gsplit-dwarf", &address);
	struct symbols *s = open_in(&w, "program");
	struct symbol found[8];

	(void)state;
	workshop_run(&w, "for f in *.dwo; do rm $f; mkfifo $f; done");
	assert_int_equal(symbols_find(s, address, found, 8), 1);
	assert_int_equal(found[0].line, 5); /* an answer, and in time */
	symbols_free(s);
	workshop_end(&w);
}

static void test_shared_file_is_a_fifo(void **state)
{
	uint64_t address;
	struct workshop w = build("-g -include stdio.h", &address);
	struct symbols *s;
	struct symbol found[8];
	uint32_t n;

	(void)state;
	if (!workshop_has("dwz"))
		skip();
	workshop_run(&w, "cp program second && "
			 "dwz -m shared -M $PWD/fifo program second && "
			 "mkfifo fifo");
	s = open_in(&w, "program");
	n = symbols_find(s, address, found, 8);
	assert_true(n > 0 && found[n - 1].line);
	symbols_free(s);
	workshop_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_told_to_stop),
		cmocka_unit_test(test_signals_are_for_us),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_child_keeps_no_pipe_open),
		cmocka_unit_test(test_file_shrinks),
		cmocka_unit_test(test_name_that_grows),
		cmocka_unit_test(test_split_file_is_a_fifo),
		cmocka_unit_test(test_shared_file_is_a_fifo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
