#include "workshop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "base/alloc.h"
#include "elf/symbols.h"

struct workshop workshop_begin(void)
{
	struct workshop w = { "/tmp/pyrometer-workshop-XXXXXX" };

	assert_non_null(mkdtemp(w.folder));
	return w;
}

void workshop_end(struct workshop *w)
{
	workshop_run(w, "rm -rf %s", w->folder);
}

char *workshop_path(const struct workshop *w, const char *name)
{
	return xasprintf("%s/%s", w->folder, name);
}

void workshop_write(const struct workshop *w, const char *name,
		    const char *text)
{
	char *path = workshop_path(w, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(path);
}

void workshop_run(const struct workshop *w, const char *format, ...)
{
	char command[4096], *whole;
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	whole = xasprintf("cd %s && %s", w->folder, command);
	if (system(whole)) {
		print_error("failed: %s\n", command);
		assert_true(false);
	}
	free(whole);
}

bool workshop_has(const char *program)
{
	char *command = xasprintf("command -v %s >/dev/null 2>&1", program);
	bool found = system(command) == 0;

	free(command);
	return found;
}

struct wanted {
	const char *name;
	uint64_t address;
};

static bool take(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct wanted *wanted = context;

	(void)size;
	if (!strcmp(name, wanted->name))
		wanted->address = address;
	return true;
}

uint64_t workshop_address(const struct workshop *w, const char *file,
			  const char *symbol)
{
	struct wanted wanted = { symbol, 0 };
	char *path = workshop_path(w, file);
	struct symbols *s = NULL;

	assert_int_equal(symbols_open(&s, NULL, path, NULL, NULL), 0);
	symbols_range(s, symbol, take, &wanted);
	symbols_free(s);
	free(path);
	if (!wanted.address)
		print_error("no symbol %s in %s\n", symbol, file);
	assert_true(wanted.address);
	return wanted.address;
}
