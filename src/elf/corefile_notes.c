/* The notes of a core file: threads, the signal, the command, mapped files. */
#include <elf.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "elf/corefile_private.h"

#define NOTES_MAX   (256u << 20) /* bytes: some thousands for a thread */
#define THREADS_MAX 1000000
#define FILES_MAX   65536

#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif
#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif

/* One note: its bytes are a copy of the file's. */
struct note {
	uint32_t type;
	const unsigned char *bytes;
	size_t size;
};

/* Whether a call of futex is one that waits; others wake somebody up. */
__attribute__((unused)) static bool waits_on_futex(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
		return true;
	default:
		return false;
	}
}

static void take_registers(struct corefile_thread *t, const void *registers)
{
	struct user_regs_struct r;

	memcpy(&r, registers, sizeof(r));
#if defined(__x86_64__)
	t->registers = (struct cpu_registers){ .pc = r.rip,
					       .sp = r.rsp,
					       .fp = r.rbp,
					       .rbx = r.rbx,
					       .r10 = r.r10 };
	t->thread_pointer = r.fs_base;
	t->call = (int64_t)r.orig_rax;
	t->call_argument = r.rdi;
	if (t->call == SYS_futex && !waits_on_futex(r.rsi))
		t->call = -1;
#else
	t->registers = (struct cpu_registers){
		.pc = r.pc, .sp = r.sp, .fp = r.regs[29], .lr = r.regs[30]
	};
#endif
}

static void take_prstatus(struct core *c, const struct note *n)
{
	struct corefile *f = &c->file;
	struct elf_prstatus status;
	struct corefile_thread *t;

	if (n->size < sizeof(status) || f->n_threads >= THREADS_MAX)
		return;
	memcpy(&status, n->bytes, sizeof(status));
	ALLOC_GROW(f->threads, f->n_threads + 1, c->threads_capacity);
	t = &f->threads[f->n_threads++];
	*t = (struct corefile_thread){ .tid = status.pr_pid,
				       .signal = status.pr_cursig,
				       .call = -1 };
	take_registers(t, &status.pr_reg);
	if (f->n_threads == 1)
		f->signal = status.pr_cursig;
}

static void take_prpsinfo(struct core *c, const struct note *n)
{
	struct elf_prpsinfo info;

	if (n->size < sizeof(info))
		return;
	memcpy(&info, n->bytes, sizeof(info));
	c->file.pid = info.pr_pid;
	c->file.command =
		arena_strndup(&c->arena, info.pr_psargs,
			      strnlen(info.pr_psargs, sizeof(info.pr_psargs)));
}

/* Only that of the first thread: it is the one that ended the process. */
static void take_siginfo(struct core *c, const struct note *n)
{
	struct corefile *f = &c->file;
	siginfo_t info;

	if (n->size < sizeof(info) || f->n_threads > 1)
		return;
	memcpy(&info, n->bytes, sizeof(info));
	f->signal = info.si_signo;
	f->signal_code = info.si_code;
	if (info.si_signo == SIGSEGV || info.si_signo == SIGBUS ||
	    info.si_signo == SIGILL || info.si_signo == SIGFPE)
		f->signal_address = (uintptr_t)info.si_addr;
}

static void take_auxv(struct core *c, const struct note *n)
{
	unsigned char *copy = arena_alloc(&c->arena, n->size + 1);

	memcpy(copy, n->bytes, n->size);
	c->auxv = copy;
	c->auxv_size = n->size;
}

/* Where the thread keeps its variables, which aarch64 tells apart. */
static void take_thread_pointer(struct core *c, const struct note *n)
{
	struct corefile *f = &c->file;

	if (f->n_threads && n->size >= 8)
		memcpy(&f->threads[f->n_threads - 1].thread_pointer, n->bytes,
		       8);
}

static const char *next_string(struct cursor *c)
{
	const char *s = (const char *)c->at;
	const void *end = memchr(c->at, 0, cursor_left(c));

	if (!end)
		return NULL;
	c->at = (const unsigned char *)end + 1;
	return s;
}

/* A count, the unit of the offsets, then {start, end, offset} of each mapping;
 * then their paths, in the same order. */
static void take_files(struct core *c, const struct note *n)
{
	struct cursor rows = cursor_over(n->bytes, n->size);
	uint64_t count = cursor_u64(&rows), unit = cursor_u64(&rows);
	struct maps *maps = &c->file.maps;
	struct cursor texts;

	if (rows.failed || count > FILES_MAX || count > n->size / 24 ||
	    maps->count)
		return;
	texts = rows;
	if (!cursor_bytes(&texts, count * 24))
		return;
	for (uint64_t i = 0; i < count; i++) {
		const char *path = next_string(&texts);
		struct mapping m = { .readable = true, .executable = true };
		uint32_t id;

		m.start = cursor_u64(&rows);
		m.end = cursor_u64(&rows);
		m.offset = cursor_u64(&rows) * unit;
		if (!path)
			break;
		if (m.end <= m.start)
			continue;
		id = intern_string(&c->paths, path);
		m.path = intern_text(&c->paths, id);
		m.inode = id + 1;
		ALLOC_GROW(maps->items, maps->count + 1, maps->capacity);
		maps->items[maps->count++] = m;
	}
}

static const struct taker {
	const char *name;
	uint32_t type;
	void (*take)(struct core *c, const struct note *n);
} takers[] = {
	{ "CORE", NT_PRSTATUS, take_prstatus },
	{ "CORE", NT_PRPSINFO, take_prpsinfo },
	{ "CORE", NT_SIGINFO, take_siginfo },
	{ "CORE", NT_AUXV, take_auxv },
	{ "CORE", NT_FILE, take_files },
	{ "LINUX", NT_ARM_TLS, take_thread_pointer },
};

static void take_note(struct core *c, const char *name, size_t name_size,
		      const struct note *n)
{
	for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
		if (takers[i].type == n->type &&
		    name_size == strlen(takers[i].name) + 1 &&
		    !memcmp(name, takers[i].name, name_size))
			takers[i].take(c, n);
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static void split_notes(struct core *c, const unsigned char *bytes, size_t size)
{
	struct cursor at = cursor_over(bytes, size);

	while (cursor_left(&at) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_size = cursor_u32(&at);
		struct note n = { .size = cursor_u32(&at) };
		const char *name;

		n.type = cursor_u32(&at);
		name = cursor_bytes(&at, padded(name_size));
		n.bytes = cursor_bytes(&at, n.size);
		if (!name || !n.bytes)
			return;
		cursor_bytes(&at, padded((uint32_t)n.size) - n.size);
		take_note(c, name, name_size, &n);
	}
}

int core_take_notes(struct core *c, uint64_t offset, uint64_t size,
		    struct error *err)
{
	unsigned char *bytes = NULL;

	c->notes += size < NOTES_MAX ? size : NOTES_MAX;
	if (size > NOTES_MAX || c->notes > NOTES_MAX)
		return fail(err, ERR_CORRUPT, "'%s' is a broken core file",
			    c->file.path);
	if (offset <= c->size && size <= c->size - offset)
		bytes = xmalloc(size + 1);
	if (!bytes || !core_pread(c, offset, bytes, size)) {
		free(bytes);
		return fail(err, ERR_CORRUPT,
			    "the core file '%s' is cut off within its notes",
			    c->file.path);
	}
	split_notes(c, bytes, size);
	free(bytes);
	return 0;
}

uint64_t core_auxv(const struct core *c, uint64_t type)
{
	struct cursor at = cursor_over(c->auxv, c->auxv_size);

	while (cursor_left(&at) >= 16) {
		uint64_t entry = cursor_u64(&at), value = cursor_u64(&at);

		if (entry == type)
			return value;
	}
	return 0;
}
