#include "analyze/origin.h"

#include <string.h>

#include "base/text.h"

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

/* Directories of the system's own programs and libraries. */
static const char *const system_roots[] = {
	"/lib/",	   "/lib64/",	    "/usr/lib/", "/usr/lib64/",
	"/usr/local/lib/", "/usr/libexec/", "/usr/bin/", "/usr/local/bin/",
};

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* lib/libfoo.so, wherever that lib is: how an environment or a package manager
 * of its own installs. */
static bool is_installed_library(const char *module, const char *base)
{
	size_t n = (size_t)(base - module);

	return starts_with(base, "lib") &&
	       ((n >= 5 && !memcmp(base - 5, "/lib/", 5)) ||
		(n >= 7 && !memcmp(base - 7, "/lib64/", 7)));
}

/* Whether an object file belongs to the system, the interpreter or a package,
 * or is none ("[vdso]", code that was made at run time). */
static bool is_library_module(const char *module)
{
	const char *base = path_base(module);

	if (!*module || *module == '[' || in_library(module) ||
	    starts_with(base, "python") || starts_with(base, "libpython") ||
	    is_installed_library(module, base))
		return true;
	for (size_t i = 0; i < sizeof(system_roots) / sizeof(char *); i++)
		if (starts_with(module, system_roots[i]))
			return true;
	return false;
}

/* Source that was compiled into whatever uses it: headers, Rust's crates. */
static bool is_library_source(const char *file)
{
	static const char *const roots[] = { "/usr/include/", "/usr/lib/",
					     "/usr/local/include/", "/rustc/" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(char *); i++)
		if (starts_with(file, roots[i]))
			return true;
	return in_library(file) || strstr(file, "/.cargo/registry/");
}

bool origin_is_library(const struct function_info *function)
{
	switch (function->kind) {
	case FUNCTION_PYTHON:
		return in_library(function->file) ||
		       is_launcher(function->file);
	case FUNCTION_NATIVE:
		return is_library_module(function->module) ||
		       is_library_source(function->file);
	case FUNCTION_KERNEL:
		return true;
	case FUNCTION_MARK:
		break;
	}
	return false;
}

/* "libc", "libpython3.11", "_json": the name of an object file without what
 * says that it is one, and for which Python. */
static void add_module_name(const char *base, struct buffer *out)
{
	static const char *const ends[] = { ".cpython-", ".abi3.", ".so" };
	size_t n = strlen(base);

	for (size_t i = 0; i < sizeof(ends) / sizeof(char *); i++) {
		const char *end = strstr(base, ends[i]);

		if (end && (size_t)(end - base) < n)
			n = (size_t)(end - base);
	}
	buffer_add(out, base, n);
}

static void add_native_package(const char *module, struct buffer *out)
{
	const char *package = in_packages(module);

	if (package)
		buffer_add(out, package, strcspn(package, "/."));
	else
		add_module_name(path_base(module), out);
}

void origin_package(const struct function_info *function, struct buffer *out)
{
	const char *rest = in_library(function->file);

	if (function->kind == FUNCTION_KERNEL) {
		buffer_add_string(out, "kernel");
		return;
	}
	if (function->kind == FUNCTION_NATIVE) {
		add_native_package(function->module, out);
		return;
	}
	if (!rest)
		rest = path_base(function->file);
	buffer_add(out, rest, strcspn(rest, "/.>"));
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

/* Endings of files that object files are made of. */
static const char *const native_endings[] = {
	"c",  "cc",  "cpp", "cxx", "c++", "h",	 "hh",	"hpp", "hxx",
	"rs", "pyx", "pxd", "pxi", "f",	  "f90", "for", "s",   "S",
	"go", "zig", "cu",  "cuh", "inc", "def", "tcc",
};

static bool is_native_source(const char *file)
{
	const char *dot = strrchr(path_base(file), '.');

	for (size_t i = 0; dot && i < sizeof(native_endings) / sizeof(char *);
	     i++)
		if (!strcmp(dot + 1, native_endings[i]))
			return true;
	return false;
}

/* Where a compiler found a file says little: its name and its folder. */
static const char *with_folder(const char *file)
{
	const char *at = strrchr(file, '/');

	while (at && at > file && *--at != '/')
		continue;
	return at ? at + (*at == '/') : file;
}

const char *origin_short_file(const struct function_info *function, size_t base)
{
	return function->kind == FUNCTION_PYTHON
		       ? origin_short_path(function->file, base)
		       : with_folder(function->file);
}

const char *origin_short_path(const char *file, size_t base)
{
	const char *rest = in_packages(file);

	if (!rest)
		rest = in_standard_library(file);
	if (rest)
		return rest;
	if (file[0] == '/' && is_native_source(file))
		return with_folder(file);
	return file[0] == '/' && strlen(file) > base && !is_launcher(file)
		       ? file + base
		       : file;
}

const char *origin_short_module(const char *module)
{
	const char *rest = in_packages(module);

	if (!rest)
		rest = in_standard_library(module);
	return rest ? rest : path_base(module);
}
