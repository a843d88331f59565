/* Each probe is a row: what it is, what it is for, how bad its absence is, and
 * the function that tries it and writes down what it found. */
#include "os/permission.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/cores.h"
#include "os/process.h"
#include "os/trial.h"
#include "os/visit.h"

#define CAP_SYS_PTRACE_BIT 19
#define CAP_PERFMON_BIT	   38
#define CAP_IPC_LOCK_BIT   14
#define CAP_BPF_BIT	   39
#define THREADS_ENOUGH	   500 /* most programs have fewer */

/* What glibc found out about restartable sequences; not there before 2.35. */
extern const unsigned int __rseq_size __attribute__((weak));

/* ---- reading what the kernel tells ---- */

static bool read_file(const char *path, char *into, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, into, size - 1);
	close(fd);
	if (n < 0)
		return false;
	into[n] = 0;
	return true;
}

/* A number in a file of /proc/sys; -1 when there is none. */
static long read_number(const char *path)
{
	char text[32];

	return read_file(path, text, sizeof(text)) ? strtol(text, NULL, 10)
						   : -1;
}

/* What follows "\nKey:" in /proc/PID/status, as a number. */
static bool read_status(pid_t pid, const char *key, int base, int skip,
			uint64_t *value)
{
	char path[64], text[8192], *p;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_file(path, text, sizeof(text)) || !(p = strstr(text, key)))
		return false;
	p += strlen(key);
	while (skip-- >= 0)
		*value = strtoull(p, &p, base);
	return true;
}

static bool has_capability(int bit)
{
	uint64_t set = 0;

	return read_status(getpid(), "\nCapEff:", 16, 0, &set) &&
	       set >> bit & 1;
}

static long ptrace_scope(void)
{
	return read_number("/proc/sys/kernel/yama/ptrace_scope");
}

static bool in_container(void)
{
	return !access("/.dockerenv", F_OK) ||
	       !access("/run/.containerenv", F_OK) ||
	       !access("/run/systemd/container", F_OK) || getenv("container");
}

static void own_path(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n < 0 ? 0 : n] = 0;
}

long permission_user(pid_t pid)
{
	uint64_t uid;

	/* Real, effective, saved, file system. */
	return read_status(pid, "\nUid:", 10, 1, &uid) ? (long)uid : -1;
}

void permission_user_name(long uid, char name[64])
{
	const struct passwd *entry = uid < 0 ? NULL : getpwuid((uid_t)uid);

	if (entry)
		snprintf(name, 64, "%s", entry->pw_name);
	else
		snprintf(name, 64, "%ld", uid);
}

/* ---- what mends it ---- */

#define ADD_TO_CONTAINER "docker run --cap-add SYS_PTRACE ..."

/* A container's user needs the capability and, not being root, to be root. */
static void remedy_capability(struct finding *f, const char *capability,
			      const char *for_docker)
{
	char path[PATH_MAX];

	own_path(path);
	if (!in_container())
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo setcap %s+ep %.300s", capability, path);
	else if (geteuid())
		snprintf(f->remedy, sizeof(f->remedy),
			 "docker exec -u root CONTAINER pyrometer ..., after "
			 "docker run --cap-add %s ...",
			 for_docker);
	else
		snprintf(f->remedy, sizeof(f->remedy),
			 "docker run --cap-add %s ...", for_docker);
}

static void remedy_scope(struct finding *f, long scope)
{
	if (in_container())
		snprintf(f->remedy, sizeof(f->remedy), ADD_TO_CONTAINER);
	else if (scope >= 3)
		snprintf(f->remedy, sizeof(f->remedy),
			 "set kernel.yama.ptrace_scope=0 in /etc/sysctl.d and "
			 "restart the machine: 3 cannot be taken back");
	else
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo sysctl kernel.yama.ptrace_scope=0");
}

/* ---- the probes ---- */

static bool probe_kernel(struct finding *f)
{
	struct utsname name;

	if (uname(&name))
		return true;
	snprintf(f->fact, sizeof(f->fact), "%.60s %.60s on %.40s%s",
		 name.sysname, name.release, name.machine,
		 in_container() ? ", in a container" : "");
	return true;
}

static void describe_seccomp(struct finding *f)
{
	uint64_t mode = 0;
	size_t used = strlen(f->fact);

	if (read_status(getpid(), "\nSeccomp:", 10, 0, &mode) && mode == 2)
		snprintf(f->fact + used, sizeof(f->fact) - used,
			 "; a seccomp filter is on");
}

static bool probe_read(struct finding *f)
{
	int vector = trial_read_child(), file = trial_read_child_file();

	if (!vector)
		snprintf(f->fact, sizeof(f->fact), "process_vm_readv works");
	else
		snprintf(f->fact, sizeof(f->fact),
			 "process_vm_readv: %s; /proc/PID/mem: %s",
			 strerror(vector), file ? strerror(file) : "works");
	describe_seccomp(f);
	if (vector && file)
		snprintf(f->remedy, sizeof(f->remedy),
			 in_container()
				 ? "docker run --cap-add SYS_PTRACE "
				   "--security-opt seccomp=unconfined ..."
				 : "sudo pyrometer ...");
	return !vector || !file;
}

static bool probe_vector(struct finding *f)
{
	int refusal = trial_read_child();

	snprintf(f->fact, sizeof(f->fact), "%s",
		 refusal ? strerror(refusal) : "many pieces in one call");
	if (refusal && in_container())
		snprintf(f->remedy, sizeof(f->remedy), ADD_TO_CONTAINER);
	return !refusal;
}

static bool probe_stranger(struct finding *f)
{
	static const char *const meanings[] = {
		"every process of yours",
		"only what you started from here",
		"only with CAP_SYS_PTRACE",
		"nothing",
	};
	int refusal = trial_read_stranger();
	long scope = ptrace_scope();

	if (scope >= 0 && scope <= 3)
		snprintf(f->fact, sizeof(f->fact),
			 "%s; ptrace_scope is %ld: %s",
			 refusal ? strerror(refusal) : "works", scope,
			 meanings[scope]);
	else
		snprintf(f->fact, sizeof(f->fact), "%s; no ptrace_scope here",
			 refusal ? strerror(refusal) : "works");
	if (refusal)
		remedy_scope(f, scope);
	return !refusal;
}

static bool probe_others(struct finding *f)
{
	bool has = has_capability(CAP_SYS_PTRACE_BIT);
	char name[64];

	permission_user_name((long)geteuid(), name);
	snprintf(f->fact, sizeof(f->fact), "user %s %s CAP_SYS_PTRACE", name,
		 has ? "has" : "lacks");
	if (!has)
		remedy_capability(f, "cap_sys_ptrace", "SYS_PTRACE");
	return has;
}

/* Settings that would permit it, and yet it is refused: by a filter. */
static void remedy_perf(struct finding *f, long paranoid, long enough)
{
	if (in_container() && has_capability(CAP_PERFMON_BIT))
		snprintf(f->remedy, sizeof(f->remedy),
			 "docker run --security-opt seccomp=unconfined ...");
	else if (in_container())
		remedy_capability(f, "cap_perfmon", "PERFMON");
	else if (paranoid > enough)
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo sysctl kernel.perf_event_paranoid=%ld", enough);
	else
		snprintf(f->remedy, sizeof(f->remedy),
			 "permit perf_event_open in the seccomp filter "
			 "(systemd: SystemCallFilter=perf_event_open)");
}

/* `enough`: up to which level nobody needs a capability for it. */
static bool describe_perf(struct finding *f, int refusal, long enough)
{
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");

	snprintf(f->fact, sizeof(f->fact),
		 "%s; perf_event_paranoid is %ld, CAP_PERFMON %s",
		 refusal ? strerror(refusal) : "works", paranoid,
		 has_capability(CAP_PERFMON_BIT) ? "is there" : "is not");
	if (refusal) {
		describe_seccomp(f);
		remedy_perf(f, paranoid, enough);
	}
	return !refusal;
}

static bool probe_perf(struct finding *f)
{
	return describe_perf(f, trial_perf_clock(), 2);
}

static bool probe_perf_switch(struct finding *f)
{
	return describe_perf(f, trial_perf_switch(), 1);
}

static bool probe_perf_kernel(struct finding *f)
{
	return describe_perf(f, trial_perf(true), 1);
}

static long limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur > LONG_MAX
		       ? LONG_MAX
		       : (long)limit.rlim_cur;
}

/* Each thread takes a file and two pages that stay in memory, of which the
 * kernel grants some to everybody. */
static long threads_at_once(void)
{
	long granted = read_number("/proc/sys/kernel/perf_event_mlock_kb");
	long page = sysconf(_SC_PAGESIZE), files = limit_of(RLIMIT_NOFILE);
	long locked = limit_of(RLIMIT_MEMLOCK);

	if (has_capability(CAP_IPC_LOCK_BIT) || locked == LONG_MAX)
		return files;
	locked = (locked + (granted > 0 ? granted << 10 : 0)) / (2 * page);
	return locked < files ? locked : files;
}

static bool probe_perf_threads(struct finding *f)
{
	long threads = threads_at_once();

	snprintf(f->fact, sizeof(f->fact),
		 "about %ld at once, by the limits of open files and locked "
		 "memory",
		 threads);
	if (threads < THREADS_ENOUGH)
		snprintf(f->remedy, sizeof(f->remedy),
			 "ulimit -n 65536; sudo sysctl "
			 "kernel.perf_event_mlock_kb=65536");
	return threads >= THREADS_ENOUGH;
}

static bool probe_stop(struct finding *f)
{
	int refusal = trial_stop();

	snprintf(f->fact, sizeof(f->fact), "ptrace: %s",
		 refusal ? strerror(refusal) : "works");
	if (refusal)
		describe_seccomp(f);
	if (refusal && in_container())
		snprintf(f->remedy, sizeof(f->remedy), ADD_TO_CONTAINER);
	else if (refusal)
		snprintf(f->remedy, sizeof(f->remedy),
			 "permit ptrace in the seccomp filter (systemd: "
			 "SystemCallFilter=ptrace)");
	return !refusal;
}

static bool probe_cores(struct finding *f)
{
	struct sched_cores before;
	long online = sysconf(_SC_NPROCESSORS_ONLN), usable = 0;
	long known = sysconf(_SC_NPROCESSORS_CONF);

	sched_permitted(&before);
	for (int core = 0; core < known && core < CPU_SETSIZE; core++)
		usable += sched_pin(core);
	sched_unpin(&before);
	snprintf(f->fact, sizeof(f->fact), "%ld of %ld cores may be chosen",
		 usable, online);
	if (usable < online)
		snprintf(f->remedy, sizeof(f->remedy),
			 in_container()
				 ? "docker run --cpuset-cpus 0-%ld ..."
				 : "sudo systemctl set-property user.slice "
				   "AllowedCPUs=0-%ld",
			 online - 1);
	return usable >= online;
}

static bool probe_visit(struct finding *f)
{
	struct visit_shape any = { 8, 0, VISIT_DIRECT, 8, 0, true };
	struct visitor *visitor = NULL;
	struct error err = ERROR_INIT;
	int status = visitor_new(&visitor, &any, &err);

	visitor_free(visitor);
	any.registers = false;
	visitor = NULL;
	if (status && visitor_new(&visitor, &any, NULL) == 0) {
		visitor_free(visitor);
		snprintf(f->fact, sizeof(f->fact),
			 "work, but not for native stacks, which want Linux "
			 "5.15 with BTF");
		return false;
	}
	snprintf(f->fact, sizeof(f->fact), "%.180s; CAP_BPF %s",
		 status ? err.text : "work",
		 has_capability(CAP_BPF_BIT) ? "is there" : "is not");
	if (status == -ERR_PERMISSION)
		remedy_capability(f, "cap_bpf,cap_perfmon",
				  "BPF --cap-add PERFMON");
	return !status;
}

static bool probe_rseq(struct finding *f)
{
	bool has = &__rseq_size && __rseq_size;

	snprintf(f->fact, sizeof(f->fact), "%s",
		 has		? "registered by this C library"
		 : &__rseq_size ? "the kernel has none"
				: "this C library does not use them");
	return has;
}

/* The options of the /proc that we see. */
static bool find_proc_options(char *options, size_t size)
{
	FILE *file = fopen("/proc/self/mounts", "re");
	char line[1024], type[64], where[256];
	bool found = false;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %255s %63s", where, type) == 2 &&
		    !strcmp(type, "proc") && !strcmp(where, "/proc")) {
			snprintf(options, size, "%s", line);
			found = true;
		}
	if (file)
		fclose(file);
	return found;
}

static bool probe_proc(struct finding *f)
{
	char line[1024] = "", *hidden;
	struct error err = ERROR_INIT;

	if (process_check_proc(&err) < 0) {
		snprintf(f->fact, sizeof(f->fact), "%.230s", err.text);
		return false;
	}
	find_proc_options(line, sizeof(line));
	hidden = strstr(line, "hidepid=");
	if (!hidden || !strncmp(hidden, "hidepid=0", 9) ||
	    !strncmp(hidden, "hidepid=off", 11)) {
		snprintf(f->fact, sizeof(f->fact), "not restricted");
		return true;
	}
	hidden[strcspn(hidden, ", \n")] = 0;
	snprintf(f->fact, sizeof(f->fact), "mounted with %.100s", hidden);
	snprintf(f->remedy, sizeof(f->remedy),
		 "sudo mount -o remount,hidepid=0 /proc");
	return false;
}

static bool probe_file(struct finding *f, const char *path, const char *needs)
{
	char text[64];
	bool there = read_file(path, text, sizeof(text));

	if (there)
		snprintf(f->fact, sizeof(f->fact), "%s is there", path);
	else
		snprintf(f->fact, sizeof(f->fact),
			 "%s: %s; needs a kernel "
			 "with %s",
			 path, strerror(errno), needs);
	return there;
}

static bool probe_children(struct finding *f)
{
	return probe_file(f, "/proc/thread-self/children",
			  "CONFIG_PROC_CHILDREN");
}

static bool probe_schedstat(struct finding *f)
{
	return probe_file(f, "/proc/thread-self/schedstat",
			  "CONFIG_SCHED_INFO");
}

static bool probe_syscall(struct finding *f)
{
	return probe_file(f, "/proc/thread-self/syscall",
			  "CONFIG_HAVE_ARCH_TRACEHOOK");
}

static const struct probe {
	const char *what, *purpose;
	enum verdict absence; /* what its failure means */
	bool (*run)(struct finding *f);
} probes[] = {
	{ "kernel", "", VERDICT_LACKING, probe_kernel },
	{ "reading a child's memory", "run, and everything else", VERDICT_FATAL,
	  probe_read },
	{ "attaching to processes of yours", "attach, dump", VERDICT_FATAL,
	  probe_stranger },
	{ "attaching to those of others", "attach, dump of services",
	  VERDICT_LACKING, probe_others },
	{ "vectored reads", "high rates at little cost", VERDICT_LACKING,
	  probe_vector },
	{ "choosing the core", "untorn stacks of generators and coroutines",
	  VERDICT_LACKING, probe_cores },
	{ "BPF programs", "the same at less cost to the program",
	  VERDICT_LACKING, probe_visit },
	{ "restartable sequences", "where a thread runs, without asking",
	  VERDICT_LACKING, probe_rseq },
	{ "times of threads",
	  "who has run since, and where, with older C libraries",
	  VERDICT_LACKING, probe_schedstat },
	{ "system calls of threads", "who waits for the GIL", VERDICT_LACKING,
	  probe_syscall },
	{ "seeing all processes", "finding processes of others",
	  VERDICT_LACKING, probe_proc },
	{ "lists of children", "-s, programs started by a shell",
	  VERDICT_LACKING, probe_children },
	{ "perf events", "native stacks: registers by a clock", VERDICT_LACKING,
	  probe_perf },
	{ "perf events at switches",
	  "native stacks at the least cost, and of threads that wait",
	  VERDICT_LACKING, probe_perf_switch },
	{ "perf events of many threads", "native stacks", VERDICT_LACKING,
	  probe_perf_threads },
	{ "stopping one thread",
	  "native stacks where perf events are forbidden", VERDICT_LACKING,
	  probe_stop },
	{ "perf events of the kernel", "kernel stacks", VERDICT_LACKING,
	  probe_perf_kernel },
};

#define N_PROBES (sizeof(probes) / sizeof(probes[0]))
_Static_assert(N_PROBES <= PERMISSION_FINDINGS_MAX, "room for every probe");

int permission_probe(struct finding out[PERMISSION_FINDINGS_MAX])
{
	for (size_t i = 0; i < N_PROBES; i++) {
		struct finding *f = &out[i];

		*f = (struct finding){ .what = probes[i].what,
				       .purpose = probes[i].purpose };
		f->verdict =
			probes[i].run(f) ? VERDICT_FINE : probes[i].absence;
	}
	return (int)N_PROBES;
}

/* ---- one process ---- */

static void explain_other_user(struct finding *f, long uid, pid_t pid)
{
	char theirs[64], ours[64];

	permission_user_name(uid, theirs);
	permission_user_name((long)geteuid(), ours);
	snprintf(f->fact, sizeof(f->fact),
		 "refused: it runs as user %s, and you are %s", theirs, ours);
	if (in_container())
		remedy_capability(f, "cap_sys_ptrace", "SYS_PTRACE");
	else
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo pyrometer attach %d", (int)pid);
}

void permission_explain(struct finding *out, pid_t pid)
{
	long uid = permission_user(pid), scope = ptrace_scope();

	if (has_capability(CAP_SYS_PTRACE_BIT)) {
		snprintf(out->fact, sizeof(out->fact),
			 "refused, although you have CAP_SYS_PTRACE: it has "
			 "rights that this container or shell has not");
		snprintf(out->remedy, sizeof(out->remedy),
			 "sudo pyrometer attach PID, on the host and not in a "
			 "container");
	} else if (uid != (long)geteuid()) {
		explain_other_user(out, uid, pid);
	} else if (scope > 0) {
		snprintf(out->fact, sizeof(out->fact),
			 "refused: you did not start it from here, and "
			 "ptrace_scope is %ld",
			 scope);
		remedy_scope(out, scope);
	} else {
		snprintf(out->fact, sizeof(out->fact),
			 "refused: it is yours but protected (its program has "
			 "rights of its own, or asked for it)");
		snprintf(out->remedy, sizeof(out->remedy),
			 "sudo pyrometer attach %d", (int)pid);
	}
}
