#include "analyze/origin.h"

#include <string.h>

/* Directories after whose name a package begins. */
static const char *const package_roots[] = {
	"/site-packages/",
	"/dist-packages/",
};

/* Where "pythonX.Y/" begins in "/lib/pythonX.Y/", with any number for X.Y, a
 * "t" of a free-threaded build, or "/lib/pythonXY.zip/"; NULL if nowhere. */
static const char *after_python_directory(const char *lib)
{
	const char *at = lib + strlen("/python");

	if (*at < '0' || *at > '9')
		return NULL;
	while ((*at >= '0' && *at <= '9') || *at == '.' || *at == 't')
		at++;
	if (!strncmp(at, "zip/", 4))
		at += 3;
	return *at == '/' ? at + 1 : NULL;
}

static bool is_lib_directory(const char *file, const char *python)
{
	static const char *const names[] = { "/lib", "/lib64", "/Lib" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(python - file) >= n &&
		    !memcmp(python - n, names[i], n))
			return true;
	}
	return false;
}

/* The path after the standard library's directory, or NULL. */
static const char *in_standard_library(const char *file)
{
	const char *at = file, *rest;

	while ((at = strstr(at, "/python"))) {
		rest = after_python_directory(at);
		if (rest && is_lib_directory(file, at))
			return rest;
		at++;
	}
	return NULL;
}

/* The path after the innermost directory of packages, or NULL. */
static const char *in_packages(const char *file)
{
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(package_roots) / sizeof(char *); i++) {
		const char *at = file;

		while ((at = strstr(at, package_roots[i]))) {
			at += strlen(package_roots[i]);
			if (!found || at > found)
				found = at;
		}
	}
	return found;
}

/* "<frozen importlib._bootstrap>": the text after "<frozen ", or NULL. */
static const char *in_frozen(const char *file)
{
	static const char start[] = "<frozen ";

	return strncmp(file, start, strlen(start)) ? NULL
						   : file + strlen(start);
}

static const char *in_library(const char *file)
{
	const char *rest = in_packages(file);

	if (!rest)
		rest = in_standard_library(file);
	return rest ? rest : in_frozen(file);
}

/* bin/pytest and its like, which only call a package's main(). */
static bool is_launcher(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash && slash - file >= 4 && !memcmp(slash - 4, "/bin", 4) &&
	       !strchr(slash, '.');
}

bool origin_is_library(const struct function_info *function)
{
	switch (function->kind) {
	case FUNCTION_PYTHON:
		return in_library(function->file) ||
		       is_launcher(function->file);
	case FUNCTION_NATIVE:
	case FUNCTION_KERNEL:
		return true;
	case FUNCTION_MARK:
		break;
	}
	return false;
}

/* How much of "libc.so.6" or "_json.cpython-312-x86_64-linux-gnu.so" is the
 * library's name. */
static size_t library_name_length(const char *name)
{
	static const char *const ends[] = { ".so", ".cpython-", ".abi3", "/" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *at = strstr(name, ends[i]);

		if (at && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

static void native_package(const char *module, struct buffer *out)
{
	static const char dynload[] = "lib-dynload/";
	const char *rest = in_library(module), *slash = strrchr(module, '/');

	if (rest && !strncmp(rest, dynload, strlen(dynload)))
		rest += strlen(dynload);
	if (!rest)
		rest = slash ? slash + 1 : module;
	buffer_add(out, rest, library_name_length(rest));
}

void origin_package(const struct function_info *function, struct buffer *out)
{
	const char *path = function->file;
	const char *rest = in_library(path), *slash = strrchr(path, '/');

	if (function->kind == FUNCTION_KERNEL) {
		buffer_add_string(out, "kernel");
	} else if (function->kind == FUNCTION_NATIVE) {
		native_package(function->module, out);
	} else {
		if (!rest)
			rest = slash ? slash + 1 : path;
		buffer_add(out, rest, strcspn(rest, "/.>"));
	}
}

/* How long a directory both paths begin with; `n` of `a` may count. */
static size_t common_directory(const char *a, size_t n, const char *b)
{
	size_t common = 0;

	for (size_t i = 0; i < n && a[i] == b[i] && a[i]; i++)
		if (a[i] == '/')
			common = i + 1;
	return common;
}

size_t origin_base(const struct reader *reader)
{
	const char *first = NULL;
	size_t base = 0;

	for (uint32_t i = 0; i < reader_functions(reader); i++) {
		const struct function_info *f = reader_function(reader, i);

		if (f->kind != FUNCTION_PYTHON || f->file[0] != '/' ||
		    origin_is_library(f))
			continue;
		if (!first) {
			first = f->file;
			base = (size_t)(strrchr(first, '/') + 1 - first);
		}
		base = common_directory(first, base, f->file);
	}
	return base;
}

const char *origin_short_path(const char *file, size_t base)
{
	const char *rest = in_packages(file);

	if (!rest)
		rest = in_standard_library(file);
	if (rest)
		return rest;
	return file[0] == '/' && strlen(file) > base && !is_launcher(file)
		       ? file + base
		       : file;
}

const char *origin_short_file(const struct function_info *function, size_t base)
{
	const char *file = function->file, *at = strrchr(file, '/');

	if (function->kind == FUNCTION_PYTHON)
		return origin_short_path(file, base);
	while (at && at > file && *--at != '/')
		;
	return at ? at + (*at == '/') : file;
}
