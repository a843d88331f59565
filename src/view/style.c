#include "view/style.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define HOT_SHARE  0.20
#define WARM_SHARE 0.05

static const char *const ink_codes[INKS] = {
	[INK_PLAIN] = "",	 [INK_STRONG] = "\033[1m",
	[INK_DIM] = "\033[2m",	 [INK_HOT] = "\033[31m",
	[INK_WARM] = "\033[33m", [INK_ALERT] = "\033[1;31m",
};

struct view_line view_line(struct buffer *out, const struct view_style *style)
{
	int width = style->width < VIEW_WIDTH_LEAST ? VIEW_WIDTH_LEAST
						    : style->width;

	return (struct view_line){ .out = out, .style = style, .left = width };
}

static void begin_ink(struct view_line *line, enum ink ink)
{
	if (line->style->colour)
		buffer_add_string(line->out, ink_codes[ink]);
}

static void end_ink(struct view_line *line, enum ink ink)
{
	if (line->style->colour && ink_codes[ink][0])
		buffer_add_string(line->out, "\033[0m");
}

/* Without Unicode, what the text functions put in place of what was cut, or of
 * anything odd, must be ASCII too. */
static void add_ascii(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x80)
			buffer_add_byte(out, c);
		else if (c >= 0xc0)
			buffer_add_byte(out, strncmp(text, "\xe2\x80\xa6", 3)
						     ? '?'
						     : '~');
	}
}

void view_add_cut(struct view_line *line, enum ink ink, const char *text,
		  int columns, bool keep_end)
{
	struct buffer shown = BUFFER_INIT;

	if (columns > line->left)
		columns = line->left;
	if (columns <= 0 || !*text)
		return;
	text_add_cut(&shown, text, columns, keep_end);
	line->left -= text_width(buffer_text(&shown));
	begin_ink(line, ink);
	if (line->style->unicode)
		buffer_add(line->out, shown.data, shown.size);
	else
		add_ascii(line->out, buffer_text(&shown));
	end_ink(line, ink);
	buffer_release(&shown);
}

void view_add(struct view_line *line, enum ink ink, const char *text)
{
	view_add_cut(line, ink, text, line->left, false);
}

static void add_spaces(struct view_line *line, int n)
{
	for (; n > 0 && line->left > 0; n--, line->left--)
		buffer_add_byte(line->out, ' ');
}

void view_add_right(struct view_line *line, enum ink ink, const char *text,
		    int columns)
{
	add_spaces(line, columns - text_width(text));
	view_add_cut(line, ink, text, columns, false);
}

void view_add_left(struct view_line *line, enum ink ink, const char *text,
		   int columns)
{
	int before = line->left;

	view_add_cut(line, ink, text, columns, false);
	add_spaces(line, columns - (before - line->left));
}

static void add_formatted(struct view_line *line, enum ink ink,
			  const char *format, va_list args)
{
	struct buffer text = BUFFER_INIT;

	buffer_vprintf(&text, format, args);
	view_add(line, ink, buffer_text(&text));
	buffer_release(&text);
}

void view_add_format(struct view_line *line, enum ink ink, const char *format,
		     ...)
{
	va_list args;

	va_start(args, format);
	add_formatted(line, ink, format, args);
	va_end(args);
}

void view_end(struct view_line *line)
{
	buffer_add_byte(line->out, '\n');
}

enum ink view_share_ink(double share)
{
	return share >= HOT_SHARE    ? INK_HOT
	       : share >= WARM_SHARE ? INK_WARM
				     : INK_PLAIN;
}

struct view_facts view_facts(struct buffer *out, const struct view_style *style)
{
	return (struct view_facts){ view_line(out, style), false };
}

static void break_line(struct view_line *line)
{
	int indent = line->indent;

	view_end(line);
	*line = view_line(line->out, line->style);
	line->indent = indent;
	add_spaces(line, indent);
}

void view_words(struct view_line *line, enum ink ink, const char *text)
{
	struct buffer word = BUFFER_INIT;

	while (*text) {
		int gap = (int)strspn(text, " ");
		size_t n = strcspn(text + gap, " ");

		buffer_reset(&word);
		buffer_add(&word, text + gap, n);
		text += (size_t)gap + n;
		if (gap && gap + text_width(buffer_text(&word)) > line->left)
			break_line(line);
		else
			add_spaces(line, gap);
		view_add(line, ink, buffer_text(&word));
	}
	buffer_release(&word);
}

void view_words_format(struct view_line *line, enum ink ink, const char *format,
		       ...)
{
	struct buffer text = BUFFER_INIT;
	va_list args;

	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	view_words(line, ink, buffer_text(&text));
	buffer_release(&text);
}

void view_fact(struct view_facts *facts, enum ink ink, const char *format, ...)
{
	struct view_line *line = &facts->line;
	const char *dot = line->style->unicode ? " \xc2\xb7 " : "; ";
	struct buffer text = BUFFER_INIT;
	va_list args;

	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	if (facts->any && text_width(buffer_text(&text)) + 3 > line->left) {
		break_line(line);
		facts->any = false;
	}
	if (facts->any)
		view_add(line, INK_DIM, dot);
	view_words(line, ink, buffer_text(&text));
	facts->any = true;
	buffer_release(&text);
}

void view_facts_end(struct view_facts *facts)
{
	if (facts->any)
		view_end(&facts->line);
}

static struct view_number number_from(struct buffer *text)
{
	struct view_number n;

	snprintf(n.text, sizeof(n.text), "%s", buffer_text(text));
	buffer_release(text);
	return n;
}

struct view_number view_seconds(double seconds)
{
	struct buffer text = BUFFER_INIT;

	text_add_seconds(&text, seconds);
	return number_from(&text);
}

struct view_number view_count(uint64_t n)
{
	struct buffer text = BUFFER_INIT;

	text_add_count(&text, n);
	return number_from(&text);
}

struct view_number view_integer(uint64_t n)
{
	struct view_number number;

	snprintf(number.text, sizeof(number.text), "%" PRIu64, n);
	return number;
}

const char *view_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

struct view_number view_sure(const struct confidence *c)
{
	struct view_number n = view_points(interval_half(c->run));

	strcat(n.text, c->drifts ? "~" : " ");
	return n;
}

struct view_number view_points(double share)
{
	struct view_number n;

	snprintf(n.text, sizeof(n.text), share < 0.001 ? "%.2f" : "%.1f",
		 share * 100);
	return n;
}

struct view_number view_percent(double share)
{
	struct view_number n;

	snprintf(n.text, sizeof(n.text), "%.1f%%", share * 100);
	return n;
}
