/* The four line tables of CPython.
 *
 * co_lnotab (to 3.9) is a list of steps (bytes of code, lines); the line of an
 * instruction is the sum of the steps that begin at or before it. co_linetable
 * of 3.10 has ranges in the same shape: (bytes of code that this line covers,
 * step in lines to it), -128 for code of no line. Since 3.11 the table holds
 * entries of a head byte (bit 7 set, kind, length in code units) and bytes
 * without bit 7, whose kind says how line and columns are coded; we only want
 * the line, so columns are skipped by looking for the next head. */
#include "python/lines.h"

#include <stdbool.h>

/* Units to fill from here on. */
struct fill {
	uint32_t *lines;
	size_t at, n;
};

static void fill_until(struct fill *f, size_t end, int64_t line)
{
	uint32_t value = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;

	while (f->at < end && f->at < f->n)
		f->lines[f->at++] = value;
}

/* `shift`: log2 of the bytes of a code unit. */
static void expand_lnotab(struct fill *f, const unsigned char *table,
			  size_t size, int64_t line, bool is_signed, int shift)
{
	size_t address = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		address += table[i];
		fill_until(f, address >> shift, line);
		line += is_signed ? (int8_t)table[i + 1] : table[i + 1];
	}
	fill_until(f, f->n, line);
}

static void expand_pairs(struct fill *f, const unsigned char *table,
			 size_t size, int64_t line)
{
	size_t address = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		address += table[i];
		if (step != -128)
			line += step;
		fill_until(f, address >> 1, step == -128 ? 0 : line);
	}
	fill_until(f, f->n, 0);
}

/* A number in six-bit groups, lowest first, bit 6: more follow; its own lowest
 * bit is the sign. */
static int64_t read_signed(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;
	unsigned char byte = 0x40;

	for (int shift = 0; byte & 0x40 && *at < end && shift < 36;
	     shift += 6) {
		byte = *(*at)++;
		value |= (uint64_t)(byte & 63) << shift;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum location_kind {
	LOCATION_ONE_LINE = 10, /* to 12: the step is 0 to 2 */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

static int64_t line_step(unsigned kind, const unsigned char **at,
			 const unsigned char *end)
{
	if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
		return read_signed(at, end);
	if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
		return kind - LOCATION_ONE_LINE;
	return 0;
}

static void expand_locations(struct fill *f, const unsigned char *table,
			     size_t size, int64_t line)
{
	const unsigned char *at = table, *end = table + size;
	size_t unit = 0;

	while (at < end) {
		unsigned char head = *at++;
		unsigned kind = head >> 3 & 15;

		line += line_step(kind, &at, end);
		unit += (head & 7) + 1u;
		fill_until(f, unit, kind == LOCATION_NONE ? 0 : line);
		while (at < end && !(*at & 0x80))
			at++;
	}
	fill_until(f, f->n, 0);
}

void lines_expand(enum line_style style, const unsigned char *table,
		  size_t size, uint32_t first_line, uint32_t *lines, size_t n)
{
	struct fill f = { lines, 0, n };

	switch (style) {
	case LINES_LNOTAB_UNSIGNED:
		expand_lnotab(&f, table, size, first_line, false, 0);
		break;
	case LINES_LNOTAB:
		expand_lnotab(&f, table, size, first_line, true, 1);
		break;
	case LINES_PAIRS:
		expand_pairs(&f, table, size, first_line);
		break;
	case LINES_LOCATIONS:
		expand_locations(&f, table, size, first_line);
		break;
	}
}
