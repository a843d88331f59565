#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define RATE_MIN 0.001
#define RATE_MAX 1e7
#define TIME_MAX (10 * 365 * 86400.0)

/* The words of argv, read one after the other. */
struct words {
	char **argv; /* argv[0] is the command's name */
	int argc;
	int next; /* the word after the current one */
};

struct unit {
	const char *name;
	double factor;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal number without sign, exponent, "inf" or "nan", whatever the
 * locale. Returns where it ends, NULL when there is none. */
static const char *parse_decimal(const char *s, double *value)
{
	const char *start = s;
	double scale = 1;
	bool point = false;

	*value = 0;
	for (; is_digit(*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		*value = *value * 10 + (*s - '0');
		if (point)
			scale *= 10;
	}
	*value /= scale;
	return s == start + point ? NULL : s;
}

/* A decimal number and the longest unit of the table (which ends with a NULL
 * name) that follows it. Returns where that ends, NULL when it is none. */
static const char *parse_quantity(const char *text, const struct unit *units,
				  double *value)
{
	const char *end = parse_decimal(text, value);
	const struct unit *best = NULL;

	for (; end && units->name; units++)
		if (!strncasecmp(units->name, end, strlen(units->name)) &&
		    (!best || strlen(units->name) > strlen(best->name)))
			best = units;
	if (!best)
		return NULL;
	*value *= best->factor;
	return end + strlen(best->name);
}

int options_parse_rate(const char *text, double *per_second, struct error *err)
{
	static const struct unit units[] = {
		{ "", 1 },    { "hz", 1 },    { "k", 1e3 }, { "khz", 1e3 },
		{ "m", 1e6 }, { "mhz", 1e6 }, { NULL, 0 },
	};
	const char *end;
	double v;

	end = parse_quantity(text, units, &v);
	if (!end || *end)
		return fail(err, ERR_USAGE,
			    "'%s' is not a rate; write it as 100, 1k or 10khz",
			    text);
	/* Written so that what is not a number is out of range as well. */
	if (!(v >= RATE_MIN && v <= RATE_MAX))
		return fail(err, ERR_USAGE,
			    "a rate of '%s' is out of range; it must be "
			    "between 0.001 and 10M samples per second",
			    text);
	*per_second = v;
	return 0;
}

int options_parse_time(const char *text, double *seconds, struct error *err)
{
	static const struct unit units[] = {
		{ "", 1 },	{ "s", 1 },  { "ms", 1e-3 }, { "us", 1e-6 },
		{ "ns", 1e-9 }, { "m", 60 }, { "min", 60 },  { "h", 3600 },
		{ "d", 86400 }, { NULL, 0 },
	};
	const char *rest = text;
	double v = 0, part;

	/* 1m30s is the sum of its parts, each with its unit. */
	do {
		bool first = rest == text;

		rest = parse_quantity(rest, units, &part);
		v += rest ? part : 0;
		if (rest && !first && is_digit(rest[-1]))
			rest = NULL;
	} while (rest && *rest);
	if (!rest)
		return fail(err, ERR_USAGE,
			    "'%s' is not a time; write it as 30s, 500ms, 2m, "
			    "1m30s or 1h",
			    text);
	if (!(v <= TIME_MAX))
		return fail(err, ERR_USAGE,
			    "a time of '%s' is out of range; the most is 10 "
			    "years",
			    text);
	*seconds = v;
	return 0;
}

static int parse_number(const char *text, long *number, struct error *err)
{
	long v = 0;
	const char *s = text;

	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return fail(err, ERR_USAGE, "'%s' is too large", text);
	if (*s || s == text)
		return fail(err, ERR_USAGE,
			    "'%s' is not a whole number of 0 or more", text);
	*number = v;
	return 0;
}

static int parse_choice(const struct option *o, const char *text,
			struct error *err)
{
	struct buffer names = BUFFER_INIT;
	int status;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], text)) {
			*(int *)o->target = i;
			return 0;
		}
	}
	for (int i = 0; o->choices[i]; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", o->choices[i]);
	status = fail(err, ERR_USAGE, "'%s' is none of %s", text,
		      buffer_text(&names));
	buffer_release(&names);
	return status;
}

static void append(struct option_list *list, const char *text)
{
	list->items = xreallocarray(list->items, list->count + 1,
				    sizeof(*list->items));
	list->items[list->count++] = text;
}

static int store(const struct option *o, const char *text, struct error *err)
{
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)o->target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)o->target = text;
		return 0;
	case OPTION_NUMBER:
		return parse_number(text, o->target, err);
	case OPTION_RATE:
		return options_parse_rate(text, o->target, err);
	case OPTION_TIME:
		return options_parse_time(text, o->target, err);
	case OPTION_CHOICE:
		return parse_choice(o, text, err);
	case OPTION_LIST:
		append(o->target, text);
		return 0;
	case OPTION_HEADING:
	case OPTION_END:
		break;
	}
	return fail(err, ERR_USAGE, "no option");
}

#define NAME_MAX_LENGTH 32 /* longer names are not compared */

/* How many characters to insert, delete, replace or swap with their neighbour
 * to make b of a. */
static int distance(const char *a, const char *b)
{
	int n = (int)strlen(a), m = (int)strlen(b);
	int d[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];

	if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH)
		return NAME_MAX_LENGTH;
	for (int i = 0; i <= n; i++) {
		for (int j = 0; j <= m; j++) {
			int best = i + j;

			if (i && j)
				best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (i && d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (j && d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[n][m];
}

/* The option whose name is so close that it was probably meant, or NULL. */
static const struct option *nearest(const struct option *options,
				    const char *name)
{
	const struct option *best = NULL;
	int best_distance = (int)strlen(name) / 3 + 1;

	for (const struct option *o = options; o->kind; o++) {
		int d;

		if (!o->name || o->kind == OPTION_HEADING)
			continue;
		if (strlen(name) > 1 && !strncmp(o->name, name, strlen(name)))
			return o;
		d = distance(name, o->name);
		if (d <= best_distance && (!best || d < best_distance)) {
			best = o;
			best_distance = d;
		}
	}
	return best;
}

static int fail_unknown(const struct option *options, const char *command,
			const char *name, struct error *err)
{
	const struct option *o = nearest(options, name);

	if (!strcmp(name, "help"))
		return -ERR_HELP;
	if (o)
		return fail(err, ERR_USAGE,
			    "unknown option '--%s'; did you mean '--%s'?", name,
			    o->name);
	return fail(err, ERR_USAGE,
		    "unknown option '--%s'; 'pyrometer %s --help' lists them",
		    name, command);
}

static const struct option *find_letter(const struct option *options, char c)
{
	for (const struct option *o = options; o->kind; o++)
		if (o->kind != OPTION_HEADING && o->letter == c)
			return o;
	return NULL;
}

static const struct option *find_name(const struct option *options,
				      const char *name, size_t n)
{
	for (const struct option *o = options; o->kind; o++)
		if (o->kind != OPTION_HEADING && o->name &&
		    !strncmp(o->name, name, n) && !o->name[n])
			return o;
	return NULL;
}

/* Store the argument of an option: `given` with it, or the next word. */
static int take(const struct option *o, const char *label, const char *given,
		struct words *words, struct error *err)
{
	if (!given && o->kind != OPTION_FLAG) {
		if (o->optional)
			given = "";
		else if (words->next < words->argc)
			given = words->argv[words->next++];
		else
			return fail(err, ERR_USAGE,
				    "%s needs an argument: %s %s", label, label,
				    o->argument ? o->argument : "VALUE");
	}
	if (store(o, given, err))
		return error_context(err, "%s", label);
	return 0;
}

/* --name, --name=argument or --name argument */
static int parse_long(const struct option *options, const char *word,
		      struct words *words, const struct option **found,
		      struct error *err)
{
	const char *name = word + 2;
	size_t n = strcspn(name, "=");
	const struct option *o = *found = find_name(options, name, n);
	char label[NAME_MAX_LENGTH + 3];

	snprintf(label, sizeof(label), "--%.*s", (int)n, name);
	if (!o)
		return fail_unknown(options, words->argv[0], label + 2, err);
	if (o->kind == OPTION_FLAG && name[n])
		return fail(err, ERR_USAGE, "%s takes no argument", label);
	return take(o, label, name[n] ? name + n + 1 : NULL, words, err);
}

/* -f, -fgh (flags), -r100 or -r 100 */
static int parse_letters(const struct option *options, const char *word,
			 struct words *words, const struct option **found,
			 struct error *err)
{
	for (const char *c = word + 1; *c; c++) {
		const struct option *o = find_letter(options, *c);
		char label[] = { '-', *c, 0 };
		bool flag = o && o->kind == OPTION_FLAG;
		int status;

		if (!o && *c == 'h')
			return -ERR_HELP;
		if (!o || *c == '-')
			return fail(err, ERR_USAGE,
				    "unknown option '-%c'; 'pyrometer %s "
				    "--help' lists them",
				    *c, words->argv[0]);
		*found = o;
		status = take(o, label, !flag && c[1] ? c + 1 : NULL, words,
			      err);
		if (status || !flag)
			return status;
	}
	return 0;
}

/* Whether a "--" ends the options here; told to the row that wants to know. */
static bool ends_options(const struct option *options, const char *word)
{
	const struct option *o = find_letter(options, '-');

	if (strcmp(word, "--"))
		return false;
	if (o)
		*(bool *)o->target = true;
	return true;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Read all options; the words that are operands go to `operands`. */
static int parse_words(const struct option *options, struct words *words,
		       bool stop_at_operand, char **operands, int *n,
		       struct error *err)
{
	bool ended = false;

	while (words->next < words->argc) {
		const struct option *o = NULL;
		char *word = words->argv[words->next++];
		int status;

		if (!ended && ends_options(options, word)) {
			ended = true;
			continue;
		}
		if (ended || !is_option(word)) {
			ended |= stop_at_operand;
			operands[(*n)++] = word;
			continue;
		}
		if (word[1] == '-')
			status = parse_long(options, word, words, &o, err);
		else
			status = parse_letters(options, word, words, &o, err);
		if (status)
			return status;
		ended |= o->last;
	}
	return 0;
}

int options_parse(const struct option *options, int argc, char **argv,
		  bool stop_at_operand, int *n_operands, struct error *err)
{
	char **operands = xcalloc((size_t)argc + 1, sizeof(*operands));
	struct words words = { argv, argc, 1 };
	struct error ignored = ERROR_INIT;
	int status;

	*n_operands = 0;
	status = parse_words(options, &words, stop_at_operand, operands,
			     n_operands, err ? err : &ignored);
	if (!status) /* with the NULL that follows them */
		memcpy(argv, operands,
		       ((size_t)*n_operands + 1) * sizeof(*argv));
	free(operands);
	return status;
}
