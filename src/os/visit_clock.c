#include "os/visit_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/visit_program.h"

#define FIRST_PERIOD 1000000u /* ns: the kernel wants one from the start */

struct clock {
	int event_fd, link_fd; /* -1: not in use */
	uint64_t period;
};

struct visit_clocks {
	struct visit_layout layout;
	int map_fd, program_fd;
	uint32_t n;
	size_t size; /* of an area */
	unsigned char *areas;
	struct clock clocks[];
};

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

int visit_clocks_new(struct visit_clocks **out, const struct visit_shape *shape,
		     uint32_t n, struct error *err)
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
		c->clocks[i] = (struct clock){ -1, -1, 0 };
	c->size = VISIT_RECORDS_AT + VISIT_RECORDS_SIZE + layout.record_max;
	c->size = (c->size + page - 1) / page * page;
	c->program_fd = -1;
	c->map_fd = visit_map(c->size, n);
	if (c->map_fd < 0)
		return refuse(c, "no BPF map", err);
	areas = mmap(NULL, n * c->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     c->map_fd, 0);
	if (areas == MAP_FAILED)
		return refuse(c, "no BPF map in memory", err);
	c->areas = areas;
	c->program_fd = visit_clock_program(&layout, c->map_fd);
	if (c->program_fd < 0)
		return refuse(c, "no BPF program", err);
	*out = c;
	return 0;
}

void visit_clocks_free(struct visit_clocks *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		visit_clocks_give_back(c, (int)i);
	if (c->areas)
		munmap(c->areas, c->n * c->size);
	if (c->program_fd >= 0)
		close(c->program_fd);
	if (c->map_fd >= 0)
		close(c->map_fd);
	free(c);
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

static int link_program(const struct visit_clocks *c, int event_fd,
			uint32_t clock)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.link_create.prog_fd = (uint32_t)c->program_fd;
	a.link_create.target_fd = (uint32_t)event_fd;
	a.link_create.attach_type = BPF_PERF_EVENT;
	a.link_create.perf_event.bpf_cookie = clock;
	return visit_bpf(BPF_LINK_CREATE, &a);
}

static int failure(int why)
{
	if (why == ESRCH)
		return -ERR_GONE;
	if (why == EPERM || why == EACCES)
		return -ERR_PERMISSION;
	return why == EMFILE || why == ENFILE ? -ERR_LIMIT : -ERR_UNSUPPORTED;
}

int visit_clocks_take(struct visit_clocks *c, pid_t tid)
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
	clock->link_fd = link_program(c, clock->event_fd, i);
	if (clock->link_fd < 0) {
		int why = errno;

		visit_clocks_give_back(c, (int)i);
		return failure(why);
	}
	return (int)i;
}

void visit_clocks_give_back(struct visit_clocks *c, int clock)
{
	struct clock *given = &c->clocks[clock];

	if (given->link_fd >= 0)
		close(given->link_fd);
	if (given->event_fd >= 0)
		close(given->event_fd);
	*given = (struct clock){ -1, -1, 0 };
}

/* Each word to the event is an interrupt of the thread's core. */
static bool set_period(struct clock *clock, uint64_t period)
{
	if (clock->period != period &&
	    ioctl(clock->event_fd, PERF_EVENT_IOC_PERIOD, &period))
		return false;
	clock->period = period;
	return true;
}

bool visit_clocks_start(struct visit_clocks *c, int clock,
			const struct visit *asked, uint64_t period)
{
	struct visit_area *area = area_of(c, clock);

	memset(area, 0, sizeof(*area));
	area->question.head = asked->head;
	area->question.stack_top = asked->stack_top;
	memcpy(area->question.fields, asked->fields, sizeof(asked->fields));
	return set_period(&c->clocks[clock], period) &&
	       !ioctl(c->clocks[clock].event_fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* When this returns, the program does not run: the kernel has been to the
 * thread's core. */
void visit_clocks_stop(struct visit_clocks *c, int clock)
{
	ioctl(c->clocks[clock].event_fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool visit_clocks_next(const struct visit_clocks *c, int clock, size_t *at,
		       struct visit *out, enum visit_result *result)
{
	const struct visit_area *area = area_of(c, clock);
	const struct visit_record *record;

	if (*at >= area->position)
		return false;
	record = (const void *)((const unsigned char *)area + VISIT_RECORDS_AT +
				*at);
	memcpy(out->fields, area->question.fields, sizeof(out->fields));
	*result = visit_unpack(&c->layout, record, out);
	*at += record->size;
	return true;
}

uint64_t visit_clocks_lost(const struct visit_clocks *c, int clock)
{
	return area_of(c, clock)->lost;
}

bool visit_clocks_roomy(const struct visit_clocks *c, int clock)
{
	return area_of(c, clock)->position <= VISIT_RECORDS_SIZE / 2;
}
