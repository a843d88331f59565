/* The list of formats, and how an export becomes a file.
 *
 * The new file grows under a temporary name beside the old one and takes its
 * place by rename(2), so that whoever has the old one keeps it whole until the
 * new one is. What is no ordinary file (a device, a pipe: /dev/stdout) cannot
 * be replaced and is written in place. */
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

const struct format_ops *const formats[] = {
	&format_flamegraph, &format_collapsed, &format_speedscope,
	&format_pprof,	    &format_firefox,   &format_chrome,
	&format_callgrind,  &format_pstats,    &format_html,
};

const size_t n_formats = sizeof(formats) / sizeof(formats[0]);

const struct format_ops *format_find(const char *name, struct error *err)
{
	struct buffer names = BUFFER_INIT;

	for (size_t i = 0; i < n_formats; i++) {
		if (!strcmp(formats[i]->name, name)) {
			buffer_release(&names);
			return formats[i];
		}
		buffer_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
	}
	fail(err, ERR_USAGE, "'%.40s' is no format; there are %s", name,
	     buffer_text(&names));
	buffer_release(&names);
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

const struct format_ops *format_guess(const char *path)
{
	const char *name = base_name(path);

	for (size_t i = 0; i < n_formats; i++) {
		const struct format_ops *f = formats[i];

		if (!strncmp(name, f->prefix, strlen(f->prefix)) &&
		    ends_with(name, f->suffix))
			return f;
	}
	return NULL;
}

char *format_default_path(const struct format_ops *f, const char *path)
{
	const char *name = base_name(path);
	size_t n = strlen(name);

	if (!strcmp(path, "-") || !n)
		return xasprintf("%sprofile%s", f->prefix, f->suffix);
	if (ends_with(name, ".pyro") && n > strlen(".pyro"))
		n -= strlen(".pyro");
	return xasprintf("%.*s%s%.*s%s", (int)(name - path), path, f->prefix,
			 (int)n, name, f->suffix);
}

static int fail_output(struct error *err, const char *path, int error)
{
	return fail(err, ERR_IO, "cannot write %s: %s", path, strerror(error));
}

/* Encode into the sink. `path` is for the message only. */
static int encode(struct profile *p, const struct format_ops *f,
		  const struct format_options *options, struct sink *sink,
		  const char *path, struct error *err)
{
	int status = f->write(p, options, sink, err);

	if (!status)
		status = sink_finish(sink);
	return sink->status ? fail_output(err, path, sink->error) : status;
}

static int write_format(struct profile *p, const struct format_ops *f,
			const struct format_options *options, int fd,
			const char *path, struct error *err)
{
	struct sink sink = SINK_OVER(fd);
	int status = encode(p, f, options, &sink, path, err);

	sink_release(&sink);
	return status;
}

/* A reader that has seen enough (`| head`) is no failure. */
static int write_to_stdout(struct profile *p, const struct format_ops *f,
			   const struct format_options *options,
			   struct error *err)
{
	struct sink sink = SINK_OVER(STDOUT_FILENO);
	int status = encode(p, f, options, &sink, "standard output", err);

	if (sink.error == EPIPE)
		status = 0;
	sink_release(&sink);
	return status;
}

static int write_in_place(struct profile *p, const struct format_ops *f,
			  const struct format_options *options,
			  const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), status;

	if (fd < 0)
		return fail_output(err, path, errno);
	status = write_format(p, f, options, fd, path, err);
	if (close(fd) && !status)
		status = fail_output(err, path, errno);
	return status;
}

/* A new file beside `path`, with the mode that open(2) would have given it. */
static int open_temporary(const char *path, char **name, struct error *err)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	*name = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(*name, O_CLOEXEC);
	if (fd < 0)
		return fail_output(err, path, errno);
	fchmod(fd, 0666 & ~mask);
	return fd;
}

static int write_and_rename(struct profile *p, const struct format_ops *f,
			    const struct format_options *options,
			    const char *path, struct error *err)
{
	char *temporary,
		*real = realpath(path, NULL); /* behind symbolic links */
	int fd, status;

	if (real)
		path = real;
	fd = status = open_temporary(path, &temporary, err);

	if (fd < 0)
		goto out;
	status = write_format(p, f, options, fd, path, err);
	if (close(fd) && !status)
		status = fail_output(err, path, errno);
	if (!status && rename(temporary, path))
		status = fail_output(err, path, errno);
	if (status)
		unlink(temporary);
out:
	free(temporary);
	free(real);
	return status;
}

int format_export_with(struct profile *p, const struct format_ops *f,
		       const struct format_options *options, const char *path,
		       struct error *err)
{
	static const struct format_options defaults;
	struct stat st;

	if (!options)
		options = &defaults;
	if (!strcmp(path, "-"))
		return write_to_stdout(p, f, options, err);
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return fail_output(err, path, EISDIR);
		if (!S_ISREG(st.st_mode))
			return write_in_place(p, f, options, path, err);
		if (access(path, W_OK))
			return fail_output(err, path, errno);
	}
	return write_and_rename(p, f, options, path, err);
}

int format_export(struct profile *p, const struct format_ops *f,
		  const char *path, struct error *err)
{
	return format_export_with(p, f, NULL, path, err);
}
