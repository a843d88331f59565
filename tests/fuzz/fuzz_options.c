/* The input is a command line, its words separated by NUL or newline, parsed
 * by a table with every kind of option. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"

#define MAX_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	bool flag, dashes;
	const char *string, *optional;
	long number;
	double rate, time;
	int choice;
	struct option_list list;
};

static const char *const choices[] = { "wall", "cpu", "gil", NULL };

static int split(char *text, size_t size, char **argv)
{
	int n = 0;

	argv[n++] = "command";
	for (size_t i = 0; i < size && n < MAX_WORDS; i += strlen(text + i) + 1)
		argv[n++] = text + i;
	argv[n] = NULL;
	return n;
}

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void check(const struct values *v, char **argv, int argc, int operands)
{
	require(v->rate >= 0 && v->rate <= 1e9);
	require(v->time >= 0 && v->time <= 1e9);
	require(v->number >= 0);
	require(v->choice >= 0 && v->choice < 3);
	require(operands >= 0 && operands < argc);
	require(!argv[operands]);
	for (int i = 0; i < operands; i++)
		require(argv[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct values v = { 0 };
	const struct option options[] = {
		{ OPTION_FLAG, 'n', "native", NULL, &v.flag, "A flag." },
		{ OPTION_FLAG, '-', NULL, NULL, &v.dashes, "The end." },
		{ OPTION_STRING, 'o', "output", "FILE", &v.string, "A text." },
		{ OPTION_STRING, 0, "calls", "PATTERN", &v.optional, "Maybe.",
		  .optional = true },
		{ OPTION_NUMBER, 'N', "number", "N", &v.number, "A number." },
		{ OPTION_RATE, 'r', "rate", "RATE", &v.rate, "A rate." },
		{ OPTION_TIME, 'd', "duration", "TIME", &v.time, "A time." },
		{ OPTION_CHOICE, 0, "mode", NULL, &v.choice, "One.", choices },
		{ OPTION_LIST, 't', "thread", "NAME", &v.list, "Many." },
		{ OPTION_END },
	};
	char *text = xmalloc(size + 1), *argv[MAX_WORDS + 1];
	struct error err = ERROR_INIT;
	int argc, operands, status;

	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\n')
			text[i] = 0;
	argc = split(text, size, argv);
	status = options_parse(options, argc, argv, size & 1, &operands, &err);
	if (!status)
		check(&v, argv, argc, operands);
	else
		require(status == -ERR_HELP ||
			(err.code == ERR_USAGE && err.text[0]));
	free(v.list.items);
	free(text);
	return 0;
}
