/* Looks at our own threads, and the cores that we run on. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "os/cores.h"
#include "os/thread.h"

#define PATIENCE 5000 /* ms until a thread must be where it should be */

/* A thread that sleeps on a futex, or spins. */
struct other {
	pthread_t thread;
	pthread_mutex_t lock;
	atomic_int tid;
	atomic_bool spin, stop;
};

static void *live(void *context)
{
	struct other *o = context;

	prctl(PR_SET_NAME, "a) R 3 (b");
	o->tid = (int)syscall(SYS_gettid);
	while (o->spin && !o->stop)
		;
	pthread_mutex_lock(&o->lock);
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

static void start(struct other *o, bool spin)
{
	memset(o, 0, sizeof(*o));
	pthread_mutex_init(&o->lock, NULL);
	pthread_mutex_lock(&o->lock);
	o->spin = spin;
	assert_int_equal(pthread_create(&o->thread, NULL, live, o), 0);
	while (!o->tid)
		usleep(100);
}

static void finish(struct other *o)
{
	o->stop = true;
	pthread_mutex_unlock(&o->lock);
	pthread_join(o->thread, NULL);
}

static bool comes_to(struct os_thread *t, char state)
{
	struct os_thread_look look;

	for (int i = 0; i < PATIENCE; i++) {
		assert_int_equal(os_thread_look(t, &look), 0);
		if (look.state == state)
			return true;
		usleep(1000);
	}
	return false;
}

/* Who is joined is still to be seen for a moment. */
static bool goes(struct os_thread *t)
{
	struct os_thread_look look;
	int tries = 10000;

	while (os_thread_look(t, &look) == 0 && tries--)
		usleep(100);
	return tries > 0;
}

static void test_sleeper(void **state)
{
	struct os_thread t = OS_THREAD_INIT;
	struct os_thread_look look;
	struct other o;
	uint64_t sleeps;
	char name[32];

	(void)state;
	start(&o, false);
	assert_int_equal(os_thread_open(&t, getpid(), o.tid), 0);
	assert_true(comes_to(&t, 'S'));
	assert_int_equal(os_thread_look(&t, &look), 0);
	assert_in_range(os_thread_core(&t), 0, CPU_SETSIZE - 1);
	assert_int_equal(os_thread_letter(&t), 'S');
	assert_true(os_thread_turns(&t) > 0);
	assert_true(os_thread_ran(&t) > 0);
	assert_true(os_thread_sleeps(getpid(), o.tid, &sleeps) && sleeps > 0);
	assert_true(look.futex);
	assert_in_range(look.address, (uintptr_t)&o.lock,
			(uintptr_t)(&o.lock + 1));
	os_thread_name(getpid(), o.tid, name);
	assert_string_equal(name, "a) R 3 (b");
	finish(&o);
	assert_true(goes(&t));
	assert_int_equal(os_thread_look(&t, &look), -ERR_GONE);
	assert_int_equal(os_thread_letter(&t), 0);
	assert_int_equal(os_thread_core(&t), -1);
	assert_int_equal(os_thread_turns(&t), 0);
	assert_int_equal(os_thread_ran(&t), 0);
	assert_false(os_thread_sleeps(getpid(), o.tid, &sleeps));
	os_thread_release(&t);
	assert_int_equal(t.stat_fd, -1);
}

/* Who may not trace a thread may not read what it sleeps in. */
static void test_without_syscalls(void **state)
{
	struct os_thread t = OS_THREAD_INIT;
	struct other o;

	(void)state;
	start(&o, true);
	assert_int_equal(os_thread_open(&t, getpid(), o.tid), 0);
	close(t.syscall_fd);
	t.syscall_fd = -1;
	assert_true(comes_to(&t, 'R'));
	o.spin = false;
	assert_true(comes_to(&t, 'S'));
	finish(&o);
	os_thread_release(&t);
}

static void test_spinner(void **state)
{
	struct os_thread t = OS_THREAD_INIT;
	struct other o;
	struct os_thread_look look;
	uint64_t before, after = 0;

	(void)state;
	start(&o, true);
	assert_int_equal(os_thread_open(&t, getpid(), o.tid), 0);
	assert_true(comes_to(&t, 'R'));
	assert_int_equal(os_thread_look(&t, &look), 0);
	assert_false(look.futex);
	before = os_thread_mark(&t);
	for (int i = 0; i < PATIENCE && t.sched_fd >= 0; i++) {
		usleep(1000);
		after = os_thread_mark(&t);
		if (after > before)
			break;
	}
	assert_true(t.sched_fd < 0 || after > before);
	finish(&o);
	os_thread_release(&t);
}

static void test_nobody(void **state)
{
	struct os_thread t = OS_THREAD_INIT;
	struct os_thread_look look;
	char name[32] = "x";

	(void)state;
	assert_int_equal(os_thread_open(&t, getpid(), 1 << 30), -ERR_GONE);
	assert_int_equal(os_thread_look(&t, &look), -ERR_GONE);
	assert_int_equal(os_thread_mark(&t), 0);
	os_thread_name(getpid(), 1 << 30, name);
	assert_string_equal(name, "");
	os_thread_release(&t);
}

static void test_pinned_where_asked(void **state)
{
	struct sched_cores before, now;
	int tried = 0;

	(void)state;
	sched_permitted(&before);
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET((size_t)core, &before.set)) {
			assert_true(sched_pin(core));
			assert_int_equal(sched_core(), core);
			tried++;
		}
	sched_unpin(&before);
	sched_permitted(&now);
	assert_true(tried > 0);
	assert_true(CPU_EQUAL(&before.set, &now.set));
	assert_false(sched_pin(-1));
	assert_false(sched_pin(CPU_SETSIZE));
}

static void test_switches_count_sleeps(void **state)
{
	uint64_t before = sched_switches();

	(void)state;
	usleep(1000);
	assert_true(sched_switches() > before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_without_syscalls),
		cmocka_unit_test(test_spinner),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_pinned_where_asked),
		cmocka_unit_test(test_switches_count_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
