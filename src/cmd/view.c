/* pyrometer view: the viewer in the browser, or as one self-contained page. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/engine.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/reading.h"
#include "format/format.h"
#include "view/server.h"

static const char *html;
static long port;
static bool stay;

static const struct option options[] = {
	{ OPTION_STRING, 0, "html", "OUT", &html,
	  "Write one self-contained page that works without a server, a "
	  "network or Pyrometer; - is standard output." },
	{ OPTION_NUMBER, 0, "port", "PORT", &port,
	  "Listen on this port (default: any that is free)." },
	{ OPTION_FLAG, 0, "no-browser", NULL, &stay,
	  "Only print the address; do not open a browser." },
	{ OPTION_END },
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int write_page(struct reader **readers, char **files, int n,
		      struct error *err)
{
	const char *names[ENGINE_RECORDINGS];
	struct format_options how = { .others = readers + 1,
				      .other_names = names + 1,
				      .n_others = (size_t)n - 1 };
	struct profile *p = profile_uncounted(readers[0], NULL);
	int status;

	for (int i = 0; i < n; i++)
		names[i] = base_name(files[i]);
	how.recording = names[0];
	status = format_export_with(p, &format_html, &how, html, err);
	profile_free(p);
	if (!status && strcmp(html, "-"))
		fprintf(stderr, "wrote %s: open it in any browser\n", html);
	return status;
}

/* The browser is the user's: it outlives us, and what it prints is not ours. */
static void open_browser(const char *address)
{
	pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	if (child)
		return;
	if (!fork()) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		setsid();
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("xdg-open", "xdg-open", address, NULL);
	}
	_exit(0);
}

static bool has_screen(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x && *x) || (wayland && *wayland);
}

/* Until the user has enough. */
static int serve(struct engine *engine, struct error *err)
{
	struct server *server = NULL;
	sigset_t ends;
	int status, which;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	status = server_start(&server, engine, (uint16_t)port, err);
	if (status < 0)
		return status;
	printf("%s\n", server_address(server));
	fflush(stdout);
	if (!stay && has_screen())
		open_browser(server_address(server));
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "Open this address in a browser on this "
				"machine; Ctrl-C ends it.\n");
	sigwait(&ends, &which);
	server_stop(server);
	return 0;
}

static int serve_readers(struct reader **readers, char **files, int n,
			 struct error *err)
{
	struct engine *engine = engine_new(ENGINE_BUDGET);
	int status = 0;

	for (int i = 0; i < n; i++) {
		int added = engine_add(engine, readers[i], base_name(files[i]),
				       err);

		readers[i] = NULL;
		status = status ? status : added;
	}
	if (!status)
		status = serve(engine, err);
	engine_free(engine);
	return status;
}

static int view_files(char **files, int n, struct error *err)
{
	struct reader *readers[ENGINE_RECORDINGS] = { NULL };
	int status = 0;

	for (int i = 0; i < n && !status; i++)
		status = reading_open(&readers[i], files[i], true, err);
	if (!status && html)
		status = write_page(readers, files, n, err);
	else if (!status)
		status = serve_readers(readers, files, n, err);
	for (int i = 0; i < n; i++)
		reader_free(readers[i]);
	return status;
}

static int run_view(const struct command *self, int argc, char **argv,
		    struct error *err)
{
	int n, status = options_parse(options, argc, argv, false, &n, err);

	if (status < 0)
		return status;
	if (n < 1 || n > ENGINE_RECORDINGS)
		return fail(err, ERR_USAGE,
			    "view takes one to %d recordings, not %d; usage: "
			    "pyrometer %s",
			    ENGINE_RECORDINGS, n, self->usage);
	if (port > 65535)
		return fail(err, ERR_USAGE, "there is no port %ld", port);
	return view_files(argv, n, err);
}

const struct command command_view = {
	.name = "view",
	.usage = "view [options] FILE...",
	.summary = "Look at recordings in a browser",
	.details =
		"Opens the browser on a server of its own that only this "
		"machine can reach, and\nonly with the address it prints. With "
		"two recordings, the second is compared\nwith the first.",
	.run = run_view,
	.options = options,
};
