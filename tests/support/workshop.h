/* A folder to make object files in, with the tools that programmers make them
 * with. What a test needs and this machine lacks is skipped. */
#ifndef PYROMETER_TESTS_WORKSHOP_H
#define PYROMETER_TESTS_WORKSHOP_H

#include <stdbool.h>
#include <stdint.h>

struct workshop {
	char folder[64];
};

struct workshop workshop_begin(void);
void workshop_end(struct workshop *w);

/* A path in the folder; free() it. */
char *workshop_path(const struct workshop *w, const char *name);

/* Write a file there. */
void workshop_write(const struct workshop *w, const char *name,
		    const char *text);

/* Run a shell command there, which must succeed. printf-like. */
void workshop_run(const struct workshop *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether there is a program of that name. */
bool workshop_has(const char *program);

/* The address of a symbol in the file, which must have it. */
uint64_t workshop_address(const struct workshop *w, const char *file,
			  const char *symbol);

#endif
