/* The option tables as text: for --help and for the man page. */
#include "base/options.h"

#include <string.h>

#include "base/roff.h"
#include "base/text.h"

#define HELP_COLUMN 26 /* where the sentences begin */
#define HELP_NARROW 24 /* columns a sentence gets at the very least */

/* "RATE", "wall|cpu|gil", or nothing. */
static void add_argument(struct buffer *out, const struct option *o)
{
	if (o->argument) {
		buffer_add_string(out, o->argument);
		return;
	}
	for (size_t i = 0; o->choices && o->choices[i]; i++)
		buffer_printf(out, "%s%s", i ? "|" : "", o->choices[i]);
}

/* "  -r, --rate RATE" */
static void add_synopsis(struct buffer *out, const struct option *o)
{
	struct buffer argument = BUFFER_INIT;

	add_argument(&argument, o);
	if (o->letter)
		buffer_printf(out, "  -%c%s", o->letter, o->name ? ", " : "");
	else
		buffer_add_string(out, "      ");
	if (o->name)
		buffer_printf(out, "--%s", o->name);
	if (argument.size && o->optional)
		buffer_printf(out, "[%s%s]", o->name ? "=" : "",
			      buffer_text(&argument));
	else if (argument.size)
		buffer_printf(out, " %s", buffer_text(&argument));
	buffer_release(&argument);
}

static void add_spaces(struct buffer *out, int n)
{
	buffer_printf(out, "%*s", n > 0 ? n : 0, "");
}

/* The words of `s` from HELP_COLUMN on, in lines that end before `width`. */
static void add_wrapped(struct buffer *out, const char *s, int width)
{
	int column = HELP_COLUMN;

	if (width < HELP_COLUMN + HELP_NARROW)
		width = HELP_COLUMN + HELP_NARROW;
	while (*(s += strspn(s, " "))) {
		int n = (int)strcspn(s, " ");

		if (column > HELP_COLUMN && column + 1 + n >= width) {
			buffer_add_byte(out, '\n');
			add_spaces(out, HELP_COLUMN);
			column = HELP_COLUMN;
		}
		if (column > HELP_COLUMN)
			buffer_add_byte(out, ' ');
		column += n + (column > HELP_COLUMN);
		buffer_add(out, s, (size_t)n);
		s += n;
	}
	buffer_add_byte(out, '\n');
}

static void add_option_help(struct buffer *out, const struct option *o,
			    int width)
{
	struct buffer synopsis = BUFFER_INIT;
	int used;

	add_synopsis(&synopsis, o);
	used = text_width(buffer_text(&synopsis));
	buffer_add_string(out, buffer_text(&synopsis));
	if (used >= HELP_COLUMN) {
		buffer_add_byte(out, '\n');
		used = 0;
	}
	add_spaces(out, HELP_COLUMN - used);
	add_wrapped(out, o->help, width);
	buffer_release(&synopsis);
}

void options_help(const struct option *options, int width, struct buffer *out)
{
	for (const struct option *o = options; o->kind; o++) {
		if (!o->help)
			continue;
		if (o->kind == OPTION_HEADING)
			buffer_printf(out, "%s%s:\n", o == options ? "" : "\n",
				      o->help);
		else
			add_option_help(out, o, width);
	}
}

static void add_option_man(struct buffer *out, const struct option *o)
{
	struct buffer synopsis = BUFFER_INIT;
	const char *text;

	add_synopsis(&synopsis, o);
	text = buffer_text(&synopsis);
	buffer_add_string(out, ".TP\n.B ");
	roff_text(out, text + strspn(text, " "));
	buffer_add_byte(out, '\n');
	roff_text(out, o->help);
	buffer_add_byte(out, '\n');
	buffer_release(&synopsis);
}

void options_man(const struct option *options, struct buffer *out)
{
	for (const struct option *o = options; o->kind; o++) {
		if (!o->help)
			continue;
		if (o->kind == OPTION_HEADING) {
			buffer_add_string(out, ".SS ");
			roff_text(out, o->help);
			buffer_add_byte(out, '\n');
		} else {
			add_option_man(out, o);
		}
	}
}
