/* What libFuzzer does, as far as a test needs it and any compiler can: call
 * the fuzzer with every seed, then with mutations of them.
 *
 *   fuzz_x [-runs=N] [-only=N] [FILE|DIRECTORY]...
 *
 * Mutation number N is a function of N and the seeds alone, so a failure comes
 * back with -only=N, which the driver prints when the fuzzer dies or hangs. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"

#define INPUT_MAX   65536
#define MAX_SECONDS 20 /* an input that takes longer is a hang */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seeds {
	struct buffer *items;
	size_t count, capacity;
};

/* The run under way, for the signal handler. */
static volatile sig_atomic_t current;

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = (*state += 0x9e3779b97f4a7c15u);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static size_t below(uint64_t *random, size_t limit)
{
	return limit ? next_random(random) % limit : 0;
}

static void read_file(struct seeds *seeds, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct buffer b = BUFFER_INIT;

	if (!file) {
		perror(path);
		exit(2);
	}
	buffer_reserve(&b, INPUT_MAX);
	b.size = fread(b.data, 1, INPUT_MAX, file);
	fclose(file);
	ALLOC_GROW(seeds->items, seeds->count + 1, seeds->capacity);
	seeds->items[seeds->count++] = b;
}

/* In the order of their names, so that a run number means the same anywhere. */
static void read_path(struct seeds *seeds, const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		read_file(seeds, path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *child = xasprintf("%s/%s", path, entries[i]->d_name);

		if (entries[i]->d_name[0] != '.')
			read_path(seeds, child);
		free(child);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void change_byte(struct buffer *b, uint64_t *random)
{
	static const unsigned char interesting[] = { 0,	  1,   0x7f, 0x80, 0xff,
						     '-', '=', '9',  '\n' };
	unsigned char *byte = &b->data[below(random, b->size)];

	if (next_random(random) & 1)
		*byte ^= (unsigned char)(1 << below(random, 8));
	else
		*byte = interesting[below(random, sizeof(interesting))];
}

static void remove_part(struct buffer *b, uint64_t *random)
{
	size_t from = below(random, b->size);
	size_t n = 1 + below(random, b->size - from);

	memmove(b->data + from, b->data + from + n, b->size - from - n);
	b->size -= n;
}

/* Put a part of another seed (or of this one) somewhere in the middle. */
static void insert_part(struct buffer *b, const struct seeds *seeds,
			uint64_t *random)
{
	const struct buffer *other = &seeds->items[below(random, seeds->count)];
	size_t from = below(random, other->size);
	size_t n = below(random, other->size - from + 1);
	size_t at = below(random, b->size + 1);

	if (b->size + n > INPUT_MAX)
		return;
	buffer_reserve(b, n);
	memmove(b->data + at + n, b->data + at, b->size - at);
	memcpy(b->data + at, other->data + from, n);
	b->size += n;
}

static void mutate(struct buffer *b, const struct seeds *seeds,
		   uint64_t *random)
{
	switch (below(random, 8)) {
	case 0:
		insert_part(b, seeds, random);
		break;
	case 1:
		if (b->size)
			remove_part(b, random);
		break;
	case 2:
		b->size = below(random, b->size + 1);
		break;
	default:
		if (b->size)
			change_byte(b, random);
	}
}

/* The fuzzer gets an exact copy, so that a sanitizer sees a read beyond it. */
static void call(const struct buffer *b)
{
	uint8_t *copy = xmalloc(b->size);

	if (b->size)
		memcpy(copy, b->data, b->size);
	alarm(MAX_SECONDS);
	LLVMFuzzerTestOneInput(copy, b->size);
	alarm(0);
	free(copy);
}

/* Runs 0..count-1 are the seeds themselves, the others mutations. */
static void run(const struct seeds *seeds, long number)
{
	uint64_t random = (uint64_t)number;
	size_t i = (size_t)number;
	struct buffer b = BUFFER_INIT;

	current = (sig_atomic_t)number;
	if (i >= seeds->count)
		i = below(&random, seeds->count);
	buffer_reserve(&b, INPUT_MAX);
	buffer_add(&b, seeds->items[i].data, seeds->items[i].size);
	if ((size_t)number >= seeds->count)
		for (size_t n = 1 + below(&random, 8); n; n--)
			mutate(&b, seeds, &random);
	call(&b);
	buffer_release(&b);
}

static void report(int signal)
{
	char text[96];
	int n = snprintf(text, sizeof(text),
			 "signal %d in run %ld; repeat it with -only=%ld\n",
			 signal, (long)current, (long)current);

	if (write(STDERR_FILENO, text, (size_t)n) < n)
		_exit(2);
	_exit(1);
}

static void catch_signals(void)
{
	static const int signals[] = {
		SIGABRT, SIGALRM,
#ifndef __SANITIZE_ADDRESS__ /* which shows where, then aborts */
		SIGBUS,	 SIGFPE,  SIGILL, SIGSEGV,
#endif
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], report);
}

int main(int argc, char **argv)
{
	struct seeds seeds = { 0 };
	long runs = 1000, only = -1;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-runs=", 6))
			runs = atol(argv[i] + 6);
		else if (!strncmp(argv[i], "-only=", 6))
			only = atol(argv[i] + 6);
		else
			read_path(&seeds, argv[i]);
	}
	if (!seeds.count) {
		fprintf(stderr, "usage: %s [-runs=N] [-only=N] SEED...\n",
			argv[0]);
		return 2;
	}
	catch_signals();
	if (only >= 0)
		run(&seeds, only);
	for (long n = 0; only < 0 && n < runs; n++)
		run(&seeds, n);
	printf("%ld runs over %zu seeds\n", only < 0 ? runs : 1, seeds.count);
	for (size_t i = 0; i < seeds.count; i++)
		buffer_release(&seeds.items[i]);
	free(seeds.items);
	return 0;
}
