/* The instructions of a function with the samples on each: what report --asm
 * prints. */
#ifndef PYROMETER_VIEW_LISTING_H
#define PYROMETER_VIEW_LISTING_H

#include "analyze/code.h"
#include "base/arena.h"

struct listing_row {
	uint64_t address;
	uint32_t size;	   /* bytes; 0: of a row that is only an address */
	const char *text;  /* of the instruction; NULL: not known */
	uint64_t target;   /* of a direct call; 0: none */
	const char *calls; /* what that is called; NULL: not known */
	bool shown;
	uint32_t site; /* with most of its samples; ID_NONE: it has none */
	/* The innermost function there, and its line; "" and 0: not known. */
	const char *function, *file;
	uint32_t line;
	uint64_t flat_samples, cum_samples;
	struct share_count flat, cum; /* of the address with most of them */
};

struct listing {
	struct listing_row *rows; /* by address */
	uint32_t n_rows, capacity;
	char *note; /* why there are no instructions, or what is unsure of them;
		     * or NULL */
};

struct listing_options {
	uint32_t limit; /* show about so many rows with samples; 0: all rows */
};

/* The file must be on this machine and have the build id that was recorded;
 * otherwise there is a row for each address with samples. Free with
 * listing_release; texts live in the arena. */
void listing_make(struct listing *out, const struct profile *p,
		  const struct code *code,
		  const struct listing_options *options, struct arena *arena);
void listing_release(struct listing *l);

#endif
