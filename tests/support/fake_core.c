#include "fake_core.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/user.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static void pad(struct buffer *b, size_t align)
{
	while (b->size % align)
		buffer_add_byte(b, 0);
}

static void add_note(struct buffer *b, const char *name, uint32_t type,
		     const void *bytes, size_t size)
{
	buffer_add_u32(b, (uint32_t)strlen(name) + 1);
	buffer_add_u32(b, (uint32_t)size);
	buffer_add_u32(b, type);
	buffer_add(b, name, strlen(name) + 1);
	pad(b, 4);
	buffer_add(b, bytes, size);
	pad(b, 4);
}

static void add_thread(struct buffer *b, const struct fake_core_thread *t,
		       int signal)
{
	struct elf_prstatus status = { .pr_cursig = (short)signal,
				       .pr_pid = t->tid };
	struct user_regs_struct r = { 0 };

#if defined(__x86_64__)
	r.rip = t->pc;
	r.rsp = t->sp;
	r.rbp = t->fp;
	r.fs_base = t->thread_pointer;
	r.orig_rax = (uint64_t)t->call;
	r.rdi = t->call_argument;
#else
	r.pc = t->pc;
	r.sp = t->sp;
	r.regs[29] = t->fp;
#endif
	memcpy(&status.pr_reg, &r, sizeof(r));
	add_note(b, "CORE", NT_PRSTATUS, &status, sizeof(status));
	add_note(b, "LINUX", NT_ARM_TLS, &t->thread_pointer, 8);
}

static void add_process(struct buffer *b, const struct fake_core *core)
{
	struct elf_prpsinfo info = { .pr_pid = core->pid };

	snprintf(info.pr_psargs, sizeof(info.pr_psargs), "%s", core->command);
	add_note(b, "CORE", NT_PRPSINFO, &info, sizeof(info));
}

static void add_signal(struct buffer *b, const struct fake_core *core)
{
	siginfo_t info = { .si_signo = core->signal };

	info.si_addr = (void *)(uintptr_t)core->fault;
	add_note(b, "CORE", NT_SIGINFO, &info, sizeof(info));
}

static void add_files(struct buffer *b, const struct fake_core *core)
{
	struct buffer rows = BUFFER_INIT;

	buffer_add_u64(&rows, core->n_files);
	buffer_add_u64(&rows, 4096);
	for (size_t i = 0; i < core->n_files; i++) {
		buffer_add_u64(&rows, core->files[i].start);
		buffer_add_u64(&rows, core->files[i].end);
		buffer_add_u64(&rows, core->files[i].offset);
	}
	for (size_t i = 0; i < core->n_files; i++)
		buffer_add(&rows, core->files[i].path,
			   strlen(core->files[i].path) + 1);
	add_note(b, "CORE", NT_FILE, rows.data, rows.size);
	buffer_release(&rows);
}

static void add_notes(struct buffer *b, const struct fake_core *core)
{
	for (size_t i = 0; i < core->n_threads; i++) {
		add_thread(b, &core->threads[i], core->signal);
		if (i)
			continue;
		add_process(b, core);
		add_signal(b, core);
		add_note(b, "CORE", NT_AUXV, core->auxv, core->n_auxv * 8);
		add_files(b, core);
	}
}

static void add_program_header(struct buffer *b, uint32_t type, uint64_t offset,
			       uint64_t start, uint64_t kept, uint64_t size)
{
	Elf64_Phdr p = { .p_type = type,
			 .p_flags = PF_R | PF_W,
			 .p_offset = offset,
			 .p_vaddr = start,
			 .p_filesz = kept,
			 .p_memsz = size };

	buffer_add(b, &p, sizeof(p));
}

void fake_core_write(const struct fake_core *core, struct buffer *out)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				      ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_CORE,
			 .e_machine = MACHINE,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = (Elf64_Half)(core->n_segments + 1) };
	struct buffer notes = BUFFER_INIT;
	uint64_t at;

	add_notes(&notes, core);
	buffer_add(out, &h, sizeof(h));
	at = sizeof(h) + h.e_phnum * sizeof(Elf64_Phdr);
	add_program_header(out, PT_NOTE, at, 0, notes.size, 0);
	at += notes.size;
	for (size_t i = 0; i < core->n_segments; i++) {
		const struct fake_core_segment *s = &core->segments[i];

		add_program_header(out, PT_LOAD, at, s->start, s->kept,
				   s->size);
		at += s->kept;
	}
	buffer_add(out, notes.data, notes.size);
	for (size_t i = 0; i < core->n_segments; i++)
		buffer_add(out, core->segments[i].bytes,
			   core->segments[i].kept);
	buffer_release(&notes);
}

void fake_core_sample(const char *path, struct buffer *out)
{
	static const uint64_t stack_at = 0x7fff00000000;
	static const uint64_t auxv[] = { AT_PAGESZ, 4096,      AT_PHDR,
					 0x400040,  AT_EXECFN, 0x7fff00000100,
					 AT_NULL,   0 };
	static const uint64_t stack[40] = {
		[2] = 2,
		stack_at + 0xc0,
		stack_at + 0xc8,
		0,
		stack_at + 0xd0,
		0,
		AT_PAGESZ,
		4096,
		AT_PHDR,
		0x400040,
		AT_EXECFN,
		stack_at + 0x100,
		[24] = 0x6e6f68747970 /* "python" */,
		0x79702e61 /* "a.py" */,
		0x313d41 /* "A=1" */,
		[32] = 0x6e6f68747970,
	};
	static const unsigned char data[4096] = "the data of the program";
	const struct fake_core_thread threads[] = {
		{ 100, 0x400100, stack_at, 0x7fff00000010, 0x7000, -1, 0 },
		{ 101, 0x400200, stack_at, 0, 0x8000, SYS_futex, 0x600010 },
	};
	const struct fake_core_mapped files[] = {
		{ 0x400000, 0x402000, 0, path },
		{ 0x500000, 0x501000, 1, path },
		{ 0x700000, 0x701000, 0, "/no/such/file" },
	};
	const struct fake_core_segment segments[] = {
		{ 0x400000, 0x2000, data, 0 },
		{ 0x500000, 0x2000, data, 4096 },
		{ 0x600000, 0x1000, data, 4096 },
		{ stack_at, 0x1000, stack, sizeof(stack) },
	};
	const struct fake_core core = {
		.pid = 100,
		.signal = SIGSEGV,
		.fault = 0x666,
		.command = "python a.p",
		.threads = threads,
		.n_threads = 2,
		.files = files,
		.n_files = 3,
		.segments = segments,
		.n_segments = 4,
		.auxv = auxv,
		.n_auxv = 8,
	};

	fake_core_write(&core, out);
}
