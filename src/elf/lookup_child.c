#include "elf/lookup_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/debuginfo.h"
#include "elf/demangle.h"

#define FRAMES_MAX 64
#define SYMBOL_MAX (1 << 20)
#define TEXT_MAX   16384	/* bytes of a name or a path that is sent */
#define MEMORY_MAX (6ull << 30) /* bytes; or half of what the machine has */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Nobody but our parent ends us, save for what we do ourselves, and that is
 * not to be caught by handlers that were made for the parent. */
static void set_signals(void)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		signal(own[i], SIG_DFL);
		sigdelset(&all, own[i]);
	}
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static bool is_kept(const struct lookup_files *files, int fd, int in, int out)
{
	return fd == in || fd == out || fd == files->object ||
	       fd == files->debug || fd == files->roots.target ||
	       fd == files->roots.host;
}

static void close_from_to(int first, int last)
{
	struct rlimit limit;

	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < (rlim_t)last)
		last = (int)limit.rlim_cur;
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

/* Others wait for the end of pipes that we would hold open. */
static void close_others(const struct lookup_files *files, int in, int out)
{
	int kept[] = { in,
		       out,
		       files->object,
		       files->debug,
		       files->roots.target,
		       files->roots.host };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), first = 3, most = 2;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		most = kept[i] > most ? kept[i] : most;
	for (int fd = 0; fd < 2; fd++)
		if (null >= 0 && !is_kept(files, fd, in, out))
			dup2(null, fd);
	for (int fd = 3; fd <= most; fd++)
		if (is_kept(files, fd, in, out)) {
			close_from_to(first, fd - 1);
			first = fd + 1;
		}
	close_from_to(first, INT_MAX);
}

/* The core of a crash would be nobody's concern. */
static void set_limits(void)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 *
			(uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = half < MEMORY_MAX ? half : MEMORY_MAX;
	struct rlimit memory = { most, most };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) == 4)
		close(fd);
	prctl(PR_SET_DUMPABLE, 0);
#ifndef SANITIZED
	setrlimit(RLIMIT_DATA, &memory);
#else
	(void)memory;
#endif
}

/* From here on libdw cannot open what a file tells it to. */
static void open_no_more(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &files);
}

static struct debuginfo *open_debuginfo(const struct lookup_files *f)
{
	int places[] = { f->debug, f->object };
	struct debuginfo *d = NULL;
	int fd;

	for (size_t i = 0; i < 2 && !d; i++)
		if (places[i] >= 0)
			d = debuginfo_open(places[i], f->path, &f->roots,
					   f->host_files);
	if (d || !f->build_id[0] || (fd = debugfile_download(f->build_id)) < 0)
		return d;
	return debuginfo_open(fd, f->path, &f->roots, f->host_files);
}

static bool read_all(int fd, void *into, size_t size)
{
	unsigned char *at = into;

	while (size) {
		ssize_t n = read(fd, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static bool write_all(int fd, const struct buffer *b)
{
	size_t done = 0;

	while (done < b->size) {
		ssize_t n = write(fd, b->data + done, b->size - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static void add_text(struct buffer *out, const char *text)
{
	buffer_add_blob(out, text ? text : "",
			text ? strnlen(text, TEXT_MAX) : 0);
}

static void add_frame(struct buffer *out, const struct debuginfo_frame *f)
{
	buffer_add_u32(out, f->line);
	buffer_add_u32(out, f->first_line);
	buffer_add_byte(out, f->inlined);
	add_text(out, f->name);
	add_text(out, f->file);
}

/* Whether the symbol is the name with what Fortran appends to it: work_, and
 * work.0 for a procedure inside of another. */
static bool is_decorated(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(symbol, name, n))
		return false;
	if (!strcmp(symbol + n, "_"))
		return true;
	return symbol[n] == '.' && symbol[n + 1] &&
	       !symbol[n + 1 + strspn(symbol + n + 1, "0123456789")];
}

/* The symbol table knows better what the function itself is called: DWARF does
 * not tell aliases. */
static void set_name(struct debuginfo_frame *f, const char *symbol, bool sure)
{
	if (!symbol[0] || (f->name && (!sure || is_decorated(symbol, f->name))))
		return;
	free(f->name);
	f->name = demangle(symbol);
}

static void answer(struct debuginfo *d, const struct lookup_question *q,
		   const char *symbol, struct buffer *out)
{
	struct debuginfo_frame frames[FRAMES_MAX] = { 0 };
	uint32_t n = 0;

	if (d)
		n = debuginfo_find(d, q->address, frames, FRAMES_MAX);
	if (!n && symbol[0])
		n = 1;
	if (n && !frames[n - 1].inlined)
		set_name(&frames[n - 1], symbol, q->sure);
	buffer_reset(out);
	buffer_add_u32(out, 0);
	for (uint32_t i = 0; i < n; i++) {
		add_frame(out, &frames[i]);
		free(frames[i].name);
		free(frames[i].file);
	}
	n = (uint32_t)out->size - 4;
	memcpy(out->data, &n, 4);
}

void lookup_serve(const struct lookup_files *files, int in, int out)
{
	struct lookup_question question;
	struct buffer reply = BUFFER_INIT;
	struct debuginfo *d;

	set_signals();
	close_others(files, in, out);
	set_limits();
	d = open_debuginfo(files);
	open_no_more();
	while (read_all(in, &question, sizeof(question)) &&
	       question.size < SYMBOL_MAX) {
		char *symbol = xcalloc(1, question.size + 1);

		if (!read_all(in, symbol, question.size))
			break;
		answer(d, &question, symbol, &reply);
		free(symbol);
		if (!write_all(out, &reply))
			break;
	}
}
