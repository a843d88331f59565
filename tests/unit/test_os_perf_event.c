/* Records of perf events: made-up rings, and a child that is watched. */
#include "unit.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/cores.h"
#include "os/perf_event.h"

#define RING 4096u

/* A ring that is written as the kernel writes it: backwards. */
struct ring {
	unsigned char bytes[RING];
	uint64_t head;
};

static void put(struct ring *r, uint32_t type, uint16_t misc, const void *body,
		size_t size)
{
	struct perf_event_header h = { .type = type,
				       .misc = misc,
				       .size = (uint16_t)(sizeof(h) + size) };
	unsigned char record[1024];

	memcpy(record, &h, sizeof(h));
	memcpy(record + sizeof(h), body, size);
	r->head -= h.size;
	for (size_t i = 0; i < h.size; i++)
		r->bytes[(r->head + i) % RING] = record[i];
}

static void put_switch(struct ring *r, bool out, bool preempted, uint64_t time)
{
	uint64_t body[2] = { time, 1 };

	put(r, PERF_RECORD_SWITCH,
	    (uint16_t)((out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
		       (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)),
	    body, sizeof(body));
}

static void put_sample(struct ring *r, uint64_t time, uint64_t sp)
{
	uint64_t body[3 + REGISTERS_PERF_MAX] = {
		time, 1, PERF_SAMPLE_REGS_ABI_64, sp, sp, sp, sp, sp
	};

	put(r, PERF_RECORD_SAMPLE, 0, body,
	    (3 + registers_perf_count) * sizeof(*body));
}

static void look(const struct ring *r, struct perf_look *out)
{
	perf_records_parse(r->bytes, RING, r->head, false, false, out);
}

static void newest_switch_counts(void **state)
{
	struct ring r = { .head = 0 };
	struct perf_look l;

	(void)state;
	look(&r, &l);
	assert_false(l.known);
	put_switch(&r, false, false, 5);
	look(&r, &l);
	assert_true(l.known && l.running && !l.sampled);
	put_sample(&r, 7, 0x1000);
	put_switch(&r, true, true, 8);
	look(&r, &l);
	assert_true(l.known && !l.running && l.preempted && l.sampled);
	assert_int_equal(l.registers.sp, 0x1000);
	assert_int_equal(l.time, 8);
	assert_int_equal(l.sample_time, 7);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.head, r.head);
}

/* A thread that has come to a CPU again is not where its registers were. */
static void old_registers_do_not_count(void **state)
{
	struct ring r = { .head = 0 };
	struct perf_look l;

	(void)state;
	put_sample(&r, 7, 0x1000);
	put_switch(&r, true, false, 8);
	put_switch(&r, false, false, 9);
	look(&r, &l);
	assert_true(l.running && !l.sampled);
}

static void records_wrap(void **state)
{
	struct ring r = { .head = 0 };
	struct perf_look l;

	(void)state;
	for (uint64_t i = 1; i < 1000; i++) {
		put_switch(&r, false, false, i);
		put_sample(&r, i, 0x1000 + i);
		put_switch(&r, true, false, i);
		look(&r, &l);
		assert_true(l.known && l.sampled);
		assert_int_equal(l.time, i);
		assert_int_equal(l.registers.sp, 0x1000 + i);
	}
}

static void sizes_that_lie_are_left(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 8, 9, 16, 4097, 65535 };
	struct ring r = { .head = 0 };
	struct perf_look l;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE,
					       .size = sizes[i] };

		put_sample(&r, 1, 2);
		memcpy(r.bytes + r.head % RING, &h, sizeof(h));
		look(&r, &l);
		assert_false(l.sampled && l.sample_time != 1);
	}
}

__attribute__((noinline)) static void spin(volatile uint64_t *here)
{
	for (;;)
		++*here;
}

static pid_t spinning_child(int core, volatile uint64_t *here)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_pin(core);
		spin(here);
	}
	assert_true(pid > 0);
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whoever wakes up on the core of a thread finds its registers written, and it
 * stands still. */
static void riding_finds_registers(void **state)
{
	struct perf_event e;
	struct error err = ERROR_INIT;
	struct sched_cores cores;
	int core = sched_core(), good = 0;
	uint64_t here = 0;
	pid_t pid;

	(void)state;
	sched_permitted(&cores);
	assert_true(sched_pin(core));
	pid = spinning_child(core, &here);
	if (perf_event_open(&e, pid, PERF_AT_SWITCH, false, &err) < 0) {
		finish(pid);
		assert_int_equal(err.code, ERR_PERMISSION);
		sched_unpin(&cores);
		skip();
	}
	for (int i = 0; i < 50; i++) {
		struct perf_look l;

		clock_sleep_until(clock_now() + 2000000);
		good += perf_event_look(&e, &l) && l.known && !l.running &&
			l.preempted && l.sampled &&
			l.registers.pc - (uintptr_t)spin < 64 &&
			(uintptr_t)&here - l.registers.sp < 4096 &&
			(int)l.cpu == core && perf_event_head(&e) == l.head;
	}
	perf_event_close(&e);
	finish(pid);
	sched_unpin(&cores);
	assert_true(good > 25);
}

static void nobody_is_gone(void **state)
{
	struct perf_event e;
	struct error err = ERROR_INIT;
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	status = perf_event_open(&e, pid, PERF_AT_CLOCK, false, &err);
	assert_true(status == -ERR_GONE || status == -ERR_PERMISSION);
	assert_int_equal(status, -err.code);
	assert_true(e.fd < 0 && !e.map);
	perf_event_close(&e);
}

static enum perf_doing doing_at(const struct ring *r, uint64_t when,
				uint64_t *since)
{
	return perf_records_at(r->bytes, RING, r->head, when, since);
}

static void switches_tell_of_the_past(void **state)
{
	struct ring r = { .head = 0 };
	uint64_t since = 0;

	(void)state;
	assert_int_equal(doing_at(&r, 5, &since), PERF_UNKNOWN);
	put_switch(&r, false, false, 10);
	put_sample(&r, 19, 0x1000);
	put_switch(&r, true, true, 20);
	put_switch(&r, false, false, 30);
	put_sample(&r, 39, 0x1000);
	put_switch(&r, true, false, 40);
	assert_int_equal(doing_at(&r, 9, &since), PERF_UNKNOWN);
	assert_int_equal(doing_at(&r, 10, &since), PERF_ON_CPU);
	assert_int_equal(doing_at(&r, 29, &since), PERF_READY);
	assert_int_equal(since, 20);
	assert_int_equal(doing_at(&r, 39, &since), PERF_ON_CPU);
	assert_int_equal(since, 30);
	assert_int_equal(doing_at(&r, 1000, &since), PERF_ASLEEP);
	assert_int_equal(since, 40);
}

/* What was written over is not known, whatever stands there now. */
static void the_past_has_an_end(void **state)
{
	struct ring r = { .head = 0 };
	uint64_t since = 0, oldest = 0;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		put_switch(&r, i & 1, false, i);
	assert_int_equal(doing_at(&r, 2, &since), PERF_UNKNOWN);
	for (uint64_t i = 1000; i && !oldest; i--)
		if (doing_at(&r, i, &since) == PERF_UNKNOWN)
			oldest = i + 1;
	assert_true(oldest > 1000 - RING / 24 && oldest < 1000);
	for (uint64_t i = oldest; i <= 1000; i++) {
		assert_int_equal(doing_at(&r, i, &since),
				 i & 1 ? PERF_ASLEEP : PERF_ON_CPU);
		assert_int_equal(since, i);
	}
	/* Sizes that lie. */
	memset(r.bytes, 0xff, RING);
	assert_int_equal(doing_at(&r, 1000, &since), PERF_UNKNOWN);
	memset(r.bytes, 0, RING);
	assert_int_equal(doing_at(&r, 1000, &since), PERF_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_switch_counts),
		cmocka_unit_test(old_registers_do_not_count),
		cmocka_unit_test(records_wrap),
		cmocka_unit_test(sizes_that_lie_are_left),
		cmocka_unit_test(switches_tell_of_the_past),
		cmocka_unit_test(the_past_has_an_end),
		cmocka_unit_test(riding_finds_registers),
		cmocka_unit_test(nobody_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
