/* The command line of a program from its stack.
 *
 * A core file has 80 bytes of it in a note. The rest is where the kernel put it
 * when the program began: the number of arguments, a pointer to each, 0,
 * pointers to the environment, 0, then the auxiliary vector, of which the core
 * file has a copy: that is found again in the stack, and the way back from it
 * leads to the arguments. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "elf/corefile_private.h"

#define SEARCHED      (8u << 20) /* bytes of stack */
#define ARGUMENTS_MAX 10000
#define COMMAND_MAX   (64u << 10) /* bytes */
#define MARK	      32	  /* bytes of the vector that must agree */

struct words {
	uint64_t *at;
	size_t n;
};

/* The stack below where the program's name stands, as words. */
static struct words read_stack(struct core *c)
{
	uint64_t end = core_auxv(c, AT_EXECFN) & ~(uint64_t)7, start = 0;
	struct words w = { 0 };

	for (uint32_t i = 0; i < c->n_segments; i++)
		if (c->segments[i].start <= end &&
		    end - c->segments[i].start < c->segments[i].size)
			start = c->segments[i].start;
	start = (start + 7) & ~(uint64_t)7;
	if (!start || start >= end)
		return w;
	if (end - start > SEARCHED)
		start = end - SEARCHED;
	w.n = (size_t)(end - start) / 8;
	w.at = xcalloc(w.n, 8);
	if (memory_read(c->file.memory, start, w.at, w.n * 8) < 0)
		w.n = 0;
	return w;
}

/* Where the auxiliary vector begins; 0: not found. */
static size_t find_auxv(const struct core *c, const struct words *w)
{
	for (size_t i = w->n; c->auxv_size >= MARK && i-- > MARK / 8;)
		if (i + MARK / 8 <= w->n && !memcmp(&w->at[i], c->auxv, MARK))
			return i;
	return 0;
}

/* Back from the end of a list of pointers, where 0 stands, to its first one. */
static size_t list_start(const struct words *w, size_t end)
{
	size_t i = end;

	while (i > 0 && w->at[i - 1])
		i--;
	return i;
}

static const char *join(struct core *c, const uint64_t *arguments, size_t n)
{
	struct buffer text = BUFFER_INIT;
	char word[4096];
	const char *kept;

	for (size_t i = 0; i < n && text.size < COMMAND_MAX; i++) {
		int status = memory_read_string(c->file.memory, arguments[i],
						word, sizeof(word));

		word[sizeof(word) - 1] = 0;
		if (status < 0 && status != -ERR_LIMIT)
			break;
		if (i)
			buffer_add_byte(&text, ' ');
		buffer_add_string(&text, word);
	}
	kept = text.size ? arena_strdup(&c->arena, buffer_text(&text)) : NULL;
	buffer_release(&text);
	return kept;
}

const char *core_command(struct core *c)
{
	struct words w = read_stack(c);
	size_t vector = find_auxv(c, &w), end;
	const char *command = NULL;

	if (vector > 2) {
		end = list_start(&w, vector - 1); /* the environment */
		for (size_t n = 1; end > n + 1 && n < ARGUMENTS_MAX; n++)
			if (w.at[end - 2 - n] == n) {
				command = join(c, &w.at[end - 1 - n], n);
				break;
			}
	}
	free(w.at);
	return command;
}
