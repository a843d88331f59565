#include "record/info.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum field_type { FIELD_U64, FIELD_U32, FIELD_BOOL, FIELD_TEXT };

/* A tag, once given, is never given to another field. */
static const struct field {
	uint8_t tag;
	uint8_t type;
	size_t offset;
} fields[] = {
#define FIELD(tag, type, name)                                   \
	{                                                        \
		tag, type, offsetof(struct recording_info, name) \
	}
	FIELD(1, FIELD_U64, wall_start),    FIELD(2, FIELD_U64, period),
	FIELD(3, FIELD_U64, duration),	    FIELD(4, FIELD_U64, ticks),
	FIELD(5, FIELD_U64, missed),	    FIELD(6, FIELD_U64, samples),
	FIELD(7, FIELD_U64, torn),	    FIELD(8, FIELD_U64, unproven),
	FIELD(9, FIELD_U64, unreadable),    FIELD(10, FIELD_U64, lost),
	FIELD(11, FIELD_U64, retried),	    FIELD(12, FIELD_U64, ridden),
	FIELD(13, FIELD_U64, recorder_cpu), FIELD(14, FIELD_U32, filter),
	FIELD(15, FIELD_BOOL, complete),    FIELD(16, FIELD_TEXT, version),
	FIELD(17, FIELD_TEXT, host),	    FIELD(18, FIELD_TEXT, command),
	FIELD(19, FIELD_TEXT, note),	    FIELD(20, FIELD_U64, native),
	FIELD(21, FIELD_U64, broken),	    FIELD(22, FIELD_U64, unmerged),
	FIELD(23, FIELD_U32, registers),    FIELD(24, FIELD_U64, visited),
	FIELD(25, FIELD_U64, clocked),	    FIELD(26, FIELD_U64, watched),
	FIELD(27, FIELD_U64, drawn),
#undef FIELD
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static void *member(struct recording_info *info, const struct field *f)
{
	return (char *)info + f->offset;
}

static const void *const_member(const struct recording_info *info,
				const struct field *f)
{
	return (const char *)info + f->offset;
}

static const char *text_of(const struct recording_info *info,
			   const struct field *f)
{
	const char *text = *(const char *const *)const_member(info, f);

	return text ? text : "";
}

static uint64_t number_of(const struct recording_info *info,
			  const struct field *f)
{
	const void *p = const_member(info, f);

	switch (f->type) {
	case FIELD_U64:
		return *(const uint64_t *)p;
	case FIELD_U32:
		return *(const uint32_t *)p;
	default:
		return *(const bool *)p;
	}
}

static void set_number(struct recording_info *info, const struct field *f,
		       uint64_t v)
{
	if (f->type == FIELD_U64)
		*(uint64_t *)member(info, f) = v;
	else if (f->type == FIELD_U32)
		*(uint32_t *)member(info, f) = (uint32_t)v;
	else
		*(bool *)member(info, f) = v != 0;
}

static void set_text(struct recording_info *info, const struct field *f,
		     const char *text)
{
	*(const char **)member(info, f) = text;
}

void info_init(struct recording_info *info)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].type == FIELD_TEXT)
			set_text(info, &fields[i], text_of(info, &fields[i]));
}

static void encode_number(struct buffer *out, const struct field *f, uint64_t v)
{
	struct buffer number = BUFFER_INIT;

	buffer_add_varint(&number, v);
	buffer_add_varint(out, f->tag);
	buffer_add_blob(out, number.data, number.size);
	buffer_release(&number);
}

void info_encode(struct buffer *out, const struct recording_info *info,
		 const struct recording_info *old)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		const struct field *f = &fields[i];

		if (f->type != FIELD_TEXT) {
			if (number_of(info, f) != number_of(old, f))
				encode_number(out, f, number_of(info, f));
		} else if (strcmp(text_of(info, f), text_of(old, f))) {
			buffer_add_varint(out, f->tag);
			buffer_add_blob(out, text_of(info, f),
					strlen(text_of(info, f)));
		}
	}
}

static const struct field *field_of(uint64_t tag)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].tag == tag)
			return &fields[i];
	return NULL;
}

bool info_decode(struct recording_info *info, struct arena *arena,
		 const void *data, size_t size)
{
	struct cursor c = cursor_over(data, size);

	while (!c.failed && cursor_left(&c)) {
		const struct field *f = field_of(cursor_varint(&c));
		size_t n;
		const void *value = cursor_blob(&c, &n);
		struct cursor v = cursor_over(value, n);

		if (!value || !f)
			continue;
		if (f->type == FIELD_TEXT)
			set_text(info, f, arena_strndup(arena, value, n));
		else
			set_number(info, f, cursor_varint(&v));
		c.failed |= v.failed;
	}
	return !c.failed;
}

void info_copy(struct recording_info *to, const struct recording_info *from)
{
	struct recording_info old = *to;

	*to = *from;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].type == FIELD_TEXT)
			set_text(to, &fields[i],
				 xstrdup(text_of(from, &fields[i])));
	info_release(&old);
}

void info_release(struct recording_info *info)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (fields[i].type != FIELD_TEXT)
			continue;
		free(*(char **)member(info, &fields[i]));
		set_text(info, &fields[i], NULL);
	}
}
