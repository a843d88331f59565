/* A root of our own, with a secret outside of it. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/rooted.h"

struct place {
	char folder[64];
	int root;
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A folder "outside" with a file, and in it the root "inside". */
static int set_up(void **state)
{
	static struct place p;

	strcpy(p.folder, "/tmp/pyrometer-rooted-XXXXXX");
	assert_non_null(mkdtemp(p.folder));
	assert_int_equal(chdir(p.folder), 0);
	write_file("secret", "secret");
	assert_int_equal(mkdir("inside", 0755), 0);
	assert_int_equal(mkdir("inside/lib", 0755), 0);
	write_file("inside/lib/file", "file");
	write_file("inside/secret", "decoy");
	assert_int_equal(symlink("/lib/file", "inside/absolute"), 0);
	assert_int_equal(symlink("lib/../lib/./file", "inside/relative"), 0);
	assert_int_equal(symlink("../../../secret", "inside/up"), 0);
	assert_int_equal(symlink("loop", "inside/loop"), 0);
	assert_int_equal(symlink("/lib", "inside/folder"), 0);
	assert_int_equal(mkfifo("inside/fifo", 0600), 0);
	p.root = rooted_begin("inside");
	assert_true(p.root >= 0);
	*state = &p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	char command[128];

	close(p->root);
	snprintf(command, sizeof(command), "rm -rf %s", p->folder);
	return chdir("/") || system(command);
}

/* The content of the file at a path below the root; "" when it is not opened.
 */
static const char *content(struct place *p, const char *path)
{
	static char text[64];
	int fd = rooted_open(p->root, path);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void test_files_inside(void **state)
{
	struct place *p = *state;

	assert_string_equal(content(p, "/lib/file"), "file");
	assert_string_equal(content(p, "lib/file"), "file");
	assert_string_equal(content(p, "/absolute"), "file");
	assert_string_equal(content(p, "/relative"), "file");
	assert_string_equal(content(p, "/folder/file"), "file");
	assert_string_equal(content(p, "/no/such"), "");
}

/* Whatever leads outwards ends at the root. */
static void test_nothing_outside(void **state)
{
	struct place *p = *state;

	assert_string_equal(content(p, "/up"), "decoy");
	assert_string_equal(content(p, "/../secret"), "decoy");
	assert_string_equal(content(p, "../../secret"), "decoy");
	assert_string_equal(content(p, "/loop"), "");
}

/* A FIFO would block, a device would do who knows what. */
static void test_only_regular_files(void **state)
{
	int host = rooted_begin(NULL);

	assert_string_equal(content(*state, "/fifo"), "");
	assert_string_equal(content(*state, "/lib"), "");
	assert_true(host >= 0);
	assert_int_equal(rooted_open(host, "/dev/null"), -1);
	assert_int_equal(rooted_open(host, "/dev/zero"), -1);
	close(host);
}

static void check_resolved(struct place *p, const char *path, const char *plain)
{
	char out[PATH_MAX];

	assert_true(rooted_resolve(p->root, path, out));
	assert_string_equal(out, plain);
}

/* What old kernels leave to us says the same. */
static void test_resolved_by_hand(void **state)
{
	struct place *p = *state;
	char out[PATH_MAX], path[PATH_MAX + 8];

	check_resolved(p, "/lib/file", "lib/file");
	check_resolved(p, "absolute", "lib/file");
	check_resolved(p, "//relative", "lib/file");
	check_resolved(p, "/folder/./file", "lib/file");
	check_resolved(p, "/up", "secret");
	check_resolved(p, "/lib/../../../secret", "secret");
	check_resolved(p, "folder/../up", "secret");
	assert_false(rooted_resolve(p->root, "/loop", out));
	assert_false(rooted_resolve(p->root, "/no/such", out));
	assert_false(rooted_resolve(p->root, "/", out));
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_false(rooted_resolve(p->root, path, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_inside),
		cmocka_unit_test(test_nothing_outside),
		cmocka_unit_test(test_only_regular_files),
		cmocka_unit_test(test_resolved_by_hand),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
