/* The program: find the command, let it run, print what went wrong. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <errno.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/manual.h"

static const struct command *const commands[] = {
	&command_run,  &command_attach, &command_dump,	 &command_report,
	&command_view, &command_export, &command_doctor,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

int cmd_width(int fd, int otherwise)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col > 0)
		return size.ws_col;
	return otherwise;
}

bool cmd_screen(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && !(term && !strcmp(term, "dumb"));
}

bool cmd_colour(int fd)
{
	const char *no = getenv("NO_COLOR");

	return cmd_screen(fd) && !(no && *no);
}

void cmd_complain(const char *sentence)
{
	struct buffer line = BUFFER_INIT;

	text_add_safe(&line, sentence);
	fprintf(stderr, "pyrometer: %s\n", buffer_text(&line));
	buffer_release(&line);
}

int cmd_print(int fd, const char *text, size_t size, struct error *err)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE)
			return 0;
		if (n < 0)
			return fail(err, ERR_IO, "cannot write: %s",
				    strerror(errno));
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A line that went on into the next could not be taken back. */
void cmd_status(const char *text)
{
	bool dim = *text && cmd_colour(STDERR_FILENO);
	int room = cmd_width(STDERR_FILENO, 80) - 1;
	struct buffer line = BUFFER_INIT;

	buffer_printf(&line, "\r\033[K%s%.*s%s\r", dim ? "\033[2m" : "",
		      room > 0 ? room : 0, text, dim ? "\033[0m" : "");
	cmd_print(STDERR_FILENO, buffer_text(&line), line.size, NULL);
	buffer_release(&line);
}

static void add_overview(struct buffer *out)
{
	buffer_add_string(out, "Pyrometer tells where the time of a Python "
			       "program goes, without touching it.\n\n"
			       "usage: pyrometer COMMAND [options] ...\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		buffer_printf(out, "  %-9s %s\n", commands[i]->name,
			      commands[i]->summary);
	buffer_add_string(out, "\n'pyrometer COMMAND --help' tells the rest.\n"
			       "A first try: pyrometer run script.py\n");
}

static void add_help(struct buffer *out, const struct command *c)
{
	int width = cmd_width(STDOUT_FILENO, 80);

	buffer_printf(out, "%s.\n\nusage: pyrometer %s\n", c->summary,
		      c->usage);
	if (c->details)
		buffer_printf(out, "\n%s\n", c->details);
	buffer_add_string(out, "\noptions:\n");
	options_help(c->options, width, out);
}

static void add_version(struct buffer *out)
{
	buffer_add_string(out, "pyrometer " PYROMETER_VERSION "\n");
}

static void add_man(struct buffer *out)
{
	manual_roff(out, commands, N_COMMANDS);
}

static void add_completion(struct buffer *out)
{
	manual_completion(out, commands, N_COMMANDS);
}

/* What may stand in the place of a command. */
static const struct page {
	const char *name;
	void (*add)(struct buffer *out);
} pages[] = {
	{ "--help", add_overview },
	{ "-h", add_overview },
	{ "help", add_overview },
	{ "--version", add_version },
	{ "-V", add_version },
	{ "--man", add_man },
	{ "--completion", add_completion },
};

static int print(struct buffer *out)
{
	struct error err = ERROR_INIT;
	int status =
		cmd_print(STDOUT_FILENO, (char *)out->data, out->size, &err);

	buffer_release(out);
	if (status < 0)
		cmd_complain(err.text);
	return error_exit_status(status);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int show_help(const struct command *c)
{
	struct buffer out = BUFFER_INIT;

	add_help(&out, c);
	return print(&out);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int status;

	status = c->run(c, argc, argv, &err);
	if (status == -ERR_HELP)
		return show_help(c);
	if (status >= 0)
		return status;
	cmd_complain(err.text[0] ? err.text : error_name(status));
	return error_exit_status(status);
}

static int show_page(const char *name)
{
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].name, name)) {
			pages[i].add(&out);
			return print(&out);
		}
	fprintf(stderr,
		"pyrometer: '%s' is no command; 'pyrometer --help' lists them\n",
		name);
	return error_exit_status(ERR_USAGE);
}

/* A standard file that we were started without would become the next one that
 * is opened, a recording perhaps, and messages would go into it. What stands in
 * for it fails as it would, and a program that we start has none either. */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_CLOEXEC | O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";
	const struct command *c = find_command(name);

	fill_standard_files();
	/* A failed write says why, whatever the reason. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Whoever started us may ignore it; then we would not be told of
	 * children and of stops. */
	signal(SIGCHLD, SIG_DFL);
	if (c)
		return run_command(c, argc - 1, argv + 1);
	if (!strcmp(name, "help") && argc > 2 && (c = find_command(argv[2])))
		return show_help(c);
	return show_page(name);
}
