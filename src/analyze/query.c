#include "analyze/query.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place. What is no escape stays as it is; %00 would end the text. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		int high = *s == '%' ? hex_digit(s[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(s[2]);

		if (low >= 0 && high * 16 + low) {
			*out++ = (char)(high * 16 + low);
			s += 2;
		} else {
			*out++ = *s == '+' ? ' ' : *s;
		}
	}
	*out = '\0';
}

static void take_field(struct query *q, char *text)
{
	struct query_field *f = &q->fields[q->n_fields];
	char *equals = strchr(text, '=');

	if (!equals || q->n_fields == QUERY_FIELDS)
		return;
	*equals = '\0';
	unescape(equals + 1);
	*f = (struct query_field){ text, equals + 1 };
	q->n_fields++;
}

void query_parse(struct query *q, const char *request, struct arena *arena)
{
	char *at = arena_strdup(arena, request);

	q->n_fields = 0;
	while (at) {
		char *end = strchr(at, '&');

		if (end)
			*end++ = '\0';
		take_field(q, at);
		at = end;
	}
}

const char *query_text(const struct query *q, const char *name,
		       const char *otherwise)
{
	for (size_t i = 0; i < q->n_fields; i++)
		if (!strcmp(q->fields[i].name, name))
			return q->fields[i].value;
	return otherwise;
}

uint64_t query_number(const struct query *q, const char *name,
		      uint64_t otherwise)
{
	const char *text = query_text(q, name, "");

	return *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10)
					    : otherwise;
}

uint32_t query_within(const struct query *q, const char *name,
		      uint32_t otherwise, uint32_t least, uint32_t most)
{
	uint64_t v = query_number(q, name, otherwise);

	return v < least ? least : v > most ? most : (uint32_t)v;
}

bool query_flag(const struct query *q, const char *name)
{
	const char *text = query_text(q, name, "");

	return *text && strcmp(text, "0");
}

size_t query_list(const struct query *q, const char *name, uint32_t **out,
		  struct arena *arena)
{
	const char *at = query_text(q, name, "");
	size_t n = 0;
	char *end;

	*out = arena_calloc(arena, strlen(at) / 2 + 1, sizeof(**out));
	while (*at >= '0' && *at <= '9') {
		(*out)[n++] = (uint32_t)strtoul(at, &end, 10);
		at = *end == ',' ? end + 1 : end;
	}
	return n;
}
