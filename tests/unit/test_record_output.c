/* Where recordings go and come from: files, pipes, full disks. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test_record_support.h"

#define TICKS 60000 /* a file larger than what is read at once */

/* Ticks whose stacks repeat in no way that compresses. */
static int write_ticks(struct writer *w, struct error *err)
{
	uint64_t random = 7;
	uint32_t node[64];
	int rc = 0;

	define_process_and_thread(w);
	for (uint32_t i = 0; i < 64; i++)
		node[i] = define_stack(w, ID_NONE, "f", i);
	for (uint32_t i = 0; i < TICKS && !rc; i++) {
		writer_tick(w,
			    START + i * PERIOD + random_below(&random, 100000));
		writer_sample(w, 0, node[random_below(&random, 64)], 0);
		if (i % 1000 == 999)
			rc = writer_flush(w, err);
	}
	return rc ? rc : writer_finish(w, err);
}

static void test_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct writer *w = new_writer(fd);
	struct error err = ERROR_INIT;

	assert_true(writer_failed(w));
	assert_int_equal(write_ticks(w, &err), -ERR_IO);
	assert_non_null(strstr(err.text, "disk is full"));
	assert_int_equal(writer_flush(w, NULL), -ERR_IO);
	assert_int_equal(writer_bytes(w), 0);
	writer_free(w);
	close(fd);
}

/* In a child, because limits and signals cannot be given back. */
static void fill_up(int fd)
{
	struct rlimit limit = { 9000, 9000 };
	struct error err = ERROR_INIT;
	struct writer *w;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	w = new_writer(fd);
	_exit(write_ticks(w, &err) == -ERR_IO && strstr(err.text, "limit") ? 0
									   : 1);
}

static void test_a_disk_that_fills_up_leaves_a_good_beginning(void **state)
{
	char path[] = "/tmp/pyrometer-test-XXXXXX";
	int fd = mkstemp(path), status = 0;
	struct reader *r = NULL;
	pid_t pid = fork();
	uint64_t samples;

	if (!pid)
		fill_up(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(reader_open(&r, path, NULL), 0);
	assert_non_null(strstr(reader_notice(r), "breaks off"));
	samples = check_sound(r);
	assert_true(samples >= 1000 && samples < TICKS);
	reader_free(r);
	unlink(path);
	close(fd);
}

static void test_closed_pipe(void **state)
{
	struct error err = ERROR_INIT;
	struct writer *w;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	w = new_writer(fd[1]);
	assert_false(writer_failed(w));
	close(fd[0]);
	assert_int_equal(write_ticks(w, &err), -ERR_IO);
	assert_non_null(strstr(err.text, "pipe"));
	assert_true(writer_failed(w));
	writer_free(w);
	close(fd[1]);
}

/* A pipe that is small, full and does not block; read as standard input. */
static void test_through_a_pipe(void **state)
{
	struct reader *r = NULL;
	int fd[2], status = 0, in = dup(STDIN_FILENO);
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fcntl(fd[1], F_SETPIPE_SZ, 4096);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		_exit(write_ticks(new_writer(fd[1]), NULL) ? 1 : 0);
	}
	close(fd[1]);
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	assert_int_equal(reader_open(&r, "-", NULL), 0);
	dup2(in, STDIN_FILENO);
	close(in);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_null(reader_notice(r));
	assert_int_equal(check_sound(r), TICKS);
	reader_free(r);
}

static void check_open_fails(const char *path, int code, const char *words)
{
	struct error err = ERROR_INIT;
	struct reader *r = NULL;

	assert_int_equal(reader_open(&r, path, &err), -code);
	assert_non_null(strstr(err.text, words));
	assert_non_null(strstr(err.text, path));
}

static void test_files_that_cannot_be_opened(void **state)
{
	check_open_fails("/nonexistent.pyro", ERR_NOT_FOUND, "No such file");
	check_open_fails("/tmp", ERR_IO, "is a directory");
	check_open_fails("/dev/null", ERR_CORRUPT, "not a Pyrometer recording");
}

/* A file that shrinks while it is read is damaged, and nothing worse. */
static void test_a_file_that_shrinks(void **state)
{
	char path[] = "/tmp/pyrometer-test-XXXXXX";
	int fd = mkstemp(path);
	struct writer *w = new_writer(fd);
	struct reader *r = NULL;

	assert_int_equal(write_ticks(w, NULL), 0);
	writer_free(w);
	assert_int_equal(reader_open(&r, path, NULL), 0);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_true(check_sound(r) < TICKS);
	assert_non_null(reader_notice(r));
	reader_free(r);
	unlink(path);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(
			test_a_disk_that_fills_up_leaves_a_good_beginning),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_through_a_pipe),
		cmocka_unit_test(test_files_that_cannot_be_opened),
		cmocka_unit_test(test_a_file_that_shrinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
