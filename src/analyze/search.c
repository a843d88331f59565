#include "analyze/search.h"

#include <regex.h>
#include <stdlib.h>

#include "base/alloc.h"

static bool matches(const regex_t *regex, const char *text)
{
	return !regexec(regex, text, 0, NULL, 0);
}

static void match_functions(struct search *s, const struct reader *reader,
			    const regex_t *regex)
{
	uint32_t n = reader_functions(reader);

	s->hits = xcalloc(n, sizeof(*s->hits));
	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(reader, i);

		s->hits[i] = matches(regex, f->name) || matches(regex, f->file);
		s->n_hits += s->hits[i];
	}
}

/* Parents come first, so that what they know is known to their children. */
static void count(struct search *s, const struct profile *p)
{
	bool *within = xcalloc(p->n_nodes, sizeof(*within));

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		struct node_info node = reader_node(p->reader, i);
		bool hit =
			s->hits[reader_frame(p->reader, node.frame).function];

		within[i] =
			hit || (node.parent != ID_NONE && within[node.parent]);
		if (within[i])
			s->samples += p->self[i];
		if (hit)
			s->self += p->self[i];
	}
	free(within);
}

int search_functions(struct search *s, const struct profile *p,
		     const char *pattern, struct error *err)
{
	char why[128];
	regex_t regex;
	int status =
		regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);

	*s = (struct search){ 0 };
	if (status) {
		regerror(status, &regex, why, sizeof(why));
		return fail(err, ERR_USAGE, "this is no regular expression: %s",
			    why);
	}
	match_functions(s, p->reader, &regex);
	count(s, p);
	regfree(&regex);
	return 0;
}

void search_release(struct search *s)
{
	free(s->hits);
}
