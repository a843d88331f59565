#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define STUB	       "@plt"
#define NAME_MAX_BYTES 8192 /* longer ones are left as they are */

/* What gcc and llvm put behind the name of a copy or a part of a function; a
 * number may follow. */
static const char *const parts[] = {
	".cold",	".lto_priv", ".isra",	   ".constprop", ".part",
	".localalias",	".llvm",     ".hot",	   ".unlikely",	 ".warm",
	".specialized", ".clone",    ".destroy",   ".resume",	 ".actor",
	".cleanup",	".fini",     ".simdclone", "._omp_fn",
};

/* The length of the part at `s`: its word and the numbers behind it, 0: none.
 */
static size_t part_length(const char *s)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t n = strlen(parts[i]);

		if (strncmp(s, parts[i], n) || (s[n] && s[n] != '.'))
			continue;
		while (s[n] == '.' && s[n + 1] >= '0' && s[n + 1] <= '9') {
			n++;
			n += strspn(s + n, "0123456789");
		}
		return n;
	}
	return 0;
}

/* Whether nothing but parts follows. */
static bool only_parts(const char *s)
{
	while (*s) {
		size_t n = part_length(s);

		if (!n)
			return false;
		s += n;
	}
	return true;
}

/* Cut versions and parts off, in place. */
static void cut(char *name)
{
	char *at = name;

	if (*name)
		name[1 + strcspn(name + 1, "@")] = '\0';
	while ((at = strchr(at + (*at != '\0'), '.')))
		if (at > name && only_parts(at)) {
			*at = '\0';
			break;
		}
}

static bool is_stub(const char *name)
{
	size_t n = strlen(name);

	return n > strlen(STUB) && !strcmp(name + n - strlen(STUB), STUB);
}

/* The name with the mark of a stub again, if it had one. */
static char *finish(char *name, bool stub)
{
	char *whole;

	if (!stub)
		return name;
	whole = xasprintf("%s" STUB, name);
	free(name);
	return whole;
}

char *demangle_cut(const char *name)
{
	char *copy = xstrdup(name);

	cut(copy);
	return finish(copy, is_stub(name));
}

char *demangle(const char *name)
{
	char *copy = xstrdup(name), *plain = NULL;

	cut(copy);
	if (strlen(copy) <= NAME_MAX_BYTES) {
		if (!strncmp(copy, "_R", 2) || !strncmp(copy, "_ZN", 3))
			plain = rust_demangle(copy, 0);
		if (!plain && !strncmp(copy, "_Z", 2))
			plain = cplus_demangle_v3(copy, DMGL_ANSI);
	}
	if (!plain)
		return finish(copy, is_stub(name));
	free(copy);
	return finish(plain, is_stub(name));
}
