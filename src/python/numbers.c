/* Integers and floats, written as Python's repr does. */
#include "python/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGIT_BITS 30 /* of a digit of an int on 64-bit builds */
#define DIGITS_MAX 64 /* that are written out: some 580 decimals */
#define GROUP	   1000000000u
#define GROUPS_MAX (DIGITS_MAX * DIGIT_BITS / 29 + 1)

/* Number of digits and sign of an int. */
static int read_size(const struct target *t, uint64_t object, uint64_t *digits,
		     bool *negative)
{
	const struct layout *l = t->layout;
	bool tagged = l->major == 3 && l->minor >= 12;
	uint64_t word;
	int rc = object_word(t, object, l->integer.lv_tag, &word);

	if (rc)
		return rc;
	if (tagged) { /* bits 0 and 1: 0 positive, 1 zero, 2 negative */
		*digits = (word & 3) == 1 ? 0 : word >> 3;
		*negative = (word & 3) == 2;
	} else {
		*negative = (int64_t)word < 0;
		*digits = *negative ? 0 - word : word;
	}
	return *digits > UINT32_MAX ? -ERR_CORRUPT : 0;
}

/* Divide the number in place, return the remainder. */
static uint32_t divide(uint32_t *digits, size_t n, uint32_t by)
{
	uint64_t rest = 0;

	for (size_t i = n; i-- > 0;) {
		rest = rest << DIGIT_BITS | digits[i];
		digits[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	return (uint32_t)rest;
}

static bool is_zero(const uint32_t *digits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (digits[i])
			return false;
	return true;
}

static void add_decimal(struct buffer *out, uint32_t *digits, size_t n)
{
	uint32_t groups[GROUPS_MAX];
	size_t count = 0;

	do
		groups[count++] = divide(digits, n, GROUP);
	while (!is_zero(digits, n) && count < GROUPS_MAX);
	buffer_printf(out, "%u", groups[count - 1]);
	while (--count > 0)
		buffer_printf(out, "%09u", groups[count - 1]);
}

int number_add_int(struct buffer *out, const struct target *t, uint64_t object)
{
	uint32_t digits[DIGITS_MAX];
	bool negative;
	uint64_t n;
	int rc = read_size(t, object, &n, &negative);

	if (rc)
		return rc;
	if (n > DIGITS_MAX) {
		buffer_printf(out, "<%sint of about %llu bits>",
			      negative ? "negative " : "",
			      (unsigned long long)n * DIGIT_BITS);
		return 0;
	}
	rc = memory_read(t->memory, object + t->layout->integer.digits, digits,
			 n * sizeof(digits[0]));
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		digits[i] &= (1u << DIGIT_BITS) - 1;
	if (negative)
		buffer_add_byte(out, '-');
	add_decimal(out, digits, n);
	return 0;
}

/* The fewest significant digits that give the value back. */
static int shortest(double value, char *text, size_t size)
{
	int precision = 1;

	for (; precision < 17; precision++) {
		snprintf(text, size, "%.*e", precision - 1, value);
		if (strtod(text, NULL) == value)
			return precision;
	}
	snprintf(text, size, "%.*e", precision - 1, value);
	return precision;
}

void number_add_double(struct buffer *out, double value)
{
	char text[40];
	int precision, exponent;

	if (isnan(value) || isinf(value)) {
		buffer_add_string(out, isnan(value) ? "nan"
				       : value < 0  ? "-inf"
						    : "inf");
		return;
	}
	precision = shortest(value, text, sizeof(text));
	exponent = atoi(strchr(text, 'e') + 1);
	if (exponent < -4 || exponent >= 16) {
		buffer_add_string(out, text);
		return;
	}
	precision -= exponent + 1;
	buffer_printf(out, "%.*f", precision > 1 ? precision : 1, value);
}
