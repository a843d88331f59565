#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define STUB	       "@plt"
#define FORTRAN_MIDDLE "_MOD_"
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

/* gfortran's __MODULE_MOD_PROCEDURE as MODULE::PROCEDURE; NULL: it is none. All
 * that people write is in small letters there. */
static char *fortran(const char *name)
{
	const char *middle = strstr(name, FORTRAN_MIDDLE);

	if (strncmp(name, "__", 2) || !middle || middle <= name + 2 ||
	    !middle[strlen(FORTRAN_MIDDLE)])
		return NULL;
	return xasprintf("%.*s::%s", (int)(middle - name - 2), name + 2,
			 middle + strlen(FORTRAN_MIDDLE));
}

bool demangle_is_mangled(const char *name)
{
	if (name[0] != '_')
		return false;
	return name[1] == 'Z' || name[1] == 'R' ||
	       (name[1] == '_' && strstr(name, FORTRAN_MIDDLE));
}

/* What to show of a name that was cut, which this frees. */
static char *choose(char *copy, char *plain, bool stub)
{
	if (!plain && strlen(copy) <= NAME_MAX_BYTES)
		plain = fortran(copy);
	if (!plain)
		return finish(copy, stub);
	free(copy);
	return finish(plain, stub);
}

char *demangle_cut(const char *name)
{
	char *copy = xstrdup(name);

	cut(copy);
	return choose(copy, NULL, is_stub(name));
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
	return choose(copy, plain, is_stub(name));
}
