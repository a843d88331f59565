#include "analyze_support.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "format/format.h"

static void check_path(const char *format, const char *from, const char *to)
{
	char *path = format_default_path(format_find(format, NULL), from);

	assert_string_equal(path, to);
	free(path);
}

static void test_default_names(void **state)
{
	(void)state;
	check_path("speedscope", "app.pyro", "app.speedscope.json");
	check_path("callgrind", "/tmp/app.pyro", "/tmp/callgrind.out.app");
	check_path("pstats", "a.b/recording", "a.b/recording.pstats");
	check_path("flamegraph", ".pyro", ".pyro.svg");
	check_path("pprof", "-", "profile.pb.gz");
}

static void test_every_format_is_found_and_guessed(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_formats; i++) {
		char *path = format_default_path(formats[i], "x/app.pyro");

		assert_ptr_equal(format_find(formats[i]->name, NULL),
				 formats[i]);
		assert_ptr_equal(format_guess(path), formats[i]);
		free(path);
	}
	assert_null(format_guess("app.json"));
	assert_null(format_guess("folder.svg/app"));
}

static void test_an_unknown_format_lists_them_all(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_null(format_find("jpeg", &err));
	assert_int_equal(err.code, ERR_USAGE);
	for (size_t i = 0; i < n_formats; i++)
		assert_non_null(strstr(err.text, formats[i]->name));
}

static int refuse(struct profile *p, const struct format_options *options,
		  struct sink *sink, struct error *err)
{
	(void)p;
	(void)options;
	buffer_add_string(&sink->out, "half");
	return fail(err, ERR_LIMIT, "no");
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0640);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_a_failed_encoder_leaves_the_old_file(void **state)
{
	static const struct format_ops bad = { "bad", "", ".bad", "", refuse };
	char folder[] = "/tmp/test_format_XXXXXX", path[64], text[16] = "";
	struct error err = ERROR_INIT;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/old", folder);
	write_file(path, "precious");
	assert_int_equal(format_export(NULL, &bad, path, &err), -ERR_LIMIT);
	assert_string_equal(err.text, "no");
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	assert_string_equal(text, "precious");
	close(fd);
	unlink(path);
	assert_int_equal(rmdir(folder), 0); /* nothing else is left in it */
}

static void test_an_empty_recording_can_be_written(void **state)
{
	struct fake f = fake_begin();
	struct profile *p = fake_profile(&f, NULL);

	(void)state;
	for (size_t i = 0; i < n_formats; i++)
		assert_int_equal(format_export(p, formats[i], "/dev/null",
					       NULL),
				 0);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_names),
		cmocka_unit_test(test_every_format_is_found_and_guessed),
		cmocka_unit_test(test_an_unknown_format_lists_them_all),
		cmocka_unit_test(test_a_failed_encoder_leaves_the_old_file),
		cmocka_unit_test(test_an_empty_recording_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
