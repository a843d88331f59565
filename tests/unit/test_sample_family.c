/* The processes that are watched, with real children. */
#include "unit.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/model.h"
#include "os/process.h"
#include "sample/family.h"

#define SECOND 1000000000u

/* A process that waits until it is told to go on, by a byte. */
struct child {
	pid_t pid;
	int tell;
};

static void wait_and_exec(int from)
{
	char byte;

	if (read(from, &byte, 1) == 1)
		execlp("sleep", "sleep", "30", NULL);
	_exit(0);
}

static struct child start(void)
{
	struct child c;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		close(ends[1]);
		wait_and_exec(ends[0]);
	}
	close(ends[0]);
	c.tell = ends[1];
	return c;
}

static void finish(struct child *c)
{
	close(c->tell);
	kill(c->pid, SIGKILL);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static void test_children_are_found_and_dropped(void **state)
{
	struct family f = { 0 };
	struct child a = start(), b = start();

	(void)state;
	family_add(&f, getpid(), ID_NONE)->record = 7;
	family_grow(&f, false);
	assert_int_equal(f.count, 3);
	assert_int_equal(family_find(&f, a.pid)->parent, 7);
	family_grow(&f, false);
	assert_int_equal(f.count, 3);
	finish(&a);
	family_grow(&f, false);
	assert_null(family_find(&f, a.pid));
	assert_non_null(family_find(&f, b.pid));
	finish(&b);
	family_release(&f);
}

/* One that has ended and was not waited for is dead all the same. */
static void test_zombie_is_dropped(void **state)
{
	struct family f = { 0 };
	struct child c = start();
	siginfo_t info;

	(void)state;
	family_add(&f, c.pid, ID_NONE);
	close(c.tell);
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT),
			 0);
	family_grow(&f, true);
	assert_int_equal(f.count, 0);
	waitpid(c.pid, NULL, 0);
	family_release(&f);
}

static void test_children_of_pythons_are_left_alone(void **state)
{
	struct family f = { 0 };
	struct child c = start();

	(void)state;
	family_add(&f, getpid(), ID_NONE)->is_python = true;
	family_grow(&f, false);
	assert_int_equal(f.count, 1);
	family_grow(&f, true);
	assert_int_equal(f.count, 2);
	family_forget(&f, getpid());
	assert_int_equal(f.count, 1);
	assert_int_equal(f.members[0].pid, c.pid);
	family_forget(&f, getpid());
	assert_int_equal(f.count, 1);
	finish(&c);
	family_release(&f);
}

/* Another process with the same pid is not the one we know. */
static void test_taken_pid_is_another_process(void **state)
{
	struct family f = { 0 };

	(void)state;
	family_add(&f, getpid(), ID_NONE)->start_time--;
	family_grow(&f, true);
	assert_int_equal(f.count, 0);
	family_release(&f);
}

static void test_exec_is_noticed(void **state)
{
	struct family f = { 0 };
	struct child c = start();
	struct relative *x = family_add(&f, c.pid, ID_NONE);
	bool changed = false;

	(void)state;
	assert_false(family_changed(x, process_image(x->pid)));
	assert_int_equal(write(c.tell, "", 1), 1);
	for (int i = 0; i < 10000 && !changed; i++) {
		usleep(1000);
		changed = family_changed(x, process_image(x->pid));
	}
	assert_true(changed);
	assert_false(family_changed(x, process_image(x->pid)));
	finish(&c);
	family_release(&f);
}

/* Tried at once, then ever more rarely, but never given up. */
static void test_tries_become_rarer(void **state)
{
	struct family f = { 0 };
	struct child c = start();
	struct relative *x = family_add(&f, c.pid, ID_NONE);
	uint64_t now = SECOND;
	int early = 0, late = 0;

	(void)state;
	assert_true(family_due(x, now));
	assert_false(family_due(x, now));
	for (; now < 2u * SECOND; now += 1000000)
		early += family_due(x, now);
	for (now = 100ull * SECOND; now < 110ull * SECOND; now += 1000000)
		late += family_due(x, now);
	assert_true(early >= 1);
	assert_true(late >= 5 && late <= 50);
	finish(&c);
	family_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children_are_found_and_dropped),
		cmocka_unit_test(test_zombie_is_dropped),
		cmocka_unit_test(test_children_of_pythons_are_left_alone),
		cmocka_unit_test(test_taken_pid_is_another_process),
		cmocka_unit_test(test_exec_is_noticed),
		cmocka_unit_test(test_tries_become_rarer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
