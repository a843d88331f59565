#include "record/table.h"

#include <string.h>

static const char *const codings[] = {
#define TABLE_CODINGS(tag, name, columns) [tag] = columns,
	TABLE_LIST(TABLE_CODINGS)
#undef TABLE_CODINGS
};

const char *table_columns(uint64_t tag)
{
	return tag < TABLE_TAGS ? codings[tag] : NULL;
}

void table_add(struct table_writer *t, enum table_tag tag,
	       const uint64_t *values)
{
	const char *coding = codings[tag];

	for (int i = 0; coding[i]; i++) {
		if (coding[i] == 'u')
			buffer_add_varint(&t->column[i], values[i]);
		if (coding[i] == 'd')
			buffer_add_svarint(&t->column[i],
					   (int64_t)(values[i] -
						     t->previous[i]));
		t->previous[i] = values[i];
		if ((values[i] || coding[i] == 'b' || !i) &&
		    t->columns <= (unsigned)i)
			t->columns = (unsigned)i + 1;
	}
	t->rows++;
}

void table_flush(struct table_writer *t, enum table_tag tag, struct buffer *out)
{
	size_t columns = strlen(codings[tag]);
	struct buffer body = BUFFER_INIT;

	if (!t->rows)
		return;
	buffer_add_varint(&body, t->first);
	buffer_add_varint(&body, t->rows);
	buffer_add_varint(&body, t->columns);
	for (size_t i = 0; i < columns; i++) {
		if (i < t->columns)
			buffer_add_blob(&body, t->column[i].data,
					t->column[i].size);
		buffer_reset(&t->column[i]);
		t->previous[i] = 0;
	}
	t->first += t->rows;
	t->rows = t->columns = 0;
	buffer_add_varint(out, tag);
	buffer_add_blob(out, body.data, body.size);
	buffer_release(&body);
}

void table_release(struct table_writer *t)
{
	for (int i = 0; i < TABLE_COLUMNS; i++)
		buffer_release(&t->column[i]);
}

bool table_open(struct table_reader *t, const char *codings, const void *data,
		size_t size)
{
	struct cursor c = cursor_over(data, size);
	uint64_t columns;

	memset(t, 0, sizeof(*t));
	t->codings = codings;
	t->first = cursor_varint(&c);
	t->rows = cursor_varint(&c);
	columns = cursor_varint(&c);
	for (uint64_t i = 0; i < columns && !c.failed; i++) {
		size_t n;
		const void *bytes = cursor_blob(&c, &n);

		if (i < TABLE_COLUMNS)
			t->column[i] = cursor_over(bytes, n);
	}
	/* No row without a byte in its first column, so that a count cannot
	 * promise more than the file holds. */
	return !c.failed && t->rows <= cursor_left(&t->column[0]);
}

static bool next_value(struct table_reader *t, int i, uint64_t *value)
{
	struct cursor *c = &t->column[i];

	if (!c->at || t->codings[i] == 'b') {
		*value = 0;
		return true;
	}
	*value = t->codings[i] == 'u'
			 ? cursor_varint(c)
			 : t->previous[i] + (uint64_t)cursor_svarint(c);
	t->previous[i] = *value;
	return !c->failed;
}

bool table_next(struct table_reader *t, uint64_t values[TABLE_COLUMNS])
{
	if (t->next == t->rows)
		return false;
	for (int i = 0; t->codings[i]; i++)
		if (!next_value(t, i, &values[i]))
			return false;
	t->next++;
	return true;
}
