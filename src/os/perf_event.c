#include "os/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RECORDS_MAX 8	   /* looked at: a sample is at most three old */
#define CLOCK_LEAST 10000u /* ns: the kernel's shortest period */

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* What all our events have in common, so that they can share a ring. */
static void describe(struct perf_event_attr *a, uint64_t config)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = config;
	a->sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	a->sample_id_all = 1;
	a->write_backward = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->exclude_hv = 1;
}

static void describe_switch(struct perf_event_attr *a, bool kernel)
{
	describe(a, PERF_COUNT_SW_CONTEXT_SWITCHES);
	a->context_switch = 1;
	a->sample_period = 1;
	a->sample_type |= PERF_SAMPLE_REGS_USER;
	a->sample_regs_user = registers_perf_mask;
	if (!kernel)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->exclude_callchain_user = 1;
	a->sample_max_stack = PERF_KERNEL_MAX;
}

/* Counts nothing: it is there for the records of switches. */
static void describe_watch(struct perf_event_attr *a)
{
	describe(a, PERF_COUNT_SW_DUMMY);
	a->context_switch = 1;
	a->exclude_kernel = 1;
}

static void describe_clock(struct perf_event_attr *a, uint64_t period)
{
	describe(a, PERF_COUNT_SW_TASK_CLOCK);
	a->disabled = 1;
	a->sample_period = period;
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = registers_perf_mask;
	a->sample_stack_user = PERF_STACK_MAX;
	a->exclude_kernel = 1;
	a->wakeup_events = 1;
}

static int open_event(struct perf_event_attr *attr, pid_t tid)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int open_failure(pid_t tid, int code, struct error *err)
{
	switch (code) {
	case EACCES:
	case EPERM:
		return fail(err, ERR_PERMISSION,
			    "perf events on thread %d are not permitted",
			    (int)tid);
	case ESRCH:
		return fail(err, ERR_GONE, "thread %d has ended", (int)tid);
	case EMFILE:
	case ENFILE:
		return fail(err, ERR_LIMIT,
			    "too many open files for a perf event per thread "
			    "(ulimit -n)");
	default:
		return fail(err, ERR_UNSUPPORTED,
			    "no perf event on thread %d: %s", (int)tid,
			    strerror(code));
	}
}

static int map_failure(int code, struct error *err)
{
	if (code == EPERM || code == ENOMEM)
		return fail(err, ERR_LIMIT,
			    "too much locked memory for a perf event per "
			    "thread (ulimit -l, or sysctl "
			    "kernel.perf_event_mlock_kb)");
	return fail(err, ERR_UNSUPPORTED, "cannot map a perf event: %s",
		    strerror(code));
}

int perf_event_open(struct perf_event *e, pid_t tid, enum perf_kind kind,
		    bool kernel, struct error *err)
{
	struct perf_event_attr attr;
	void *map;

	*e = (struct perf_event)PERF_EVENT_INIT;
	if (kind == PERF_AT_SWITCH)
		describe_switch(&attr, kernel);
	else
		describe_watch(&attr);
	e->tid = tid;
	e->fd = open_event(&attr, tid);
	if (e->fd < 0)
		return open_failure(tid, errno, err);
	map = mmap(NULL, 2 * page_size(), PROT_READ, MAP_SHARED, e->fd, 0);
	if (map == MAP_FAILED) {
		int code = errno;

		perf_event_close(e);
		return map_failure(code, err);
	}
	e->map = map;
	e->kernel = kernel && kind == PERF_AT_SWITCH;
	e->stack = kind == PERF_AT_CLOCK;
	return 0;
}

void perf_event_close(struct perf_event *e)
{
	if (e->map)
		munmap(e->map, 2 * page_size());
	if (e->clock_fd >= 0)
		close(e->clock_fd);
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct perf_event)PERF_EVENT_INIT;
}

uint64_t perf_event_head(const struct perf_event *e)
{
	const struct perf_event_mmap_page *page = (const void *)e->map;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

bool perf_event_look(const struct perf_event *e, struct perf_look *out)
{
	size_t size = page_size();

	for (int tries = 0; tries < 2; tries++) {
		uint64_t head = perf_event_head(e);

		perf_records_parse(e->map + size, size, head, e->kernel,
				   e->stack, out);
		if (perf_event_head(e) == head)
			return true;
	}
	memset(out, 0, sizeof(*out));
	return false;
}

enum perf_doing perf_event_at(const struct perf_event *e, uint64_t when,
			      uint64_t *since)
{
	size_t size = page_size();

	for (int tries = 0; tries < 2; tries++) {
		uint64_t head = perf_event_head(e);
		enum perf_doing doing =
			perf_records_at(e->map + size, size, head, when, since);

		if (perf_event_head(e) == head)
			return doing;
	}
	return PERF_UNKNOWN;
}

uint64_t perf_event_reach(void)
{
	return page_size();
}

/* The clock writes into the ring of the watching event. */
static bool open_clock(struct perf_event *e, uint64_t period)
{
	struct perf_event_attr attr;

	describe_clock(&attr, period);
	e->clock_fd = open_event(&attr, e->tid);
	if (e->clock_fd < 0)
		return false;
	if (!ioctl(e->clock_fd, PERF_EVENT_IOC_SET_OUTPUT, e->fd))
		return true;
	close(e->clock_fd);
	e->clock_fd = -1;
	return false;
}

bool perf_event_arm(struct perf_event *e, uint64_t ns)
{
	uint64_t period = ns < CLOCK_LEAST ? CLOCK_LEAST : ns;

	if (e->clock_fd < 0) {
		if (!open_clock(e, period))
			return false;
	} else if (ioctl(e->clock_fd, PERF_EVENT_IOC_PERIOD, &period)) {
		return false;
	}
	return !ioctl(e->clock_fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_event_disarm(struct perf_event *e)
{
	if (e->clock_fd >= 0)
		ioctl(e->clock_fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* ---- records ---- */

/* A place in the ring, and what is left of the record there. */
struct cursor {
	const unsigned char *ring;
	size_t size;
	uint64_t at;
	size_t left;
};

static bool take(struct cursor *c, void *into, size_t n)
{
	size_t offset = c->at & (c->size - 1);
	size_t first = c->size - offset < n ? c->size - offset : n;

	if (n > c->left)
		return false;
	memcpy(into, c->ring + offset, first);
	memcpy((unsigned char *)into + first, c->ring, n - first);
	c->at += n;
	c->left -= n;
	return true;
}

/* Time and core, which begin a sample and follow a switch. */
struct moment {
	uint64_t time;
	uint32_t cpu, reserved;
};

static void take_switch(struct cursor *c, uint16_t misc, struct perf_look *out)
{
	struct moment moment;

	if (!take(c, &moment, sizeof(moment)))
		return;
	out->known = true;
	out->running = !(misc & PERF_RECORD_MISC_SWITCH_OUT);
	out->preempted =
		!out->running && misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	out->cpu = moment.cpu;
	out->time = moment.time;
}

/* A chain begins with a mark of where its addresses are; marks are beyond any
 * address. */
static bool take_chain(struct cursor *c, struct perf_look *out)
{
	uint64_t n, address;

	if (!take(c, &n, sizeof(n)) || n > c->left / sizeof(address))
		return false;
	out->n_kernel = 0;
	while (n--) {
		take(c, &address, sizeof(address));
		if (address < (uint64_t)PERF_CONTEXT_MAX &&
		    out->n_kernel < PERF_KERNEL_MAX)
			out->kernel[out->n_kernel++] = address;
	}
	return true;
}

/* Room for the copy, the copy, and how much of it was filled. */
static void take_stack(struct cursor *c, struct perf_look *out)
{
	uint64_t room, filled;

	if (!take(c, &room, sizeof(room)) || room > PERF_STACK_MAX ||
	    !take(c, out->stack, room) || !take(c, &filled, sizeof(filled)))
		return;
	out->n_stack = (uint32_t)(filled < room ? filled : room);
}

static void take_sample(struct cursor *c, bool kernel, bool stack,
			struct perf_look *out)
{
	uint64_t abi, words[REGISTERS_PERF_MAX];
	struct moment moment;

	if (!take(c, &moment, sizeof(moment)) ||
	    (kernel && !take_chain(c, out)) || !take(c, &abi, sizeof(abi)) ||
	    abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !take(c, words, registers_perf_count * sizeof(*words)))
		return;
	out->sampled = true;
	out->sample_time = moment.time;
	registers_from_perf(&out->registers, words);
	if (stack)
		take_stack(c, out);
}

/* Records from the newest on. A sample counts when the thread has not come to a
 * CPU since, or came to the one it is on before it. */
void perf_records_parse(const unsigned char *ring, size_t size, uint64_t head,
			bool kernel, bool stack, struct perf_look *out)
{
	struct cursor c = { .ring = ring, .size = size, .at = head };
	size_t seen = 0;

	memset(out, 0, offsetof(struct perf_look, stack));
	out->head = head;
	for (int i = 0; i < RECORDS_MAX && !out->sampled; i++) {
		struct perf_event_header h;
		uint64_t start = c.at;

		c.left = sizeof(h);
		take(&c, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > size - seen)
			return;
		seen += h.size;
		c.left = h.size - sizeof(h);
		if (h.type == PERF_RECORD_SAMPLE)
			take_sample(&c, kernel, stack, out);
		else if (h.type == PERF_RECORD_SWITCH && out->known)
			return; /* older than the time that counts */
		else if (h.type == PERF_RECORD_SWITCH)
			take_switch(&c, h.misc, out);
		c.at = start + h.size;
	}
}

static enum perf_doing doing_after(uint16_t misc)
{
	if (!(misc & PERF_RECORD_MISC_SWITCH_OUT))
		return PERF_ON_CPU;
	return misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PERF_READY
							  : PERF_ASLEEP;
}

/* The newest switch that is no younger than the moment tells. The ring grows
 * downwards from 0, so -head bytes were written to it. */
enum perf_doing perf_records_at(const unsigned char *ring, size_t size,
				uint64_t head, uint64_t when, uint64_t *since)
{
	struct cursor c = { .ring = ring, .size = size };
	uint64_t seen = 0;

	while (seen < -head && seen < size) {
		struct perf_event_header h;
		struct moment moment;

		c.at = head + seen;
		c.left = sizeof(h);
		take(&c, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > size - seen)
			break;
		c.left = h.size - sizeof(h);
		if (h.type == PERF_RECORD_SWITCH &&
		    take(&c, &moment, sizeof(moment)) && moment.time <= when) {
			*since = moment.time;
			return doing_after(h.misc);
		}
		seen += h.size;
	}
	return PERF_UNKNOWN;
}
