/* Samples of a made-up target that changes while it is read. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/fake_thread.h"
#include "python/layouts/layouts.h"
#include "sample/sampler.h"

#define MILLISECOND 1000000
#define CODE(i)	    (UINT64_C(0x7000) + 0x100 * (uint64_t)(i))

/* An interpreter with one thread, which runs main() and below it something. */
struct scene {
	struct fake_memory *memory;
	struct fake_thread thread;
	struct target *target;
	struct sampler sampler;
	uint64_t interpreter, main, leaf;
	uint64_t now;
	uint64_t calls; /* that the restless thread has made */
};

static void begin(struct scene *s, const struct layout *l)
{
	struct python python;
	uint64_t head;

	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	head = fake_memory_map(s->memory, 64);
	s->interpreter = fake_memory_map(s->memory, 1 << 18);
	fake_memory_put_word(s->memory, head, s->interpreter);
	s->thread = fake_thread_new(s->memory, l);
	fake_memory_put_word(s->memory,
			     s->interpreter + l->interpreter.threads_head,
			     s->thread.tstate);
	fake_memory_put_word(s->memory,
			     s->thread.tstate + l->thread.interpreter,
			     s->interpreter);
	s->main = fake_frame(&s->thread, 0, CODE(0));
	s->leaf = fake_frame(&s->thread, s->main, CODE(1));
	fake_thread_run(&s->thread, s->leaf);
	python = fake_python_over(s->memory, l);
	python.interpreters = head;
	target_new_over(&s->target, python.memory, &python);
	sampler_init(&s->sampler, RIDE_NEVER, MILLISECOND);
}

static void end(struct scene *s)
{
	target_free(s->target);
	fake_memory_free(s->memory);
}

static int take(struct scene *s)
{
	s->now += MILLISECOND;
	return sampler_take(&s->sampler, s->target, s->now);
}

static void test_quiet_thread_is_proven(void **state)
{
	struct target_thread *t;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	for (int i = 0; i < 5; i++)
		assert_int_equal(take(&s), 0);
	t = s.target->threads[0];
	assert_true(t->good);
	assert_int_equal(t->state & (STATE_TORN | STATE_UNPROVEN), 0);
	assert_int_equal(t->stack.n_frames, 2);
	assert_int_equal(s.sampler.counts.samples, 5);
	assert_int_equal(s.sampler.counts.torn, 0);
	assert_int_equal(s.sampler.counts.lost, 0);
	end(&s);
}

/* Yet another function is called before each piece of a read. */
static void call_another(void *context, uint64_t address)
{
	struct scene *s = context;

	(void)address;
	fake_frame_code(&s->thread, s->leaf, CODE(1 + ++s->calls));
}

static void test_restless_thread_keeps_its_root(void **state)
{
	static const struct layout *const layouts[] = { &layout_3_15,
							&layout_3_12,
							&layout_3_8 };

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		struct target_thread *t;
		struct scene s;

		begin(&s, layouts[i]);
		take(&s);
		fake_memory_hook(s.memory, call_another, &s);
		assert_int_equal(take(&s), 0);
		t = s.target->threads[0];
		assert_int_equal(t->state & (STATE_TORN | STATE_UNPROVEN),
				 STATE_TORN | STATE_UNPROVEN);
		assert_int_equal(t->stack.n_frames, 1);
		assert_int_equal(t->stack.frames[0].code, CODE(0));
		assert_int_equal(s.sampler.counts.torn, 1);
		assert_true(t->moving > 0);
		fake_memory_hook(s.memory, NULL, NULL);
		take(&s);
		assert_int_equal(t->state & (STATE_TORN | STATE_UNPROVEN), 0);
		assert_int_equal(t->stack.n_frames, 2);
		end(&s);
	}
}

/* Whatever cannot be looked at is lost, not what it was before. */
static void test_lost_threads_are_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	take(&s);
	fake_memory_unmap(s.memory, s.thread.tstate);
	assert_int_equal(take(&s), 0);
	assert_false(s.target->threads[0]->good);
	assert_int_equal(s.sampler.counts.samples, 1);
	assert_int_equal(s.sampler.counts.lost, 1);
	end(&s);
	begin(&s, &layout_3_15);
	take(&s);
	for (uint64_t at = 0x10000000; at < 0x100000000; at += 0x10000000)
		fake_memory_unmap(s.memory, at);
	assert_int_equal(take(&s), -ERR_UNREADABLE);
	assert_int_equal(s.sampler.counts.samples, 1);
	assert_int_equal(s.sampler.counts.lost, 1);
	end(&s);
}

static void wake(int number)
{
	(void)number;
}

/* A process that sleeps, but for signals. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, wake);
	for (;;)
		pause();
}

static void count_read(void *context, uint64_t address)
{
	(void)address;
	++*(int *)context;
}

/* The number of pieces read for a sample, at least: a process may still be
 * busy with falling asleep. */
static int reads_of_sample(struct scene *s, int *reads)
{
	int least = 1 << 30;

	for (int i = 0; i < 100 && least; i++) {
		usleep(1000);
		*reads = 0;
		assert_int_equal(take(s), 0);
		if (*reads < least)
			least = *reads;
	}
	return least;
}

static void test_process_at_rest_is_not_read(void **state)
{
	struct scene s;
	int reads = 0;

	(void)state;
	begin(&s, &layout_3_15);
	s.target->pid = start_sleeper();
	fake_memory_hook(s.memory, count_read, &reads);
	take(&s);
	assert_true(reads > 0);
	assert_int_equal(reads_of_sample(&s, &reads), 0);
	assert_int_equal(take(&s), 0);
	assert_int_equal(s.sampler.counts.samples, s.now / MILLISECOND);
	reads = 0;
	for (int i = 0; i < 5000 && !reads; i++) {
		kill(s.target->pid, SIGUSR1);
		usleep(1000);
		assert_int_equal(take(&s), 0);
	}
	assert_true(reads > 0);
	kill(s.target->pid, SIGKILL);
	waitpid(s.target->pid, NULL, 0);
	end(&s);
}

static void test_stack_that_stays_is_read_once(void **state)
{
	struct scene s;
	int first = 0, later = 0;

	(void)state;
	begin(&s, &layout_3_15);
	take(&s);
	s.target->threads[0]->calm = -1;
	s.target->threads[0]->os_state = 'R';
	fake_memory_hook(s.memory, count_read, &first);
	take(&s);
	s.target->threads[0]->os_state = 'R';
	fake_memory_hook(s.memory, count_read, &later);
	take(&s);
	assert_true(later < first);
	/* Another function is called: that takes a second look. */
	fake_frame_code(&s.thread, s.leaf, CODE(9));
	take(&s);
	assert_true(s.target->threads[0]->calm < 0);
	assert_int_equal(s.target->threads[0]->stack.frames[0].code, CODE(9));
	assert_int_equal(s.sampler.counts.torn, 0);
	end(&s);
}

/* A look in front of visits is left out for a moment, and only while each
 * thread is met where it was. */
static void test_visits_do_without_looks(void **state)
{
	struct target_thread *t;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	assert_false(target_visits_suffice(s.target, 0));
	take(&s);
	t = s.target->threads[0];
	assert_false(target_visits_suffice(s.target, s.now));
	t->to_visit = true;
	t->os_state = 'R';
	t->state |= STATE_RIDDEN;
	assert_true(target_visits_suffice(s.target, s.now + MILLISECOND));
	assert_false(target_visits_suffice(s.target, s.now + 10 * MILLISECOND));
	t->os_state = 'S';
	assert_false(target_visits_suffice(s.target, s.now));
	t->os_state = 'R';
	t->state &= ~(uint32_t)STATE_RIDDEN;
	assert_false(target_visits_suffice(s.target, s.now));
	t->state |= STATE_RIDDEN;
	t->good = false;
	assert_false(target_visits_suffice(s.target, s.now));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_thread_is_proven),
		cmocka_unit_test(test_restless_thread_keeps_its_root),
		cmocka_unit_test(test_lost_threads_are_counted),
		cmocka_unit_test(test_process_at_rest_is_not_read),
		cmocka_unit_test(test_stack_that_stays_is_read_once),
		cmocka_unit_test(test_visits_do_without_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
