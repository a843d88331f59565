#include "analyze/search.h"

#include <regex.h>
#include <stdlib.h>

#include "base/alloc.h"

static bool matches(const regex_t *regex, const char *text)
{
	return !regexec(regex, text, 0, NULL, 0);
}

static bool *match_functions(const struct reader *reader, const regex_t *regex)
{
	uint32_t n = reader_functions(reader);
	bool *hits = xcalloc(n, sizeof(*hits));

	for (uint32_t i = 0; i < n; i++) {
		const struct function_info *f = reader_function(reader, i);

		hits[i] = matches(regex, f->name) || matches(regex, f->file) ||
			  matches(regex, f->module);
	}
	return hits;
}

bool *search_names(const struct reader *reader, const char *pattern,
		   struct error *err)
{
	char why[128];
	regex_t regex;
	bool *hits;
	int status =
		regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);

	if (status) {
		regerror(status, &regex, why, sizeof(why));
		fail(err, ERR_USAGE, "this is no regular expression: %s", why);
		return NULL;
	}
	hits = match_functions(reader, &regex);
	regfree(&regex);
	return hits;
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
	*s = (struct search){ .hits = search_names(p->reader, pattern, err) };
	if (!s->hits)
		return -ERR_USAGE;
	for (uint32_t i = 0; i < reader_functions(p->reader); i++)
		s->n_hits += s->hits[i];
	count(s, p);
	return 0;
}

void search_release(struct search *s)
{
	free(s->hits);
}
