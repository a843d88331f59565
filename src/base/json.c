#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"

static void add_escaped(struct buffer *out, unsigned char c)
{
	static const char short_forms[][2] = {
		{ '"', '"' },  { '\\', '\\' }, { '\n', 'n' }, { '\r', 'r' },
		{ '\t', 't' }, { '\b', 'b' },  { '\f', 'f' },
	};

	for (size_t i = 0; i < sizeof(short_forms) / 2; i++) {
		if (short_forms[i][0] == (char)c) {
			buffer_add_byte(out, '\\');
			buffer_add_byte(out, (unsigned char)short_forms[i][1]);
			return;
		}
	}
	buffer_printf(out, "\\u%04x", c);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void add_quoted(struct buffer *out, const char *s, size_t n)
{
	size_t size;
	uint32_t c;

	buffer_add_byte(out, '"');
	for (; n; s += size, n -= size) {
		for (size = 0; size < n && is_plain((unsigned char)s[size]);)
			size++;
		if (size) {
			buffer_add(out, s, size);
			continue;
		}
		size = unicode_decode(s, n, &c);
		if (c == UNICODE_BAD)
			buffer_add_string(out, UNICODE_BAD_UTF8);
		else if (c < 0x80)
			add_escaped(out, (unsigned char)c);
		else
			buffer_add(out, s, size);
	}
	buffer_add_byte(out, '"');
}

/* Everything in front of a value. False: too deep, nothing is to be written. */
static bool begin(struct json *j, const char *key)
{
	if (j->depth > JSON_DEPTH)
		return false;
	if (j->comma)
		buffer_add_byte(j->out, ',');
	j->comma = true;
	if (key) {
		add_quoted(j->out, key, strlen(key));
		buffer_add_byte(j->out, ':');
	}
	return true;
}

void json_open(struct json *j, const char *key, char bracket)
{
	if (j->depth == JSON_DEPTH)
		json_null(j, key); /* in place of what is too deep */
	else if (begin(j, key)) {
		buffer_add_byte(j->out, (unsigned char)bracket);
		j->closer[j->depth] = bracket == '{' ? '}' : ']';
		j->comma = false;
	}
	j->depth++;
}

void json_close(struct json *j)
{
	assert(j->depth > 0);
	j->depth--;
	if (j->depth >= JSON_DEPTH)
		return;
	buffer_add_byte(j->out, (unsigned char)j->closer[j->depth]);
	j->comma = true;
}

void json_bytes(struct json *j, const char *key, const char *text, size_t n)
{
	if (begin(j, key))
		add_quoted(j->out, text, n);
}

void json_string(struct json *j, const char *key, const char *text)
{
	json_bytes(j, key, text, strlen(text));
}

/* Digit by digit: exports write millions of these. */
void json_int(struct json *j, const char *key, int64_t v)
{
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
	char text[24], *p = text + sizeof(text);

	if (!begin(j, key))
		return;
	do
		*--p = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--p = '-';
	buffer_add(j->out, p, (size_t)(text + sizeof(text) - p));
}

/* The shortest text that reads back as the same number. */
void json_double(struct json *j, const char *key, double v)
{
	char text[32];

	if (!isfinite(v)) {
		json_null(j, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	if (begin(j, key))
		buffer_add_string(j->out, text);
}

void json_bool(struct json *j, const char *key, bool v)
{
	if (begin(j, key))
		buffer_add_string(j->out, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	if (begin(j, key))
		buffer_add_string(j->out, "null");
}
