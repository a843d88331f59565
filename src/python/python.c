/* Finding CPython.
 *
 * The runtime may be in the executable, in a libpython or in any program that
 * embeds it under any name, so every mapped file is a candidate: those named
 * after Python first, because opening each file of a process costs time.
 *
 *   3.10+   section .PyRuntime
 *   3.7+    symbol _PyRuntime
 *   before  symbol interp_head
 *   stripped: a pointer in .data or .bss to an interpreter, which is known by
 *           its first thread state pointing back at it, and by sys.modules
 *
 * 3.13 and later begin with a cookie and their version. Older ones tell it by
 * the symbol Py_Version (3.11+), else by the text that Py_GetVersion made, else
 * by their file name. */
#include "python/python.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/module.h"
#include "os/process.h"

#define SCAN_MAX     (32u << 20) /* bytes of data searched for an interpreter */
#define GIL_SIZE     256	 /* more than any struct _gil_runtime_state */
#define GIL_BEFORE   32		 /* fields in front of `locked` */
#define PTHREAD_SCAN 2048 /* bytes of struct pthread searched for a tid */

enum symbol {
	SYMBOL_RUNTIME,
	SYMBOL_VERSION,
	SYMBOL_CODE_TYPE,
	SYMBOL_INTERP_HEAD,
	SYMBOL_CURRENT,
	SYMBOL_GIL_COND,
	SYMBOL_GIL_LOCK,
	SYMBOL_VERSION_TEXT,
	SYMBOL_DEBUG,
	SYMBOL_COLLECTING,
	N_SYMBOLS
};

static const char *const symbol_names[] = {
	[SYMBOL_RUNTIME] = "_PyRuntime",
	[SYMBOL_VERSION] = "Py_Version",
	[SYMBOL_CODE_TYPE] = "PyCode_Type",
	[SYMBOL_INTERP_HEAD] = "interp_head",
	[SYMBOL_CURRENT] = "_PyThreadState_Current",
	[SYMBOL_GIL_COND] = "gil_cond",
	[SYMBOL_GIL_LOCK] = "interpreter_lock",
	[SYMBOL_VERSION_TEXT] = "version.0",
	[SYMBOL_COLLECTING] = "collecting",
	[SYMBOL_DEBUG] = "_Py_RefTotal", /* only in debug builds, to 3.11 */
};

struct range {
	uint64_t start, size;
};

/* A mapped file that may hold a Python. */
struct candidate {
	const struct python_host *host;
	const struct mapping *mapping;
	struct module *module;
	uint64_t symbols[N_SYMBOLS]; /* in the process; 0: none */
	uint64_t runtime;	     /* 0: not found by name */
	struct range data, bss, rodata;
};

static uint64_t relocated(uint64_t address, uint64_t bias)
{
	return address ? address + bias : 0;
}

static struct range section_range(struct module *m, const char *name,
				  uint64_t bias)
{
	struct range r = { 0 };

	if (module_section(m, name, &r.start, &r.size))
		r.start += bias;
	return r;
}

static int candidate_open(struct candidate *c, const struct python_host *host,
			  const struct mapping *mapping)
{
	uint64_t bias, section, size;

	memset(c, 0, sizeof(*c));
	c->host = host;
	c->mapping = mapping;
	if (module_open_by(&c->module, host->opener, mapping) < 0)
		return -ERR_NOT_FOUND;
	bias = module_bias(c->module, mapping);
	module_symbols(c->module, symbol_names, c->symbols, N_SYMBOLS);
	for (int i = 0; i < N_SYMBOLS; i++)
		c->symbols[i] = relocated(c->symbols[i], bias);
	c->runtime = c->symbols[SYMBOL_RUNTIME];
	if (module_section(c->module, ".PyRuntime", &section, &size) && section)
		c->runtime = section + bias;
	c->data = section_range(c->module, ".data", bias);
	c->bss = section_range(c->module, ".bss", bias);
	c->rodata = section_range(c->module, ".rodata", bias);
	return 0;
}

static void candidate_release(struct candidate *c)
{
	module_free(c->module);
	c->module = NULL;
}

/* Major and minor digits of "3.8" at s, as 0x0308; 0 when there are none. */
static uint32_t parse_minor(const char *s, const char **end)
{
	unsigned long minor;
	char *after;

	if ((*s != '2' && *s != '3') || s[1] != '.' ||
	    !isdigit((unsigned char)s[2]))
		return 0;
	minor = strtoul(s + 2, &after, 10);
	if (end)
		*end = after;
	return minor < 100 ? (uint32_t)((*s - '0') << 8 | (int)minor) : 0;
}

/* "3.8.18" or "3.8.18+ (default, ...": the full version, or 0. */
static uint32_t parse_full(const char *s, bool need_more)
{
	const char *p;
	uint32_t minor = parse_minor(s, &p);
	unsigned long micro;
	char *after;

	if (!minor || *p != '.' || !isdigit((unsigned char)p[1]))
		return 0;
	micro = strtoul(p + 1, &after, 10);
	while (isalnum((unsigned char)*after) || *after == '+')
		after++;
	if (micro > 255 || (need_more ? strncmp(after, " (", 2) : *after))
		return 0;
	return minor << 16 | (uint32_t)micro << 8 | 0xf0;
}

/* Search bytes for a version of this minor (0: of any); `need_more` as in
 * parse_full. The linker merges strings that end alike, so the text may be the
 * end of another ("Python 3.7.16"). */
static uint32_t search_version(const char *bytes, size_t size, uint32_t minor,
			       bool need_more)
{
	for (size_t i = 1; i + 24 < size; i++) {
		char before = bytes[i - 1], text[24];
		uint32_t version;

		if ((bytes[i] != '2' && bytes[i] != '3') ||
		    bytes[i + 1] != '.' || isdigit((unsigned char)before) ||
		    before == '.')
			continue;
		memcpy(text, bytes + i, sizeof(text) - 1);
		text[sizeof(text) - 1] = 0;
		version = parse_full(text, need_more);
		if (version && (!minor || version >> 16 == minor))
			return version;
	}
	return 0;
}

static char *read_range(struct memory *memory, const struct range *r)
{
	char *bytes;

	if (!r->size || r->size > SCAN_MAX)
		return NULL;
	bytes = xmalloc(r->size);
	if (memory_read(memory, r->start, bytes, r->size) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static uint32_t version_in(struct memory *memory, const struct range *r,
			   uint32_t minor, bool need_more)
{
	char *bytes = read_range(memory, r);
	uint32_t version =
		bytes ? search_version(bytes, r->size, minor, need_more) : 0;

	free(bytes);
	return version;
}

static uint32_t version_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *p = strstr(name ? name : path, "python");
	uint32_t minor = p ? parse_minor(p + strlen("python"), NULL) : 0;

	return minor << 16 | (minor ? 0xf0 : 0);
}

static uint32_t find_version(const struct candidate *c, struct memory *memory)
{
	uint32_t named = version_of_name(c->mapping->path), version = 0;
	char text[64];
	uint32_t hex;

	if (c->symbols[SYMBOL_VERSION] &&
	    !memory_read_u32(memory, c->symbols[SYMBOL_VERSION], &hex))
		return hex;
	if (c->symbols[SYMBOL_VERSION_TEXT] &&
	    !memory_read(memory, c->symbols[SYMBOL_VERSION_TEXT], text,
			 sizeof(text)))
		version = parse_full(text, true);
	if (!version)
		version = version_in(memory, &c->bss, named >> 16, true);
	if (!version)
		version = version_in(memory, &c->rodata, named >> 16, false);
	return version ? version : named;
}

static int set_version(struct python *p, const struct candidate *c,
		       uint32_t version, struct error *err)
{
	const struct layout *layout;

	p->version = version;
	layout = layout_for_version(version, false,
				    c->symbols[SYMBOL_DEBUG] != 0);
	if (!layout)
		return fail(err, ERR_UNSUPPORTED,
			    "%s runs Python %u.%u, which this Pyrometer "
			    "does not know (it knows 2.7 and 3.6 to 3.15)",
			    c->host->name, version >> 24, version >> 16 & 0xff);
	p->layout = *layout;
	return 0;
}

static bool has_cookie(struct memory *memory, uint64_t runtime, uint64_t *hex)
{
	char start[16];

	if (memory_read(memory, runtime, start, sizeof(start)) ||
	    memcmp(start, "xdebugpy", 8))
		return false;
	memcpy(hex, start + 8, 8);
	return true;
}

static bool is_dict(const struct python *p, uint64_t address)
{
	uint64_t type, name;
	char text[8];

	return address &&
	       !memory_read_u64(p->memory, address + p->layout.object.type,
				&type) &&
	       !memory_read_u64(p->memory, type + p->layout.type.name, &name) &&
	       !memory_read_string(p->memory, name, text, sizeof(text)) &&
	       !strcmp(text, "dict");
}

/* Whether an interpreter is at this address: its first thread state points back
 * at it. Other things point at each other as well (the type of types, a list of
 * one object), but they do not have sys.modules. */
static bool is_interpreter_at(const struct python *p, uint64_t interpreter)
{
	const struct layout *l = &p->layout;
	uint64_t thread, back, modules;

	return interpreter >= 4096 && !(interpreter & 7) &&
	       !memory_read_u64(p->memory,
				interpreter + l->interpreter.threads_head,
				&thread) &&
	       thread >= 4096 && !(thread & 7) &&
	       !memory_read_u64(p->memory, thread + l->thread.interpreter,
				&back) &&
	       back == interpreter &&
	       !memory_read_u64(p->memory, interpreter + l->interpreter.modules,
				&modules) &&
	       is_dict(p, modules);
}

static uint64_t scan_range(const struct python *p, const struct range *r)
{
	char *bytes = read_range(p->memory, r);
	uint64_t found = 0;

	for (size_t i = 0; bytes && !found && i + 8 <= r->size; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		if (is_interpreter_at(p, word))
			found = r->start + i;
	}
	free(bytes);
	return found;
}

/* A stripped Python: the first pointer to an interpreter is the list's head
 * (in the runtime, and in interp_head before that). */
static uint64_t scan_for_interpreters(const struct python *p,
				      const struct candidate *c)
{
	uint64_t found = scan_range(p, &c->bss);

	return found ? found : scan_range(p, &c->data);
}

void python_learn_gil(struct python *p)
{
	uint64_t lock;

	if (!p->gil_lock || p->gil_start ||
	    memory_read_u64(p->memory, p->gil_lock, &lock) || !lock)
		return;
	p->gil_start = lock;
	p->gil_end = lock + 128;
}

static void take_old_statics(struct python *p, const struct candidate *c)
{
	p->current = c->symbols[SYMBOL_CURRENT];
	p->collecting = c->symbols[SYMBOL_COLLECTING];
	if (c->symbols[SYMBOL_GIL_COND]) {
		p->gil_start = c->symbols[SYMBOL_GIL_COND];
		p->gil_end = p->gil_start + 64;
	}
	p->gil_lock = c->symbols[SYMBOL_GIL_LOCK];
	python_learn_gil(p);
}

static void take_runtime(struct python *p, uint64_t runtime)
{
	const struct layout *l = &p->layout;

	p->runtime = runtime;
	p->interpreters = runtime + l->runtime.interpreters_head;
	if (l->runtime.current != LAYOUT_RUNTIME_NONE)
		p->current = runtime + l->runtime.current;
	if (l->gil_style == GIL_RUNTIME &&
	    l->runtime.gil_locked != LAYOUT_RUNTIME_NONE) {
		p->gil_start = runtime + l->runtime.gil_locked - GIL_BEFORE;
		p->gil_end = p->gil_start + GIL_SIZE;
	}
}

static int take_described(struct python *p, const struct candidate *c,
			  uint32_t version, struct error *err)
{
	int status;

	p->version = version;
	status = layout_from_debug_offsets(&p->layout, p->memory, c->runtime,
					   err);
	if (status < 0)
		return err ? error_context(err, "%s", c->host->name) : status;
	take_runtime(p, c->runtime);
	return 0;
}

/* A Python older than 3.13 in this candidate. */
static int take_tabled(struct python *p, const struct candidate *c,
		       struct error *err)
{
	uint64_t found;
	int status = set_version(p, c, find_version(c, p->memory), err);

	if (status < 0)
		return status;
	if (c->runtime && p->version >= 0x03070000) {
		take_runtime(p, c->runtime);
		return 0;
	}
	found = c->symbols[SYMBOL_INTERP_HEAD];
	if (!found)
		found = scan_for_interpreters(p, c);
	if (!found)
		return -ERR_NOT_PYTHON;
	if (p->version >= 0x03070000) {
		take_runtime(p, found - p->layout.runtime.interpreters_head);
		return 0;
	}
	p->interpreters = found;
	take_old_statics(p, c);
	return 0;
}

static int try_candidate(struct python *p, struct candidate *c, bool named,
			 struct error *err)
{
	const char *name = strrchr(c->mapping->path, '/');
	uint64_t hex;
	int status;

	if (c->runtime && has_cookie(p->memory, c->runtime, &hex))
		status = take_described(p, c, (uint32_t)hex, err);
	else if (c->runtime || c->symbols[SYMBOL_INTERP_HEAD])
		status = take_tabled(p, c, err);
	else if ((named || c->symbols[SYMBOL_CODE_TYPE]) &&
		 take_tabled(p, c, NULL) == 0)
		status = 0; /* stripped */
	else
		return -ERR_NOT_PYTHON;
	if (status == 0) {
		p->code_type = c->symbols[SYMBOL_CODE_TYPE];
		snprintf(p->module, sizeof(p->module), "%s",
			 name ? name + 1 : c->mapping->path);
	}
	return status;
}

/* The mapping of a file with the lowest address stands for the file. */
static bool is_first_of_file(const struct maps *maps, size_t i)
{
	const struct mapping *m = &maps->items[i];

	if (m->path[0] != '/' || !m->inode)
		return false;
	for (size_t k = i; k-- > 0;)
		if (maps->items[k].inode == m->inode &&
		    maps->items[k].device == m->device)
			return false;
	return true;
}

/* 0: named after Python; 1: the executable; 2: any other. */
static int rank(const struct mapping *m, const char *exe)
{
	const char *name = strrchr(m->path, '/') + 1;

	if (!strncmp(name, "python", 6) || !strncmp(name, "libpython", 9))
		return 0;
	return strcmp(m->path, exe) ? 2 : 1;
}

static int try_mapping(struct python *p, const struct python_host *host,
		       const struct mapping *mapping, bool named,
		       struct error *err)
{
	struct candidate c;
	int status;

	if (candidate_open(&c, host, mapping) < 0)
		return -ERR_NOT_PYTHON;
	status = try_candidate(p, &c, named, err);
	candidate_release(&c);
	return status;
}

static bool has_started(const struct python *p)
{
	uint64_t interpreter = 0;

	memory_read_u64(p->memory, p->interpreters, &interpreter);
	return interpreter != 0;
}

/* Find a Python that has started in the mappings of this rank. One that has
 * not goes to `idle`, the first of them: it may be about to, or it is a library
 * that nobody uses, since the program has a Python of its own. */
static int find_of_rank(struct python *p, const struct python_host *host,
			int wanted, struct python *idle, struct error *err)
{
	const struct maps *maps = host->maps;
	const struct python blank = *p;

	for (size_t i = 0; i < maps->count; i++) {
		int status;

		if (!is_first_of_file(maps, i) ||
		    rank(&maps->items[i], host->exe) != wanted)
			continue;
		*p = blank;
		status =
			try_mapping(p, host, &maps->items[i], wanted == 0, err);
		if (status == 0 && !has_started(p)) {
			if (!idle->interpreters)
				*idle = *p;
		} else if (status != -ERR_NOT_PYTHON) {
			return status;
		}
	}
	*p = blank;
	return -ERR_NOT_PYTHON;
}

/* A Python whose file was replaced, as by an upgrade, while it runs: what is
 * mapped can then be opened by root alone. NULL: there is none. */
static const struct mapping *deleted_python(const struct maps *maps)
{
	static const char end[] = " (deleted)";

	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *m = &maps->items[i];
		size_t n = strlen(m->path);

		if (is_first_of_file(maps, i) && rank(m, "") == 0 &&
		    n > strlen(end) && !strcmp(m->path + n - strlen(end), end))
			return m;
	}
	return NULL;
}

static int fail_to_find(const struct python_host *host, struct error *err)
{
	const struct mapping *deleted = deleted_python(host->maps);

	if (deleted && geteuid())
		return fail(err, ERR_NOT_PYTHON,
			    "%s runs %s, which only root can open now; use "
			    "sudo, or start the process anew",
			    host->name, deleted->path);
	return fail(err, ERR_NOT_PYTHON, "%s (%s) does not run Python",
		    host->name, host->exe[0] ? host->exe : "no executable");
}

static int find_in_maps(struct python *p, const struct python_host *host,
			struct error *err)
{
	struct python idle = { 0 };

	for (int wanted = 0; wanted < 3; wanted++) {
		int status;

		if (wanted == 2 && idle.interpreters)
			break; /* opening all other files takes too long */
		status = find_of_rank(p, host, wanted, &idle, err);
		if (status != -ERR_NOT_PYTHON)
			return status;
	}
	if (idle.interpreters) {
		*p = idle;
		return 0;
	}
	return fail_to_find(host, err);
}

static bool begins_with(const char *path, const char *prefix)
{
	const char *name = strrchr(path, '/');

	return name && !strncmp(name + 1, prefix, strlen(prefix));
}

/* What glibc says of itself to debuggers: sizes and offsets of struct pthread,
 * and since 2.35 where threads keep their restartable-sequence area, in which
 * the kernel writes the core they run on. */
static void take_libc(struct python *p, const struct python_host *host,
		      const struct mapping *mapping)
{
	static const char *const names[] = { "__rseq_offset",
					     "_thread_db_pthread_tid",
					     "_thread_db_sizeof_pthread",
					     "__rseq_size" };
	uint64_t values[4], bias;
	uint32_t field[3], size;
	struct module *m;

	if (module_open_by(&m, host->opener, mapping) < 0)
		return;
	bias = module_bias(m, mapping);
	module_symbols(m, names, values, 4);
	if (values[0] && values[3] &&
	    !memory_read(p->memory, values[0] + bias, &p->rseq,
			 sizeof(p->rseq)) &&
	    !memory_read_u32(p->memory, values[3] + bias, &size))
		p->has_rseq = p->rseq && size; /* 0: the kernel has none */
	if (values[1] &&
	    !memory_read(p->memory, values[1] + bias, field, sizeof(field)) &&
	    field[0] == 32 && field[2] < PTHREAD_SCAN)
		p->pthread_tid = (uint16_t)field[2];
		/* Where TLS lies above the thread pointer, struct pthread lies
		 * below. */
#if defined(__aarch64__)
	if (values[2] && !memory_read_u32(p->memory, values[2] + bias, &size))
		p->thread_pointer = size;
#endif
	module_free(m);
}

static void find_libc(struct python *p, const struct python_host *host)
{
	const struct maps *maps = host->maps;
	static const char *const prefixes[] = { "ld-", "libc.so", "libc-2",
						"libpthread" };

	p->knows_libc = true;
	for (size_t i = 0; i < maps->count; i++)
		for (size_t k = 0; k < sizeof(prefixes) / sizeof(*prefixes);
		     k++)
			if (begins_with(maps->items[i].path, prefixes[k]) &&
			    is_first_of_file(maps, i))
				take_libc(p, host, &maps->items[i]);
}

/* The host that a live process is. */
struct process_host {
	struct python_host host;
	struct process_opener opener;
	struct maps maps;
	char name[32], exe[PATH_MAX];
};

static int process_host_open(struct process_host *h, pid_t pid,
			     struct memory *memory, struct error *err)
{
	*h = (struct process_host){ .maps = MAPS_INIT };
	snprintf(h->name, sizeof(h->name), "process %d", (int)pid);
	process_exe(pid, h->exe);
	h->opener = opener_of_process(pid);
	h->host = (struct python_host){ .name = h->name,
					.pid = pid,
					.memory = memory,
					.maps = &h->maps,
					.opener = &h->opener.opener,
					.exe = h->exe };
	return maps_read(&h->maps, pid, err);
}

void python_learn_libc(struct python *p)
{
	struct process_host h;

	p->knows_libc = true;
	if (p->pid && process_host_open(&h, p->pid, p->memory, NULL) == 0) {
		find_libc(p, &h.host);
		maps_release(&h.maps);
	}
}

/* /proc/PID/maps may be readable where the memory is not. */
static int check_permission(const struct process_host *h, struct error *err)
{
	char byte;
	int status = 0;

	for (size_t i = 0; i < h->maps.count; i++)
		if (h->maps.items[i].readable) {
			status = memory_read(h->host.memory,
					     h->maps.items[i].start, &byte, 1);
			break;
		}
	if (status == -ERR_PERMISSION)
		return fail(err, ERR_PERMISSION,
			    "no permission to read the memory of process %d; "
			    "'pyrometer doctor %d' tells what to do",
			    (int)h->host.pid, (int)h->host.pid);
	return 0;
}

int python_open_in(struct python *out, const struct python_host *host,
		   struct error *err)
{
	int status;

	*out = (struct python){ .pid = host->pid,
				.memory = host->memory,
				.pthread_tid = LAYOUT_NONE };
	status = find_in_maps(out, host, err);
	if (status == 0 && has_started(out)) {
		find_libc(out, host);
		/* It may have started since its maps were read. */
		out->knows_libc = out->pthread_tid != LAYOUT_NONE;
	}
	return status;
}

int python_open(struct python *out, pid_t pid, struct memory *memory,
		struct error *err)
{
	struct process_host h;
	int status;

	if (process_state(pid) == 'Z')
		return fail(err, ERR_GONE, "process %d has ended", (int)pid);
	status = process_host_open(&h, pid, memory, err);
	if (status == 0)
		status = check_permission(&h, err);
	if (status == 0)
		status = python_open_in(out, &h.host, err);
	maps_release(&h.maps);
	return status;
}

void python_version_text(const struct python *p, char *into, size_t size)
{
	static const char *const levels[16] = {
		[0xa] = "a", [0xb] = "b", [0xc] = "rc"
	};
	const char *level = levels[p->version >> 4 & 15];
	char serial[16] = "";

	if (level)
		snprintf(serial, sizeof(serial), "%s%u", level,
			 p->version & 15);
	snprintf(into, size, "%u.%u.%u%s%s%s", p->version >> 24,
		 p->version >> 16 & 0xff, p->version >> 8 & 0xff, serial,
		 p->layout.free_threaded ? " free-threading" : "",
		 p->layout.debug ? " debug" : "");
}

pid_t python_tid_of(const struct python *p, uint64_t pthread)
{
	uint32_t tid;

	if (p->pthread_tid == LAYOUT_NONE || !pthread ||
	    memory_read_u32(p->memory, pthread + p->pthread_tid, &tid))
		return 0;
	return (pid_t)tid;
}
