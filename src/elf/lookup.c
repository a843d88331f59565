#include "elf/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "elf/lookup_child.h"

#define STARTS_MAX    4 /* children, one after the other */
#define PATIENCE      (20ull * NS_PER_SECOND)
#define FIRST	      (120ull * NS_PER_SECOND) /* reading a large file */
#define DOWNLOAD      (600ull * NS_PER_SECOND)
#define SLICE_MS      100 /* between looks at the flag */
#define ANSWER_MAX    (4u << 20)
#define NAME_SENT_MAX 16384

struct lookup {
	const struct lookup_files *files;
	pid_t child; /* 0: none */
	int to, from;
	int starts;
	bool answered; /* the child has done its first reading */
	uint64_t patience;
	const volatile sig_atomic_t *stop;
};

struct lookup *lookup_new(const struct lookup_files *files)
{
	struct lookup *l = xcalloc(1, sizeof(*l));

	l->files = files;
	return l;
}

void lookup_limit(struct lookup *l, uint64_t patience,
		  const volatile sig_atomic_t *stop)
{
	l->patience = patience;
	l->stop = stop;
}

static void end_child(struct lookup *l)
{
	if (!l->child)
		return;
	close(l->to);
	close(l->from);
	kill(l->child, SIGKILL);
	while (waitpid(l->child, NULL, 0) < 0 && errno == EINTR)
		;
	l->child = 0;
}

void lookup_free(struct lookup *l)
{
	if (!l)
		return;
	end_child(l);
	free(l);
}

static bool start_child(struct lookup *l)
{
	int in[2], out[2];
	pid_t parent = getpid();

	if (l->starts++ >= STARTS_MAX || pipe2(in, O_CLOEXEC))
		return false;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	l->child = fork();
	if (l->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			lookup_serve(l->files, in[0], out[1]);
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	l->to = in[1];
	l->from = out[0];
	l->answered = false;
	if (l->child > 0)
		return true;
	l->child = 0;
	close(l->to);
	close(l->from);
	return false;
}

static uint64_t patience(const struct lookup *l)
{
	if (l->patience)
		return l->patience;
	if (l->answered)
		return PATIENCE;
	return debugfile_may_download() ? DOWNLOAD : FIRST;
}

/* Wait until the descriptor is ready; false: too late, or told to stop. */
static bool wait_for(const struct lookup *l, int fd, short event,
		     uint64_t deadline)
{
	struct pollfd p = { fd, event, 0 };

	while (!l->stop || !*l->stop) {
		int n = poll(&p, 1, SLICE_MS);

		if (n > 0)
			return true;
		if ((n < 0 && errno != EINTR) || clock_now() > deadline)
			return false;
	}
	return false;
}

static bool receive(const struct lookup *l, void *into, size_t size,
		    uint64_t deadline)
{
	unsigned char *at = into;

	while (size) {
		ssize_t n;

		if (!wait_for(l, l->from, POLLIN, deadline))
			return false;
		n = read(l->from, at, size);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* A question is smaller than a pipe, and the pipe is empty when one is sent:
 * writing does not block. The child may be dead, which must not kill us. */
static bool send_question(struct lookup *l, uint64_t address,
			  const struct lookup_hint *hint)
{
	struct lookup_question question = {
		.address = address,
		.size = (uint32_t)strnlen(hint->symbol, NAME_SENT_MAX),
		.sure = hint->sure,
	};
	struct buffer bytes = BUFFER_INIT;
	sigset_t pipe_signal, before;
	ssize_t n;

	buffer_add(&bytes, &question, sizeof(question));
	buffer_add(&bytes, hint->symbol, question.size);
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	while ((n = write(l->to, bytes.data, bytes.size)) < 0 && errno == EINTR)
		;
	if (n < 0 && errno == EPIPE)
		sigtimedwait(&pipe_signal, NULL, &(struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	n -= (ssize_t)bytes.size;
	buffer_release(&bytes);
	return n == 0;
}

static bool exchange(struct lookup *l, uint64_t address,
		     const struct lookup_hint *hint, struct buffer *answer)
{
	uint64_t deadline = clock_now() + patience(l);
	uint32_t size;

	buffer_reset(answer);
	if (!send_question(l, address, hint) ||
	    !receive(l, &size, sizeof(size), deadline) || size > ANSWER_MAX ||
	    !receive(l, buffer_reserve(answer, size), size, deadline))
		return false;
	answer->size = size;
	l->answered = true;
	return true;
}

static bool read_frame(struct cursor *c, struct lookup_frame *f)
{
	f->line = cursor_u32(c);
	f->first_line = cursor_u32(c);
	f->inlined = cursor_byte(c);
	f->name = cursor_blob(c, &f->name_size);
	f->file = cursor_blob(c, &f->file_size);
	return !c->failed;
}

uint32_t lookup_ask(struct lookup *l, uint64_t address,
		    const struct lookup_hint *hint, struct buffer *answer,
		    struct lookup_frame *frames, uint32_t max)
{
	struct cursor c;
	uint32_t n = 0;

	if (!l->child && !start_child(l))
		return 0;
	if (!exchange(l, address, hint, answer)) {
		end_child(l);
		return 0;
	}
	c = cursor_over(answer->data, answer->size);
	while (n < max && cursor_left(&c) && read_frame(&c, &frames[n]))
		n++;
	return n;
}
