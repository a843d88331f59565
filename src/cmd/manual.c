#include "cmd/manual.h"

#include "base/roff.h"

struct section {
	const char *title, *text;
};

static const struct section sections[] = {
	{ "FILES",
	  "A recording (.pyro) is one append-only file. What is there after a "
	  "crash or on a\nfull disk can be read." },
	{ "ENVIRONMENT",
	  "COLUMNS is the width of reports, if set; NO_COLOR, if not empty, "
	  "turns colours off." },
	{ "EXAMPLES", "  pyrometer run script.py\n"
		      "  pyrometer run -s -- gunicorn app:app\n"
		      "  pyrometer attach -d 10s -o service.pyro PID\n"
		      "  pyrometer report --lines service.pyro\n"
		      "  pyrometer export service.pyro -f speedscope\n"
		      "  pyrometer dump --locals PID" },
};

static void add_synopsis(struct buffer *out, const struct command *c)
{
	buffer_add_string(out, ".B pyrometer\n");
	roff_text(out, c->usage);
	buffer_add_string(out, "\n.br\n");
}

static void add_command(struct buffer *out, const struct command *c)
{
	buffer_printf(out, ".SH pyrometer %s\n", c->name);
	roff_text(out, c->summary);
	buffer_add_string(out, ".\n");
	if (c->details)
		roff_paragraphs(out, c->details);
	options_man(c->options, out);
}

static void add_statuses(struct buffer *out)
{
	buffer_add_string(out, ".SH EXIT STATUS\n"
			       "That of the program for\n.BR run ,\n"
			       "else 0 when all went well, or one of these.\n");
#define ADD_STATUS(name, status, text) \
	buffer_printf(out, ".TP\n%d\n%s\n", status, text);
	ERROR_LIST(ADD_STATUS)
#undef ADD_STATUS
}

void manual_roff(struct buffer *out, const struct command *const *commands,
		 size_t n)
{
	buffer_add_string(out,
			  ".TH PYROMETER 1 \"\" \"Pyrometer " PYROMETER_VERSION
			  "\" \"User Commands\"\n"
			  ".SH NAME\npyrometer \\- where the time of a "
			  "Python program goes\n.SH SYNOPSIS\n");
	for (size_t i = 0; i < n; i++)
		add_synopsis(out, commands[i]);
	buffer_add_string(out,
			  ".SH DESCRIPTION\nPyrometer samples CPython programs "
			  "from outside:\nit reads their memory, and neither "
			  "stops nor changes them.\n");
	for (size_t i = 0; i < n; i++)
		add_command(out, commands[i]);
	add_statuses(out);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		buffer_printf(out, ".SH %s\n", sections[i].title);
		roff_paragraphs(out, sections[i].text);
	}
}
