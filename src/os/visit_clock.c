#include "os/visit_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/visit_program.h"

#define TIMERS	     "hrtimer_expire_entry"
#define SWITCHES     "sched_switch"
#define FIRST_PERIOD 1000000u /* ns: the kernel wants one from the start */
#define LEAST	     30000    /* ns between two interrupts */
/* Twice as many want less than all: there may be more of those that fall
 * asleep.
 */
#define ROOMY	   (VISIT_RECORDS_SIZE / 8 * 3)
#define STOP_PAUSE 20  /* us; the program takes some of them */
#define STOP_TRIES 500 /* the core may have been taken from the machine */

struct clock {
	int event_fd; /* -1: not in use */
	struct bpf_pidns_info thread;
	uint64_t period; /* of the event */
	bool goes;	 /* the event does */
	bool stands;	 /* the program does not write to its area */
};

struct visit_clocks {
	struct visit_layout layout;
	struct visit_clock_maps maps;
	int program_fd, link_fd;
	int doze_fd, doze_link_fd; /* -1: there is none */
	uint64_t tick; /* ns between two of the kernel's; 0: not to be had */
	uint32_t n;
	size_t size; /* of an area */
	unsigned char *areas;
	struct clock clocks[];
};

/* ---- the kernel's tick ---- */

static bool has_cores_without_tick(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/nohz_full", "re");
	int first = file ? fgetc(file) : EOF;

	if (file)
		fclose(file);
	return first >= '0' && first <= '9';
}

/* It is a timer like others only where there are precise ones. */
static uint64_t tick_period(void)
{
	struct timespec precise, coarse;

	if (clock_getres(CLOCK_MONOTONIC, &precise) < 0 ||
	    clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) < 0 ||
	    precise.tv_sec || precise.tv_nsec > 1 || coarse.tv_sec ||
	    has_cores_without_tick())
		return 0;
	return (uint64_t)coarse.tv_nsec;
}

/* What is left for the event, so that there are enough of both. 0: nothing. */
static uint64_t rest_of(uint64_t period, uint64_t tick)
{
	if (!tick)
		return period;
	return period < tick ? period * tick / (tick - period) : 0;
}

/* ---- clocks ---- */

static struct visit_area *area_of(const struct visit_clocks *c, int clock)
{
	return (struct visit_area *)(c->areas + (size_t)clock * c->size);
}

static int refuse(struct visit_clocks *c, const char *what, struct error *err)
{
	int why = errno;

	visit_clocks_free(c);
	return visit_refuse(what, why, err);
}

static int clock_map(uint32_t n)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_HASH;
	a.key_size = sizeof(struct bpf_pidns_info);
	a.value_size = sizeof(uint32_t);
	a.max_entries = n;
	return visit_bpf(BPF_MAP_CREATE, &a);
}

static int link_program(int program_fd, const char *tracepoint)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.name = (uintptr_t)tracepoint;
	a.raw_tracepoint.prog_fd = (uint32_t)program_fd;
	return visit_bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static bool attach(struct visit_clocks *c)
{
	if (c->link_fd >= 0)
		return true;
	c->link_fd = link_program(c->program_fd, TIMERS);
	if (c->link_fd < 0)
		return false;
	/* Without that one does not know where a thread slept; that is all. */
	if (c->doze_fd >= 0)
		c->doze_link_fd = link_program(c->doze_fd, SWITCHES);
	return true;
}

int visit_clocks_new(struct visit_clocks **out, const struct visit_shape *shape,
		     uint64_t device, uint64_t inode, uint32_t n,
		     struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct visit_layout layout;
	struct visit_clocks *c;
	int status = visit_layout_make(&layout, shape, err);
	void *areas;

	if (status < 0)
		return status;
	c = xcalloc(1, sizeof(*c) + n * sizeof(*c->clocks));
	c->layout = layout;
	c->n = n;
	for (uint32_t i = 0; i < n; i++)
		c->clocks[i].event_fd = -1;
	c->size = VISIT_RECORDS_AT + VISIT_RECORDS_SIZE + layout.record_max;
	c->size = (c->size + page - 1) / page * page;
	c->tick = tick_period();
	c->program_fd = c->link_fd = c->doze_fd = c->doze_link_fd = -1;
	c->maps.device = device;
	c->maps.inode = inode;
	c->maps.areas_fd = visit_map(c->size, n);
	c->maps.clocks_fd = clock_map(n);
	if (c->maps.areas_fd < 0 || c->maps.clocks_fd < 0)
		return refuse(c, "no BPF map", err);
	areas = mmap(NULL, n * c->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     c->maps.areas_fd, 0);
	if (areas == MAP_FAILED)
		return refuse(c, "no BPF map in memory", err);
	c->areas = areas;
	c->program_fd = visit_clock_program(&layout, &c->maps);
	if (c->program_fd < 0)
		return refuse(c, "no BPF program", err);
	if (shape->registers)
		c->doze_fd = visit_doze_program(&layout, &c->maps);
	if (!attach(c))
		return refuse(c, "no BPF program at timers", err);
	*out = c;
	return 0;
}

void visit_clocks_free(struct visit_clocks *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		visit_clocks_give_back(c, (int)i);
	visit_clocks_detach(c);
	close_if_open(c->doze_fd);
	close_if_open(c->program_fd);
	if (c->areas)
		munmap(c->areas, c->n * c->size);
	close_if_open(c->maps.clocks_fd);
	close_if_open(c->maps.areas_fd);
	free(c);
}

void visit_clocks_detach(struct visit_clocks *c)
{
	close_if_open(c->doze_link_fd);
	close_if_open(c->link_fd);
	c->doze_link_fd = c->link_fd = -1;
}

static int open_event(pid_t tid)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = FIRST_PERIOD;
	a.disabled = 1;
	a.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* Let the program know a thread by that number, or forget it. */
static bool change_map(const struct visit_clocks *c, enum bpf_cmd command,
		       const struct bpf_pidns_info *thread, uint32_t clock)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)c->maps.clocks_fd;
	a.key = (uintptr_t)thread;
	if (command == BPF_MAP_UPDATE_ELEM)
		a.value = (uintptr_t)&clock;
	return visit_bpf(command, &a) == 0;
}

static int failure(int why)
{
	if (why == ESRCH)
		return -ERR_GONE;
	if (why == EPERM || why == EACCES)
		return -ERR_PERMISSION;
	return why == EMFILE || why == ENFILE ? -ERR_LIMIT : -ERR_UNSUPPORTED;
}

int visit_clocks_take(struct visit_clocks *c, pid_t tid,
		      const struct visit *asked)
{
	struct clock *clock;
	uint32_t i = 0;

	while (i < c->n && c->clocks[i].event_fd >= 0)
		i++;
	if (i == c->n)
		return -ERR_LIMIT;
	clock = &c->clocks[i];
	clock->event_fd = open_event(tid);
	if (clock->event_fd < 0)
		return failure(errno);
	clock->thread.pid = (uint32_t)asked->tid;
	clock->thread.tgid = (uint32_t)asked->pid;
	clock->stands = !atomic_load(&area_of(c, (int)i)->busy);
	if (!change_map(c, BPF_MAP_UPDATE_ELEM, &clock->thread, i)) {
		int why = errno;

		visit_clocks_give_back(c, (int)i);
		return failure(why);
	}
	return (int)i;
}

void visit_clocks_give_back(struct visit_clocks *c, int clock)
{
	struct clock *given = &c->clocks[clock];

	if (given->event_fd < 0)
		return;
	visit_clocks_stop(c, clock);
	change_map(c, BPF_MAP_DELETE_ELEM, &given->thread, 0);
	close(given->event_fd);
	*given = (struct clock){ .event_fd = -1 };
}

/* Each word to the event is an interrupt of the thread's core. */
static bool set_event(struct clock *clock, uint64_t period)
{
	if (period && clock->period != period) {
		if (ioctl(clock->event_fd, PERF_EVENT_IOC_PERIOD, &period))
			return false;
		clock->period = period;
	}
	if (clock->goes == (period > 0))
		return true;
	clock->goes = period > 0;
	return !ioctl(clock->event_fd,
		      clock->goes ? PERF_EVENT_IOC_ENABLE
				  : PERF_EVENT_IOC_DISABLE,
		      0);
}

bool visit_clocks_start(struct visit_clocks *c, int clock,
			const struct visit *asked, uint64_t period)
{
	struct visit_area *area = area_of(c, clock);

	if (!c->clocks[clock].stands)
		c->clocks[clock].stands = !atomic_load(&area->busy);
	if (!c->clocks[clock].stands || !attach(c))
		return false;
	area->question.thread = c->clocks[clock].thread;
	area->question.head = asked->head;
	area->question.stack_top = asked->stack_top;
	memcpy(area->question.fields, asked->fields, sizeof(asked->fields));
	area->position = area->lost = area->dozes = 0;
	area->least = LEAST;
	if (!set_event(&c->clocks[clock], rest_of(period, c->tick)))
		return false;
	c->clocks[clock].stands = false;
	atomic_store(&area->wanted, 1);
	return true;
}

void visit_clocks_stop(struct visit_clocks *c, int clock)
{
	const struct timespec pause = { .tv_nsec = STOP_PAUSE * 1000 };
	struct visit_area *area = area_of(c, clock);
	int tries = 0;

	atomic_store(&area->wanted, 0);
	while (atomic_load(&area->busy) && tries++ < STOP_TRIES)
		nanosleep(&pause, NULL);
	c->clocks[clock].stands = !atomic_load(&area->busy);
}

static const struct visit_record *record_at(const struct visit_area *area,
					    size_t at)
{
	return (const void *)((const unsigned char *)area + VISIT_RECORDS_AT +
			      at);
}

bool visit_clocks_strike(const struct visit_clocks *c, int clock, int core,
			 struct visit *out)
{
	const struct visit_area *area = area_of(c, clock);
	size_t at = visit_clocks_position(c, clock);

	if (core < 0 || visit_run(c->program_fd, NULL, core) < 0 ||
	    visit_clocks_position(c, clock) == at)
		return false;
	return visit_unpack(&c->layout, record_at(area, at), out) ==
	       VISIT_TAKEN;
}

void visit_clocks_rest(struct visit_clocks *c, int clock)
{
	set_event(&c->clocks[clock], 0);
}

/* Whether it ends behind where it begins, and before there is nothing. */
static bool is_record(const struct visit_area *area, size_t at)
{
	size_t left = area->position - at, size;

	if (left < sizeof(struct visit_record))
		return false;
	size = record_at(area, at)->size;
	return size >= sizeof(struct visit_record) && size <= left;
}

bool visit_clocks_next(struct visit_clocks *c, int clock, size_t *at,
		       struct visit *out, enum visit_result *result)
{
	struct visit_area *area = area_of(c, clock);
	const struct visit_record *record;

	if (!c->clocks[clock].stands || *at >= area->position)
		return false;
	if (!is_record(area, *at)) {
		area->lost++;
		*at = area->position;
		return false;
	}
	record = record_at(area, *at);
	memcpy(out->fields, area->question.fields, sizeof(out->fields));
	*result = visit_unpack(&c->layout, record, out);
	*at += record->size;
	return true;
}

size_t visit_clocks_position(const struct visit_clocks *c, int clock)
{
	const volatile struct visit_area *area = area_of(c, clock);

	return area->position;
}

uint64_t visit_clocks_lost(const struct visit_clocks *c, int clock)
{
	return c->clocks[clock].stands ? area_of(c, clock)->lost : 1;
}

bool visit_clocks_roomy(const struct visit_clocks *c, int clock)
{
	return c->clocks[clock].stands && area_of(c, clock)->position <= ROOMY;
}
