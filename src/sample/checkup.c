#include "sample/checkup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/cores.h"
#include "os/perf_event.h"
#include "os/process.h"
#include "os/trial.h"
#include "sample/sampler.h"

#define PERIOD 1000000u /* ns; of a rate at which riding is possible */
#define LOOKS  20

struct checkup {
	struct finding *out;
	int n;
};

static struct finding *add(struct checkup *c, const char *what,
			   const char *purpose)
{
	struct finding *f = &c->out[c->n++];

	*f = (struct finding){ .what = what, .purpose = purpose };
	return f;
}

static int check_exists(struct checkup *c, pid_t pid)
{
	struct finding *f = add(c, "process", "");
	struct buffer command = BUFFER_INIT;
	struct error err = ERROR_INIT;
	char user[64];
	int status;

	status = process_find(pid, &err);
	if (status < 0) {
		f->verdict = VERDICT_FATAL;
		snprintf(f->fact, sizeof(f->fact), "%.230s", err.text);
		return status;
	}
	process_command(pid, &command);
	permission_user_name(permission_user(pid), user);
	snprintf(f->fact, sizeof(f->fact), "%d of user %s: %.120s", (int)pid,
		 user, buffer_text(&command));
	buffer_release(&command);
	return 0;
}

static void check_surroundings(struct checkup *c, pid_t pid)
{
	struct finding *f = add(c, "surroundings", "");
	char link[64], root[PATH_MAX];
	pid_t inner = process_inner_pid(pid);
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
	n = readlink(link, root, sizeof(root) - 1);
	root[n < 0 ? 0 : n] = 0;
	snprintf(f->fact, sizeof(f->fact), "root %.120s; %s%d",
		 n < 0 ? "cannot be seen" : root,
		 inner == pid ? "the same process ids as here, "
			      : "in a namespace where its id is ",
		 (int)inner);
}

static void describe_python(struct finding *f, const struct python *p)
{
	char version[64], exe[PATH_MAX];
	const char *name;
	bool built_in;

	python_version_text(p, version, sizeof(version));
	process_exe(p->pid, exe);
	name = strrchr(exe, '/');
	built_in = name && !strcmp(name + 1, p->module);
	snprintf(f->fact, sizeof(f->fact), "%s in %.100s (%s)%s", version,
		 p->module, built_in ? "the executable" : "a shared library",
		 p->layout.debug ? ", a debug build" : "");
}

static int check_python(struct checkup *c, pid_t pid, struct target **t)
{
	struct finding *f = add(c, "Python", "");
	struct error err = ERROR_INIT;
	int status = target_new(t, pid, &err);

	if (status == 0) {
		describe_python(f, &(*t)->python);
		return 0;
	}
	f->verdict = VERDICT_FATAL;
	if (status == -ERR_PERMISSION)
		permission_explain(f, pid);
	else
		snprintf(f->fact, sizeof(f->fact), "%.190s", err.text);
	return status;
}

/* Cores of the process that we may not use; *last gets its highest one. */
static int count_forbidden(pid_t pid, int *all, int *last)
{
	struct sched_cores before;
	cpu_set_t theirs;
	int forbidden = 0;

	CPU_ZERO(&theirs);
	sched_getaffinity(pid, sizeof(theirs), &theirs);
	sched_permitted(&before);
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET((size_t)core, &theirs)) {
			forbidden += !sched_pin(core);
			*last = core;
		}
	sched_unpin(&before);
	*all = CPU_COUNT(&theirs);
	return forbidden;
}

static void check_riding(struct checkup *c, const struct target *t)
{
	struct finding *f = add(c, "reading from its own core",
				"untorn stacks of generators and coroutines");
	int all, last = 0, forbidden = count_forbidden(t->pid, &all, &last);

	f->verdict = forbidden ? VERDICT_LACKING : VERDICT_FINE;
	snprintf(f->fact, sizeof(f->fact),
		 "%d of its %d cores may be chosen; its threads tell their "
		 "core %s",
		 all - forbidden, all,
		 t->python.has_rseq ? "in memory (rseq)" : "in /proc only");
	if (forbidden)
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo systemctl set-property user.slice "
			 "AllowedCPUs=0-%d",
			 last);
}

static uint32_t count_good(const struct target *t)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < t->n_threads; i++)
		good += t->threads[i]->good &&
			!(t->threads[i]->state &
			  (STATE_TORN | STATE_UNPROVEN | STATE_UNREADABLE));
	return good;
}

static int check_stacks(struct checkup *c, struct target *t)
{
	struct finding *f = add(c, "stacks", "attach, dump");
	struct sampler sampler;
	int status = 0;

	sampler_init(&sampler, RIDE_AUTO, PERIOD);
	for (int i = 0; i < LOOKS; i++) {
		uint64_t now = clock_now();

		status = sampler_take(&sampler, t, now);
		if (status == -ERR_GONE ||
		    (!status && t->n_threads && count_good(t) == t->n_threads))
			break;
		clock_sleep_until(now + PERIOD);
	}
	rider_leave(&sampler.rider);
	if (status < 0) {
		f->verdict = VERDICT_FATAL;
		snprintf(f->fact, sizeof(f->fact), "cannot be read: %s",
			 error_name(status));
		return status;
	}
	snprintf(f->fact, sizeof(f->fact),
		 "%u of %u threads read and proven; attaching works",
		 (unsigned)count_good(t), (unsigned)t->n_threads);
	return 0;
}

/* What attach -n would take the registers from. */
static void check_native(struct checkup *c, const struct target *t)
{
	static const struct {
		enum perf_kind kind;
		const char *fact;
	} ways[] = {
		{ PERF_AT_SWITCH, "registers at context switches" },
		{ PERF_AT_CLOCK, "registers by a clock of each thread" },
	};
	struct finding *f = add(c, "native stacks", "attach -n, dump -n");
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct perf_event e = PERF_EVENT_INIT;

		if (perf_event_open(&e, t->pid, ways[i].kind, false, &err))
			continue;
		perf_event_close(&e);
		snprintf(f->fact, sizeof(f->fact), "%s", ways[i].fact);
		return;
	}
	if (!trial_stop()) {
		snprintf(f->fact, sizeof(f->fact),
			 "by stopping one thread at a time; %.120s", err.text);
		return;
	}
	f->verdict = VERDICT_LACKING;
	snprintf(f->fact, sizeof(f->fact),
		 "Python alone: neither perf events nor ptrace are permitted");
	snprintf(f->remedy, sizeof(f->remedy),
		 "see above: perf events, or stopping one thread");
}

int checkup(struct finding out[CHECKUP_FINDINGS_MAX], int *n, pid_t pid)
{
	struct checkup c = { out, 0 };
	struct target *t = NULL;
	int status = check_exists(&c, pid);

	if (status == 0) {
		check_surroundings(&c, pid);
		status = check_python(&c, pid, &t);
	}
	if (status == 0) {
		check_riding(&c, t);
		status = check_stacks(&c, t);
	}
	if (status == 0)
		check_native(&c, t);
	target_free(t);
	*n = c.n;
	return status;
}
