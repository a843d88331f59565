#include "elf/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"

#define PATH	  "/proc/kallsyms"
#define LIST_MAX  (256u << 20) /* bytes */
#define SIZE_LAST 4096	       /* of what nothing follows, or not soon */
#define SIZE_MAX_ (1u << 20)   /* of a function of the kernel */

struct line {
	uint64_t address;
	char kind;
	const char *name, *owner;
	size_t name_size, owner_size;
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The word at *at, whose end is its size further; *at goes behind it. */
static const char *take_word(const char **at, const char *end, size_t *size)
{
	const char *word = *at;

	while (word < end && (*word == ' ' || *word == '\t'))
		word++;
	*at = word;
	while (*at < end && **at != ' ' && **at != '\t')
		++*at;
	*size = (size_t)(*at - word);
	return word;
}

/* "ffffffff81000000 T _text" or "... t name	[module]". */
static bool parse_line(const char *at, const char *end, struct line *l)
{
	size_t size;
	const char *word = take_word(&at, end, &size);

	l->address = 0;
	for (size_t i = 0; i < size; i++) {
		if (digit(word[i]) < 0 || l->address >> 60)
			return false;
		l->address = l->address << 4 | (uint64_t)digit(word[i]);
	}
	word = take_word(&at, end, &size);
	l->kind = *word;
	if (size != 1)
		return false;
	l->name = take_word(&at, end, &l->name_size);
	l->owner = take_word(&at, end, &l->owner_size);
	return l->name_size > 0;
}

static bool is_code(const struct line *l)
{
	return memchr("tTwW", l->kind, 4) && l->name[0] != '$';
}

/* A function ends where the next thing begins. Aliases are at one address; of
 * them the last one that the list names is shown. */
static void set_ends(struct code_names *names)
{
	uint64_t next = 0;

	code_names_find(names, 0); /* brings them into order */
	names->longest = 0;
	for (uint32_t i = names->count; i-- > 0;) {
		struct code_piece *p = &names->items[i];

		if (i + 1 < names->count && p[1].start > p->start)
			next = p[1].start;
		p->end = p->start + SIZE_LAST;
		if (next && next - p->start < SIZE_MAX_)
			p->end = next;
		if (p->end - p->start > names->longest)
			names->longest = p->end - p->start;
	}
}

uint32_t kallsyms_parse(struct code_names *names, const char *bytes,
			size_t size, uint32_t *hidden)
{
	const char *at = bytes, *end = bytes + size, *newline;
	uint32_t before = names->count;
	struct line l;

	*hidden = 0;
	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		bool good = parse_line(at, newline, &l) && is_code(&l);

		if (good && l.address && l.address <= UINT64_MAX - SIZE_MAX_)
			code_names_add_of(names, l.address, 1, l.name,
					  l.name_size, l.owner, l.owner_size);
		else if (good && !l.address)
			++*hidden;
		at = newline + 1;
	}
	set_ends(names);
	return names->count - before;
}

static int read_list(struct buffer *out, struct error *err)
{
	int fd = open(PATH, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return fail(err, ERR_NOT_FOUND, "cannot open %s: %s", PATH,
			    strerror(errno));
	while (out->size < LIST_MAX &&
	       (n = read(fd, buffer_reserve(out, 1 << 20), 1 << 20)) > 0)
		out->size += (size_t)n;
	close(fd);
	return 0;
}

int kallsyms_read(struct code_names *names, struct error *err)
{
	struct buffer list = BUFFER_INIT;
	int status = read_list(&list, err);
	uint32_t hidden = 0;

	if (status == 0 &&
	    !kallsyms_parse(names, (char *)list.data, list.size, &hidden))
		status = hidden ? fail(err, ERR_PERMISSION,
				       "the kernel hides its addresses: run as "
				       "root, or set the sysctl "
				       "kernel.kptr_restrict to 0")
				: fail(err, ERR_NOT_FOUND,
				       PATH " names no functions");
	buffer_release(&list);
	return status;
}
