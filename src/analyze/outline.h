/* What of a call tree is worth showing: library code folded, small branches
 * left out, the heaviest first.
 *
 * Of consecutive calls within library code the first, the one that the user's
 * code makes, stays; what is beneath is folded into it, and the line says how
 * many calls it hides and of which packages. Where the library calls back, the
 * user's code goes on below that line. A tree with hardly any user's code in it
 * is not folded: then the library is what one looks at. */
#ifndef PYROMETER_ANALYZE_OUTLINE_H
#define PYROMETER_ANALYZE_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/calltree.h"
#include "base/arena.h"

#define OUTLINE_PACKAGES 3

enum outline_kind {
	OUTLINE_CALL, /* a function */
	OUTLINE_SELF, /* the time that the line above it spent itself */
	OUTLINE_REST, /* `count` branches that were left out */
};

struct outline_line {
	enum outline_kind kind;
	uint32_t depth; /* 0: called by nobody */
	bool last;	/* no sibling follows */
	bool recursive;
	bool library;
	uint32_t function; /* CALL; SELF: of its parent; ID_NONE: of none */
	uint32_t count;	   /* REST: branches */
	uint32_t hidden;   /* CALL: library calls folded into it; SELF: the same
			    * of its parent */
	uint32_t line;	   /* that has most of the self time; 0: none has */
	uint64_t samples;
	uint64_t self; /* of these, not in the lines below */
	/* Of the hidden calls, heaviest first; NULL after the last. */
	const char *packages[OUTLINE_PACKAGES];
};

struct outline {
	struct outline_line *lines;
	uint32_t n_lines;
	uint64_t samples;  /* of the whole tree */
	uint32_t branches; /* that were left out */
	uint64_t largest;  /* samples of the largest of these */
};

struct outline_options {
	double least;	/* leave out branches below this share of the tree */
	uint32_t limit; /* show at most about this many; 0: any number */
	bool exact;	/* never a line more, self times and rests included */
	bool unfolded;	/* show library code in full */
};

/* Of a tree that was summed. Lives in the arena. */
void outline_make(struct outline *out, const struct calltree *tree,
		  const struct reader *reader,
		  const struct outline_options *options, struct arena *arena);

#endif
