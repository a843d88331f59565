/* Completion of command lines, from the same rows as --help: a case for each
 * option with an argument (the words it takes; none: a file), and a case for
 * each command with its options. What is no option is a file, which bash
 * completes by itself, or the pid of a Python. */
#include "cmd/manual.h"

#include <string.h>

#include "format/format.h"

static const char before_arguments[] =
	"# Made by: pyrometer --completion\n"
	"_pyrometer() {\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} options operands\n"
	"\tcase ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in\n";

/* While the command itself is typed, its name must not choose the options. */
static const char before_commands[] =
	"\tesac\n"
	"\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n";

static const char after_commands[] =
	"\tesac\n"
	"\tcase $word in -*) operands=$options ;; esac\n"
	"\tCOMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
	"}\n"
	"complete -o default -F _pyrometer pyrometer\n";

static void add_words(struct buffer *out, const struct option *o)
{
	if (o->argument && !strcmp(o->argument, "FORMAT"))
		for (size_t i = 0; i < n_formats; i++)
			buffer_printf(out, "%s ", formats[i]->name);
	for (size_t i = 0; o->choices && o->choices[i]; i++)
		buffer_printf(out, "%s ", o->choices[i]);
}

static void add_argument(struct buffer *out, const char *command,
			 const struct option *o)
{
	if (!o->help || !o->argument || o->optional)
		return;
	if (o->letter && o->name)
		buffer_printf(out, "\t%s:-%c | %s:--%s)", command, o->letter,
			      command, o->name);
	else if (o->letter)
		buffer_printf(out, "\t%s:-%c)", command, o->letter);
	else
		buffer_printf(out, "\t%s:--%s)", command, o->name);
	buffer_add_string(out, " COMPREPLY=($(compgen -W '");
	add_words(out, o);
	buffer_add_string(out, "' -- \"$word\")); return ;;\n");
}

static void add_options(struct buffer *out, const struct command *c)
{
	buffer_printf(out, "\t*:%s)\n\t\toptions='--help", c->name);
	for (const struct option *o = c->options; o->kind; o++) {
		if (!o->help || o->kind == OPTION_HEADING)
			continue;
		if (o->letter)
			buffer_printf(out, " -%c", o->letter);
		if (o->name)
			buffer_printf(out, " --%s", o->name);
	}
	buffer_add_string(out, "'\n");
	if (strstr(c->usage, "PID"))
		buffer_add_string(out, "\t\toperands=$(pgrep python)\n");
	buffer_add_string(out, "\t\t;;\n");
}

static void add_names(struct buffer *out, const struct command *const *commands,
		      size_t n)
{
	buffer_add_string(out, "\t1:*)\n\t\toptions='--help --version'\n"
			       "\t\toperands='");
	for (size_t i = 0; i < n; i++)
		buffer_printf(out, "%s ", commands[i]->name);
	buffer_add_string(out, "'\n\t\t;;\n");
}

void manual_completion(struct buffer *out,
		       const struct command *const *commands, size_t n)
{
	buffer_add_string(out, before_arguments);
	for (size_t i = 0; i < n; i++)
		for (const struct option *o = commands[i]->options; o->kind;
		     o++)
			add_argument(out, commands[i]->name, o);
	buffer_add_string(out, before_commands);
	add_names(out, commands, n);
	for (size_t i = 0; i < n; i++)
		add_options(out, commands[i]);
	buffer_add_string(out, after_commands);
}
