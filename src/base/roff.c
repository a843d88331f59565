#include "base/roff.h"

#include <string.h>

/* roff takes a dot or a quote at the start of a line for a command, and a
 * backslash for an escape; its plain "-" is a hyphen. */
static void add_escaped(struct buffer *out, const char *s, size_t n)
{
	if (n && (*s == '.' || *s == '\''))
		buffer_add_string(out, "\\&");
	for (; n--; s++) {
		if (*s == '\\')
			buffer_add_string(out, "\\e");
		else if (*s == '-')
			buffer_add_string(out, "\\-");
		else
			buffer_add_byte(out, (unsigned char)*s);
	}
}

void roff_text(struct buffer *out, const char *text)
{
	add_escaped(out, text, strlen(text));
}

static const char *add_line(struct buffer *out, const char *s)
{
	size_t n = strcspn(s, "\n");

	add_escaped(out, s, n);
	buffer_add_byte(out, '\n');
	return s[n] ? s + n + 1 : s + n;
}

/* Returns what follows the paragraph. */
static const char *add_paragraph(struct buffer *out, const char *s)
{
	bool table = *s == ' ';

	buffer_add_string(out, table ? ".PP\n.nf\n" : ".PP\n");
	while (*s && *s != '\n')
		s = add_line(out, s);
	if (table)
		buffer_add_string(out, ".fi\n");
	return s;
}

void roff_paragraphs(struct buffer *out, const char *text)
{
	while (*(text += strspn(text, "\n")))
		text = add_paragraph(out, text);
}
