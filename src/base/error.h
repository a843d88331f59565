/* Errors: a code for the program, one sentence for the user.
 *
 * A function that can fail returns 0 or a negative code and takes the
 * `struct error *` it writes its sentence to as its last argument (NULL: the
 * caller does not care for the text). The sentence is written once, where the
 * failure happens, with the fact the user needs and what to do about it; a
 * caller may only put context in front of it. Nobody below cmd/ prints. */
#ifndef PYROMETER_BASE_ERROR_H
#define PYROMETER_BASE_ERROR_H

/* name, exit status of the program, what the code means */
#define ERROR_LIST(X)                             \
	X(USAGE, 2, "wrong usage")                \
	X(NO_PROCESS, 3, "no such process")       \
	X(NOT_PYTHON, 4, "not a Python process")  \
	X(PERMISSION, 5, "permission denied")     \
	X(UNSUPPORTED, 6, "not supported")        \
	X(UNREADABLE, 7, "memory cannot be read") \
	X(CORRUPT, 8, "broken data")              \
	X(IO, 9, "input or output failed")        \
	X(GONE, 10, "process has ended")          \
	X(NOT_FOUND, 11, "not found")             \
	X(LIMIT, 12, "limit exceeded")

enum error_code {
	ERR_NONE = 0,
#define ERROR_ENUM(name, status, text) ERR_##name,
	ERROR_LIST(ERROR_ENUM)
#undef ERROR_ENUM
		ERR_HELP, /* no failure: --help stands among the options */
};

struct error {
	int code; /* enum error_code, positive; 0 when nothing happened */
	char text[480];
};

#define ERROR_INIT \
	{          \
		0  \
	}

/* Record a failure and return -code, so that callers write `return fail(...)`.
 */
int fail(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " in front of the text. Returns -code of the error. */
int error_context(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What a code means, for errors that carry no text. Accepts either sign. */
const char *error_name(int code);

/* The exit status for a code (either sign); 0 for ERR_NONE. */
int error_exit_status(int code);

#endif
