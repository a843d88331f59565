#include "analyze/threads.h"
#include "analyze_support.h"

#define WAIT "@/usr/lib/python3.12/threading.py"

struct made {
	struct arena arena;
	struct threads threads;
	struct thread_groups groups;
};

static void make(struct made *m, struct fake *f, bool apart)
{
	struct tally tally;

	*m = (struct made){ 0 };
	fake_profile(f, NULL);
	assert_int_equal(tally_count(&tally, f->profile, &m->arena, NULL), 0);
	threads_count(&m->threads, f->profile, &tally, &m->arena);
	threads_group(&m->groups, &m->threads, f->profile, apart, &m->arena);
}

/* A main thread that works, `workers` that wait and `busy` that work half of
 * the time. */
static void record_pool(struct fake *f, uint32_t workers, uint32_t busy)
{
	uint32_t work = fake_stack(f, "main;work");
	uint32_t wait = fake_stack(f, "run" WAIT ";wait" WAIT);
	char name[32];

	fake_thread(f, 0, 100, "MainThread");
	for (uint32_t i = 0; i < workers + busy; i++) {
		snprintf(name, sizeof(name), "pool-%u_worker", i);
		fake_thread(f, 0, 200 + i, name);
	}
	for (int i = 0; i < 400; i++) {
		fake_tick(f);
		fake_see(f, 0, work, FAKE_CPU);
		for (uint32_t k = 0; k < workers + busy; k++) {
			bool works = k < busy && i % 2;

			fake_see(f, k + 1, works ? work : wait,
				 works ? FAKE_CPU : 0);
		}
	}
}

static void test_waiting_threads_are_idle(void **state)
{
	struct fake f = fake_begin();
	struct made m;

	record_pool(&f, 3, 1);
	make(&m, &f, false);
	assert_int_equal(m.threads.n_rows, 5);
	assert_int_equal(m.threads.rows[0].thread, 0);
	assert_int_equal(m.threads.rows[1].thread, 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(m.threads.rows[i].idle, i >= 2);
	assert_int_equal(m.threads.rows[4].top, fake_function(&f, "wait"));
	assert_int_equal(m.threads.rows[4].top_samples, 400);
	arena_release(&m.arena);
	fake_end(&f);
}

static void test_when_all_wait_none_is_idle(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	uint32_t node = fake_stack(&f, "main;sleep");
	struct made m;

	for (int i = 0; i < 100; i++) {
		fake_tick(&f);
		fake_see(&f, t, node, 0);
	}
	make(&m, &f, false);
	assert_false(m.threads.rows[0].idle);
	arena_release(&m.arena);
	fake_end(&f);
}

/* Off the CPU all the time, but in changing places: that is I/O, not idleness.
 */
static void test_io_is_not_idle(void **state)
{
	struct fake f = fake_begin();
	uint32_t a = fake_thread(&f, 0, 100, "MainThread");
	uint32_t b = fake_thread(&f, 0, 101, "io");
	uint32_t work = fake_stack(&f, "main");
	uint32_t in = fake_stack(&f, "io;read"),
		 out = fake_stack(&f, "io;write");
	struct made m;

	for (int i = 0; i < 100; i++) {
		fake_tick(&f);
		fake_see(&f, a, work, FAKE_CPU);
		fake_see(&f, b, i % 2 ? in : out, 0);
	}
	make(&m, &f, false);
	assert_false(m.threads.rows[1].idle);
	arena_release(&m.arena);
	fake_end(&f);
}

static void test_pools_become_groups(void **state)
{
	struct fake f = fake_begin();
	struct made m;

	record_pool(&f, 5, 6);
	make(&m, &f, false);
	assert_int_equal(m.groups.n_groups, 3);
	/* Six that work half of the time have more than one that always does.
	 */
	assert_string_equal(m.groups.groups[0].name, "pool-*_worker");
	assert_int_equal(m.groups.groups[0].n_threads, 6);
	assert_int_equal(m.groups.groups[0].counts.on_cpu, 6 * 200);
	assert_string_equal(m.groups.groups[1].name, "MainThread");
	assert_true(m.groups.groups[2].idle);
	assert_int_equal(m.groups.groups[2].n_threads, 5);
	arena_release(&m.arena);
	make(&m, &f, true);
	assert_int_equal(m.groups.n_groups, 12);
	arena_release(&m.arena);
	fake_end(&f);
}

static void test_few_threads_stay_apart(void **state)
{
	struct fake f = fake_begin();
	struct made m;

	record_pool(&f, 0, THREADS_POOL - 1);
	make(&m, &f, false);
	assert_int_equal(m.groups.n_groups, THREADS_POOL);
	assert_string_equal(m.groups.groups[1].name, "pool-0_worker");
	arena_release(&m.arena);
	fake_end(&f);
}

/* Waiting in C is waiting in the Python code that called it; what never ran
 * Python is where it is. */
static void test_places_are_not_in_libraries(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t main = fake_thread(&f, 0, 100, "MainThread");
	uint32_t pool = fake_thread(&f, 0, 101, "pool");
	struct threads t;
	struct tally tally;

	fake_run(&f, main,
		 fake_stack(&f, "main;wait;sem_wait+16@/usr/lib/libc.so.6;"
				"futex+32@/usr/lib/libc.so.6"),
		 10);
	fake_run(&f, pool,
		 fake_stack(&f, "clone+48@/usr/lib/libc.so.6;"
				"dgemm+64@/usr/lib/libblas.so"),
		 9);
	fake_profile(&f, NULL);
	assert_int_equal(tally_count(&tally, f.profile, &arena, NULL), 0);
	threads_count(&t, f.profile, &tally, &arena);
	assert_int_equal(t.rows[0].top, fake_function(&f, "wait"));
	assert_int_equal(t.rows[0].top_samples, 10);
	assert_int_equal(t.rows[1].top, fake_function(&f, "dgemm"));
	arena_release(&arena);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting_threads_are_idle),
		cmocka_unit_test(test_when_all_wait_none_is_idle),
		cmocka_unit_test(test_io_is_not_idle),
		cmocka_unit_test(test_pools_become_groups),
		cmocka_unit_test(test_few_threads_stay_apart),
		cmocka_unit_test(test_places_are_not_in_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
