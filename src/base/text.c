#include "base/text.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* The next character of a string as it will be shown. */
struct glyph {
	const char *bytes;
	size_t size;   /* of what is shown */
	size_t source; /* bytes of the string it stands for; 0: at the end */
	int width;
};

static struct glyph next_glyph(const char *s, size_t left)
{
	struct glyph g = { .bytes = s };
	uint32_t c;

	if (!left)
		return g;
	g.source = g.size = unicode_decode(s, left, &c);
	if (c == UNICODE_BAD || unicode_is_control(c)) {
		g.bytes = UNICODE_BAD_UTF8;
		g.size = strlen(UNICODE_BAD_UTF8);
		c = UNICODE_BAD;
	}
	g.width = unicode_width(c);
	return g;
}

int text_width(const char *s)
{
	size_t left = strlen(s);
	int width = 0;

	while (left) {
		struct glyph g = next_glyph(s, left);

		s += g.source;
		left -= g.source;
		width += g.width;
	}
	return width;
}

static void add_glyphs(struct buffer *out, const char *s, size_t n)
{
	while (n) {
		struct glyph g = next_glyph(s, n);

		buffer_add(out, g.bytes, g.size);
		s += g.source;
		n -= g.source;
	}
}

void text_add_safe(struct buffer *out, const char *s)
{
	add_glyphs(out, s, strlen(s));
}

/* Bytes of the longest beginning of s that fits into `columns`. */
static size_t fitting(const char *s, int columns)
{
	size_t n = strlen(s), used = 0;

	while (used < n) {
		struct glyph g = next_glyph(s + used, n - used);

		if (g.width > columns)
			break;
		columns -= g.width;
		used += g.source;
	}
	return used;
}

/* Where the longest end of s begins that fits into `columns`, given the width
 * of all of s. Marks that combine with a character go where it goes. */
static size_t fitting_end(const char *s, int width, int columns)
{
	size_t n = strlen(s), skipped = 0;

	while (skipped < n) {
		struct glyph g = next_glyph(s + skipped, n - skipped);

		if (width <= columns && g.width)
			break;
		width -= g.width;
		skipped += g.source;
	}
	return skipped;
}

void text_add_cut(struct buffer *out, const char *s, int columns, bool keep_end)
{
	int width = text_width(s);

	if (columns <= 0)
		return;
	if (width <= columns) {
		text_add_safe(out, s);
	} else if (keep_end) {
		buffer_add_string(out, ELLIPSIS);
		text_add_safe(out, s + fitting_end(s, width, columns - 1));
	} else {
		add_glyphs(out, s, fitting(s, columns - 1));
		buffer_add_string(out, ELLIPSIS);
	}
}

/* Three significant digits of a value below 999.5; all digits of a larger. */
static void add_digits(struct buffer *out, double v, const char *unit)
{
	int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	buffer_printf(out, "%.*f %s", decimals, v, unit);
}

void text_add_seconds(struct buffer *out, double seconds)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" } };
	double size = fabs(seconds);
	size_t i = 0;

	if (!isfinite(seconds)) {
		buffer_add_string(out, "? s");
		return;
	}
	if (size < 0.5e-12) { /* 0.00 ns is not a time anyone measured */
		buffer_add_string(out, "0 s");
		return;
	}
	/* A unit fits when the value still rounds to 1.00 of it. */
	while (i < 3 && size * units[i].scale < 0.9995)
		i++;
	if (seconds < 0)
		buffer_add_byte(out, '-');
	add_digits(out, size * units[i].scale, units[i].unit);
}

void text_add_bytes(struct buffer *out, uint64_t bytes)
{
	static const char *const units[] = { "B",  "kB", "MB", "GB",
					     "TB", "PB", "EB" };
	double v = (double)bytes;
	size_t i = 0;

	if (bytes < 1000) {
		buffer_printf(out, "%u B", (unsigned int)bytes);
		return;
	}
	for (; v >= 999.5 && i < 6; i++)
		v /= 1000;
	add_digits(out, v, units[i]);
}

void text_add_count(struct buffer *out, uint64_t n)
{
	if (n < 1000) {
		buffer_printf(out, "%u", (unsigned int)n);
		return;
	}
	text_add_count(out, n / 1000);
	buffer_printf(out, ",%03u", (unsigned int)(n % 1000));
}

static size_t character(const char *s)
{
	uint32_t c;

	return unicode_decode(s, strnlen(s, 4), &c);
}

/* A "*" is tried with as little as possible first; on a mismatch only the last
 * "*" need take one character more, so this is quadratic at worst. */
static bool matches_glob(const char *text, const char *pattern)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == '?') {
			pattern++;
			text += character(text);
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = resume += character(resume);
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

bool text_matches(const char *text, const char *pattern)
{
	if (!strpbrk(pattern, "*?"))
		return strstr(text, pattern) != NULL;
	return matches_glob(text, pattern);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
