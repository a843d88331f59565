#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int status;
	const char *text;
} errors[] = { [ERR_NONE] = { 0, "no error" },
#define ERROR_ROW(name, status, text) [ERR_##name] = { status, text },
	       ERROR_LIST(ERROR_ROW)
#undef ERROR_ROW
};

#define N_ERRORS ((int)(sizeof(errors) / sizeof(errors[0])))

int fail(struct error *err, int code, const char *format, ...)
{
	if (err) {
		va_list args;

		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -code;
}

int error_context(struct error *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	size_t n;

	if (!err)
		return -ERR_IO;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return -err->code;
}

static int row(int code)
{
	if (code < 0)
		code = -code;
	return code < N_ERRORS ? code : ERR_IO;
}

const char *error_name(int code)
{
	return errors[row(code)].text;
}

int error_exit_status(int code)
{
	return errors[row(code)].status;
}
