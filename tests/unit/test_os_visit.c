/* A child runs on a core of its own, with a list in its memory; the kernel
 * reads it there, when it is sent and by the child's own clock. */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/cores.h"
#include "os/visit.h"
#include "os/visit_clock.h"

#define FAST	   200000   /* ns from one visit of a clock to the next */
#define SLOW	   20000000 /* more than from one of the kernel's ticks */
#define TRIES	   1000	    /* until the child is met on its core */
#define NAPS_EVERY 20000    /* rounds of its work */
#define ITEMS	   5
#define FIELD	   UINT64_C(0x1122334455667788)
#define MARK	   UINT64_C(0x4d41524b)

struct item {
	uint64_t value;
	struct item *next;
};

struct between {
	uint64_t nothing[3];
	struct item *first;
};

struct head {
	uint64_t magic;
	struct item *first;
	struct between *between;
};

static struct item items[ITEMS];
static struct between between;
static struct head head = { .magic = 77 };
static uint64_t field = FIELD;
static struct sched_cores permitted;
static int cores[2]; /* ours, and the child's */
static pid_t child;
static bool naps;		     /* the child does, now and then */
static uint64_t marks_at, stack_top; /* on the child's stack */

extern const char __executable_start, etext; /* by the linker */

static const struct visit_shape direct = {
	.head_size = sizeof(struct head),
	.first = offsetof(struct head, first),
	.via = VISIT_DIRECT,
	.item_size = sizeof(struct item),
	.next = offsetof(struct item, next),
};

static int find_cores(void)
{
	int n = 0;

	sched_permitted(&permitted);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &permitted.set))
			cores[n++] = i;
	return n;
}

/* The list is `n` long, and its last item leads to `end`. */
static void start_child(uint32_t n, struct item *end)
{
	atomic_int *runs = mmap(NULL, sizeof(*runs), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile uint64_t work = 0, marks[2] = { MARK, MARK + 1 };

	marks_at = (uintptr_t)marks;
	stack_top = (uintptr_t)&marks[2];
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct item){ 100 + i, &items[i + 1] };
	items[n - 1].next = end;
	head.first = between.first = &items[0];
	head.between = &between;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_pin(cores[1]);
		*runs = 1;
		for (;;) {
			work += marks[0];
			if (naps && !(work / MARK % NAPS_EVERY))
				usleep(300);
		}
	}
	assert_true(child > 0);
	sched_pin(cores[0]);
	while (!*runs)
		usleep(100);
	munmap(runs, sizeof(*runs));
}

static int end_child(void **state)
{
	(void)state;
	sched_unpin(&permitted);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return 0;
}

static struct visitor *new_visitor(const struct visit_shape *shape)
{
	struct visitor *v = NULL;
	struct error err = ERROR_INIT;

	if (find_cores() < 2) {
		print_message("one core only\n");
		skip();
	}
	if (visitor_new(&v, shape, &err) < 0) {
		print_message("%s\n", err.text);
		skip();
	}
	return v;
}

static struct visit visit_to(pid_t tid, int core)
{
	struct visit visit = { .pid = child,
			       .tid = tid,
			       .core = core,
			       .head = (uintptr_t)&head,
			       .fields = { 0, (uintptr_t)&field, 0,
					   (uintptr_t)&field } };

	assert_true(visit_namespace(child, &visit.namespace_device,
				    &visit.namespace_inode));
	return visit;
}

/* Whoever else wants that core may be on it for a while. */
static enum visit_result visit_child(struct visitor *v, struct visit *visit)
{
	enum visit_result result = VISIT_AWAY;

	for (int i = 0; i < TRIES && result == VISIT_AWAY; i++, usleep(1000))
		result = visitor_visit(v, visit);
	return result;
}

static void check_items(const struct visit *visit, uint32_t n)
{
	assert_int_equal(visit->n_items, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t address;
		struct item item;

		memcpy(&item, visit_item(visit, i, &address), sizeof(item));
		assert_int_equal(address, (uintptr_t)&items[i % ITEMS]);
		assert_int_equal(item.value, 100 + i % ITEMS);
	}
}

static void test_list_is_taken(void **state)
{
	struct visitor *v = new_visitor(&direct);
	struct visit visit;
	struct head copy;

	(void)state;
	start_child(ITEMS, NULL);
	visit = visit_to(child, cores[1]);
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	memcpy(&copy, visit.head_copy, sizeof(copy));
	assert_int_equal(copy.magic, 77);
	assert_int_equal(visit.values[1], FIELD);
	assert_int_equal(visit.values[3], FIELD);
	assert_true(visit.whole);
	check_items(&visit, ITEMS);
	visitor_free(v);
}

static void test_list_behind_another_record(void **state)
{
	struct visit_shape shape = direct;
	struct visitor *v;
	struct visit visit;

	(void)state;
	shape.first = offsetof(struct head, between);
	shape.via = offsetof(struct between, first);
	v = new_visitor(&shape);
	start_child(ITEMS, NULL);
	visit = visit_to(child, cores[1]);
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	assert_true(visit.whole);
	check_items(&visit, ITEMS);
	visitor_free(v);
}

static void test_ring_comes_to_an_end(void **state)
{
	struct visitor *v = new_visitor(&direct);
	struct visit visit;

	(void)state;
	start_child(ITEMS, &items[0]);
	visit = visit_to(child, cores[1]);
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	assert_false(visit.whole);
	check_items(&visit, VISIT_ITEMS_MAX);
	visitor_free(v);
}

static void test_good_part_of_a_broken_list(void **state)
{
	struct visitor *v = new_visitor(&direct);
	struct visit visit;

	(void)state;
	start_child(3, (struct item *)UINT64_C(0x10));
	visit = visit_to(child, cores[1]);
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	assert_false(visit.whole);
	check_items(&visit, 3);
	visit.head = 8;
	assert_int_equal(visit_child(v, &visit), VISIT_UNREADABLE);
	visitor_free(v);
}

static void test_nobody_else_is_read(void **state)
{
	struct visitor *v = new_visitor(&direct);
	struct visit visit;

	(void)state;
	start_child(ITEMS, NULL);
	visit = visit_to(child, cores[1]);
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	visit.tid = getpid();
	assert_int_equal(visitor_visit(v, &visit), VISIT_AWAY);
	visit.tid = child;
	visit.pid = getpid();
	assert_int_equal(visitor_visit(v, &visit), VISIT_AWAY);
	visit.pid = child;
	visit.core = cores[0]; /* ours */
	assert_int_equal(visitor_visit(v, &visit), VISIT_AWAY);
	visit.core = CPU_SETSIZE + 1;
	assert_int_equal(visitor_visit(v, &visit), VISIT_AWAY);
	visit.core = cores[1];
	visit.namespace_inode++;
	assert_int_equal(visitor_visit(v, &visit), VISIT_AWAY);
	assert_int_equal(visit.n_items, 0);
	visitor_free(v);
}

static void test_registers_and_stack(void **state)
{
	struct visit_shape shape = direct;
	struct visitor *v;
	struct visit visit;
	uint64_t marks[2];

	(void)state;
	shape.registers = true;
	v = new_visitor(&shape);
	start_child(ITEMS, NULL);
	visit = visit_to(child, cores[1]);
	visit.stack_top = stack_top;
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	check_items(&visit, ITEMS);
	assert_true(visit.registers.pc > (uintptr_t)&__executable_start &&
		    visit.registers.pc < (uintptr_t)&etext);
	assert_int_equal(visit.stack_size,
			 stack_top - visit.registers.sp + STACK_RED_ZONE);
	assert_true(visit.registers.sp <= marks_at);
	memcpy(marks,
	       visit.stack + (marks_at - visit.registers.sp) + STACK_RED_ZONE,
	       sizeof(marks));
	assert_int_equal(marks[0], MARK);
	assert_int_equal(marks[1], MARK + 1);

	/* Without a list; and with more than there is of a stack. */
	visit.head = 0;
	visit.stack_top = UINT64_MAX;
	assert_int_equal(visit_child(v, &visit), VISIT_TAKEN);
	assert_int_equal(visit.n_items, 0);
	assert_true(visit.stack_size == 0 ||
		    visit.stack_size == VISIT_STACK_MAX);
	visitor_free(v);
}

static struct visit_clocks *new_clocks(uint32_t n)
{
	struct visit_shape shape = direct;
	struct visit_clocks *c = NULL;
	uint64_t device, inode;

	shape.registers = true;
	visitor_free(new_visitor(&shape)); /* may be skipped */
	assert_true(visit_namespace(getpid(), &device, &inode));
	assert_int_equal(visit_clocks_new(&c, &shape, device, inode, n, NULL),
			 0);
	return c;
}

static int take_clock(struct visit_clocks *c, pid_t tid)
{
	struct visit asked = { .pid = tid, .tid = tid };

	return visit_clocks_take(c, tid, &asked);
}

/* Let the clock run until it has taken `n` visits at least. On a busy machine
 * we may be woken up so late that there was no room for all of them. */
static void run_clock(struct visit_clocks *c, int clock, uint64_t period, int n)
{
	struct visit asked = visit_to(child, cores[1]);
	int found = 0;

	asked.stack_top = stack_top;
	for (int i = 0; i < TRIES && (found < n || visit_clocks_lost(c, clock));
	     i++) {
		enum visit_result result;
		struct visit got;
		size_t at = 0;

		assert_true(visit_clocks_start(c, clock, &asked, period));
		usleep((useconds_t)(period * 50 / 1000));
		visit_clocks_stop(c, clock);
		found = 0;
		while (visit_clocks_next(c, clock, &at, &got, &result))
			found++;
	}
	assert_true(found >= n);
}

static void check_marks(const struct visit *visit)
{
	uint64_t marks[2];

	assert_int_equal(visit->stack_size,
			 stack_top - visit->registers.sp + STACK_RED_ZONE);
	memcpy(marks,
	       visit->stack + (marks_at - visit->registers.sp) + STACK_RED_ZONE,
	       sizeof(marks));
	assert_int_equal(marks[0], MARK);
	assert_int_equal(marks[1], MARK + 1);
}

static void test_clock_takes_visits(void **state)
{
	struct visit_clocks *c = new_clocks(2);
	enum visit_result result;
	struct visit got;
	uint64_t last = 0;
	size_t at = 0, before;
	int clock;

	(void)state;
	start_child(ITEMS, NULL);
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	run_clock(c, clock, FAST, 3);
	while (visit_clocks_next(c, clock, &at, &got, &result)) {
		assert_int_equal(result, VISIT_TAKEN);
		assert_true(got.whole && got.time > last);
		last = got.time;
		assert_int_equal(got.values[1], FIELD);
		check_items(&got, ITEMS);
		check_marks(&got);
	}
	assert_int_equal(visit_clocks_lost(c, clock), 0);
	assert_true(visit_clocks_roomy(c, clock));
	/* It stands. */
	before = at;
	usleep(5000);
	assert_false(visit_clocks_next(c, clock, &at, &got, &result));
	assert_int_equal(at, before);
	visit_clocks_free(c);
}

/* A thread that falls asleep is taken as it does, with its call, but not each
 * time. */
static void test_clock_takes_who_falls_asleep(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	uint32_t dozes = 0, in_a_row = 0, timers = 0;
	enum visit_result result;
	struct visit asked, got;
	size_t at;
	int clock;

	(void)state;
	naps = true;
	start_child(ITEMS, NULL);
	naps = false;
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	asked = visit_to(child, cores[1]);
	asked.stack_top = stack_top;
	for (int i = 0; i < TRIES && (dozes < 3 || timers < 3); i++) {
		assert_true(visit_clocks_start(c, clock, &asked, FAST));
		usleep(20000);
		visit_clocks_stop(c, clock);
		at = 0;
		in_a_row = 0;
		while (visit_clocks_next(c, clock, &at, &got, &result)) {
			assert_int_equal(result, VISIT_TAKEN);
			check_items(&got, ITEMS);
			if (!got.asleep) {
				assert_int_equal(got.call, -1);
				in_a_row = 0;
				timers++;
				continue;
			}
			assert_true(got.call == SYS_nanosleep ||
				    got.call == SYS_clock_nanosleep);
			assert_true(++in_a_row <= 2);
			dozes++;
		}
	}
	assert_true(dozes >= 3 && timers >= 3);
	visit_clocks_free(c);
}

/* How often the child had to let others have its core. */
static long turns_of_others(void)
{
	const char *name = "nonvoluntary_ctxt_switches:";
	char path[64], line[128];
	long n = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			n = strtol(line + strlen(name), NULL, 10);
	fclose(file);
	return n;
}

static pid_t start_rival(void)
{
	pid_t rival = fork();

	assert_true(rival >= 0);
	if (rival)
		return rival;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_pin(cores[1]);
	for (volatile int i = 0;; i++)
		;
}

/* One that only lets others have their turn does not sleep. */
static void test_clock_knows_a_turn_from_sleep(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	enum visit_result result;
	struct visit asked, got;
	long before, turns = 0;
	int clock, timers = 0;
	pid_t rival;
	size_t at;

	(void)state;
	start_child(ITEMS, NULL);
	rival = start_rival();
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	asked = visit_to(child, cores[1]);
	asked.stack_top = stack_top;
	for (int i = 0; i < TRIES && (turns < 5 || timers < 3); i++) {
		before = turns_of_others();
		assert_true(visit_clocks_start(c, clock, &asked, FAST));
		usleep(20000);
		visit_clocks_stop(c, clock);
		turns += turns_of_others() - before;
		at = 0;
		while (visit_clocks_next(c, clock, &at, &got, &result)) {
			assert_false(got.asleep);
			timers++;
		}
	}
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
	assert_true(turns >= 5 && timers >= 3);
	visit_clocks_free(c);
}

/* One that hardly goes off by itself is struck: it answers at once, if its
 * thread runs on that core and it is wanted. */
static void test_clock_is_struck(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	struct visit asked, got;
	int clock, struck = 0, elsewhere = 0, taken = 0;
	enum visit_result result;
	size_t at = 0;

	(void)state;
	start_child(ITEMS, NULL);
	asked = visit_to(child, cores[1]);
	asked.stack_top = stack_top;
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	assert_true(visit_clocks_start(c, clock, &asked, SLOW));
	for (int i = 0; i < TRIES && struck < 3; i++) {
		if (!visit_clocks_strike(c, clock, cores[1], &got)) {
			usleep(100);
			continue;
		}
		struck++;
		assert_int_equal(got.values[1], FIELD);
		check_items(&got, ITEMS);
		usleep(100);
	}
	assert_int_equal(struck, 3);
	/* It is not here, unless it goes off by itself meanwhile. */
	for (int i = 0; i < 20; i++)
		elsewhere += visit_clocks_strike(c, clock, cores[0], &got);
	assert_true(elsewhere < 10);
	assert_false(visit_clocks_strike(c, clock, -1, &got));
	visit_clocks_stop(c, clock);
	assert_false(visit_clocks_strike(c, clock, cores[1], &got));
	while (visit_clocks_next(c, clock, &at, &got, &result))
		taken++;
	assert_true(taken >= 3);
	visit_clocks_free(c);
}

/* What there is no room for is counted, and what is there stays whole. */
static void test_clock_counts_what_it_loses(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	struct visit got, asked;
	enum visit_result result;
	size_t at = 0;
	int clock, found = 0;

	(void)state;
	start_child(ITEMS, &items[0]); /* a ring: records of many items */
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	asked = visit_to(child, cores[1]);
	for (int i = 0; i < TRIES && !visit_clocks_lost(c, clock); i++) {
		assert_true(visit_clocks_start(c, clock, &asked, 50000));
		usleep(100000);
		visit_clocks_stop(c, clock);
	}
	assert_true(visit_clocks_lost(c, clock) > 0);
	assert_false(visit_clocks_roomy(c, clock));
	for (; visit_clocks_next(c, clock, &at, &got, &result); found++)
		check_items(&got, VISIT_ITEMS_MAX);
	assert_true(found > 1);
	visit_clocks_free(c);
}

static void test_clocks_are_given_out(void **state)
{
	struct visit_clocks *c = new_clocks(2);
	int first, second;

	(void)state;
	start_child(ITEMS, NULL);
	first = take_clock(c, child);
	second = take_clock(c, getpid());
	assert_true(first >= 0 && second >= 0 && first != second);
	assert_int_equal(take_clock(c, child), -ERR_LIMIT);
	visit_clocks_give_back(c, first);
	assert_int_equal(take_clock(c, child), first);
	run_clock(c, first, FAST, 1);
	visit_clocks_give_back(c, first);
	end_child(NULL);
	assert_int_equal(take_clock(c, 0x3fffffff), -ERR_GONE);
	visit_clocks_free(c);
}

/* A period longer than that of the kernel's tick needs no other clock; and one
 * that rests can be started again. */
static void test_clock_goes_by_the_tick(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	int clock;

	(void)state;
	start_child(ITEMS, NULL);
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	run_clock(c, clock, SLOW, 3);
	visit_clocks_rest(c, clock);
	run_clock(c, clock, FAST, 3);
	visit_clocks_rest(c, clock);
	run_clock(c, clock, FAST, 3);
	visit_clocks_free(c);
}

/* Who has let go of the kernel's timers takes nothing, until the next start. */
static void test_clock_lets_go(void **state)
{
	struct visit_clocks *c;
	struct visit asked;
	size_t position;
	int clock;

	(void)state;
	if (find_cores() < 2)
		skip();
	start_child(ITEMS, NULL); /* it is to have no descriptor of ours */
	sched_unpin(&permitted);
	c = new_clocks(1);
	asked = visit_to(child, cores[1]);
	clock = take_clock(c, child);
	assert_true(clock >= 0);
	run_clock(c, clock, FAST, 3);
	assert_true(visit_clocks_start(c, clock, &asked, FAST));
	visit_clocks_detach(c);
	usleep(1000); /* what was under way ends */
	position = visit_clocks_position(c, clock);
	usleep(100000);
	assert_int_equal(visit_clocks_position(c, clock), position);
	visit_clocks_stop(c, clock);
	run_clock(c, clock, FAST, 3);
	visit_clocks_free(c);
}

/* The thread has an id that another process's had. */
static void test_clock_of_another_process(void **state)
{
	struct visit_clocks *c = new_clocks(1);
	struct visit asked, got;
	enum visit_result result;
	size_t at = 0;
	int clock;

	(void)state;
	start_child(ITEMS, NULL);
	asked = visit_to(child, cores[1]);
	asked.pid = getpid();
	clock = visit_clocks_take(c, child, &asked);
	assert_true(clock >= 0);
	assert_true(visit_clocks_start(c, clock, &asked, FAST));
	usleep(50 * FAST / 1000);
	visit_clocks_stop(c, clock);
	assert_false(visit_clocks_next(c, clock, &at, &got, &result));
	visit_clocks_free(c);
}

static void test_impossible_shapes(void **state)
{
	struct visit_shape shapes[4] = { direct, direct, direct, direct };
	struct visitor *v = NULL;

	(void)state;
	shapes[0].head_size = 1 << 20;
	shapes[1].first = sizeof(struct head) - 4;
	shapes[2].item_size = 1 << 20;
	shapes[3].next = sizeof(struct item) - 4;
	for (int i = 0; i < 4; i++)
		assert_int_equal(visitor_new(&v, &shapes[i], NULL),
				 -ERR_UNSUPPORTED);
	assert_null(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_list_is_taken, end_child),
		cmocka_unit_test_teardown(test_list_behind_another_record,
					  end_child),
		cmocka_unit_test_teardown(test_ring_comes_to_an_end, end_child),
		cmocka_unit_test_teardown(test_good_part_of_a_broken_list,
					  end_child),
		cmocka_unit_test_teardown(test_nobody_else_is_read, end_child),
		cmocka_unit_test_teardown(test_registers_and_stack, end_child),
		cmocka_unit_test_teardown(test_clock_takes_visits, end_child),
		cmocka_unit_test_teardown(test_clock_takes_who_falls_asleep,
					  end_child),
		cmocka_unit_test_teardown(test_clock_knows_a_turn_from_sleep,
					  end_child),
		cmocka_unit_test_teardown(test_clock_is_struck, end_child),
		cmocka_unit_test_teardown(test_clock_counts_what_it_loses,
					  end_child),
		cmocka_unit_test_teardown(test_clocks_are_given_out, end_child),
		cmocka_unit_test_teardown(test_clock_goes_by_the_tick,
					  end_child),
		cmocka_unit_test_teardown(test_clock_lets_go, end_child),
		cmocka_unit_test_teardown(test_clock_of_another_process,
					  end_child),
		cmocka_unit_test(test_impossible_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
