/* Code objects, decoded once: names, file, and a line for every code unit.
 *
 * A code object is found by its address, and an address can be used again
 * after the object is freed. What tells two apart cheaply are a few words of
 * the object that stay as they are while it lives (pointers to its names, its
 * line table, its number): they lie close together, so comparing them costs one
 * short read, which fits into the vectored read of a sample. */
#include "python/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/lines.h"
#include "python/object.h"

#define CODE_HEAD_MAX 1024 /* bytes of a code object before its bytecode */

/* The fields of the fingerprint; 0 bytes: not in this version. */
struct mark {
	uint16_t field;
	uint8_t bytes;
};

#define MARKS 6

static void choose_marks(const struct layout *l, struct mark marks[MARKS])
{
	bool old = l->frames == FRAME_OBJECTS;
	bool numbered = l->code.version != LAYOUT_NONE;

	marks[0] = (struct mark){ l->code.filename, 8 };
	marks[1] = (struct mark){ l->code.name, 8 };
	marks[2] = (struct mark){ l->code.linetable, 8 };
	marks[3] = (struct mark){ l->code.firstlineno, 4 };
	marks[4] = (struct mark){ old ? l->code.code : l->code.qualname, 8 };
	marks[5] = (struct mark){ old	     ? l->code.varnames
				  : numbered ? l->code.version
					     : l->code.localsplusnames,
				  numbered ? 4 : 8 };
}

void code_fingerprint_range(const struct layout *layout, size_t *offset,
			    size_t *size)
{
	struct mark marks[MARKS];
	size_t low = SIZE_MAX, high = 0;

	choose_marks(layout, marks);
	for (int i = 0; i < MARKS; i++) {
		if (marks[i].field < low)
			low = marks[i].field;
		if (marks[i].field + marks[i].bytes > high)
			high = marks[i].field + marks[i].bytes;
	}
	*offset = low;
	*size = high - low;
}

void code_fingerprint(const struct layout *layout, const void *bytes,
		      uint64_t fingerprint[6])
{
	struct mark marks[MARKS];
	size_t low, size;

	choose_marks(layout, marks);
	code_fingerprint_range(layout, &low, &size);
	for (int i = 0; i < MARKS; i++)
		fingerprint[i] = marks[i].bytes == 8
					 ? word_at(bytes, marks[i].field - low)
					 : int_at(bytes, marks[i].field - low);
}

/* A code object being read. */
struct reading {
	struct target target;
	uint64_t address;
	unsigned char head[CODE_HEAD_MAX];
	struct arena *arena;
};

static int check_type(const struct reading *r, uint64_t code_type)
{
	uint64_t found = word_at(r->head, r->target.layout->object.type);
	struct type type;

	if (code_type)
		return found == code_type ? 0 : -ERR_CORRUPT;
	if (type_read(&r->target, found, &type) || !type_is(&type, "code"))
		return -ERR_CORRUPT;
	return 0;
}

static int read_head(struct reading *r, uint64_t code_type)
{
	const struct layout *l = r->target.layout;
	int rc;

	if (l->code.size > sizeof(r->head) ||
	    l->object.type + 8u > l->code.size ||
	    l->object.var_size + 8u > l->code.size)
		return -ERR_CORRUPT;
	rc = memory_read(r->target.memory, r->address, r->head, l->code.size);
	return rc ? rc : check_type(r, code_type);
}

static int read_text(const struct reading *r, uint16_t field, const char **out)
{
	struct buffer text = BUFFER_INIT;
	int rc = text_read(&text, r->target.memory, r->target.layout,
			   word_at(r->head, field), CODE_NAME_MAX);

	if (!rc)
		*out = arena_strndup(r->arena, buffer_text(&text), text.size);
	buffer_release(&text);
	return rc;
}

/* How many code units the bytecode has. */
static int count_units(const struct reading *r, uint32_t *n)
{
	const struct layout *l = r->target.layout;
	uint64_t count, data;
	int rc = 0;

	if (l->frames != FRAME_OBJECTS)
		count = word_at(r->head, l->object.var_size);
	else
		rc = bytes_locate(&r->target, word_at(r->head, l->code.code),
				  &data, &count);
	if (rc)
		return rc;
	if (l->frames == FRAME_OBJECTS && l->lines != LINES_LNOTAB_UNSIGNED)
		count /= 2;
	if (count > CODE_UNITS_MAX)
		return -ERR_CORRUPT;
	*n = (uint32_t)count;
	return 0;
}

static int read_lines(const struct reading *r, struct code *out)
{
	const struct layout *l = r->target.layout;
	unsigned char *table = NULL;
	uint64_t data, size;
	uint32_t *lines;
	int rc;

	rc = bytes_locate(&r->target, word_at(r->head, l->code.linetable),
			  &data, &size);
	if (rc)
		return rc;
	if (size > CODE_LINETABLE_MAX)
		return -ERR_CORRUPT;
	table = xmalloc(size + 1);
	rc = memory_read(r->target.memory, data, table, size);
	if (rc)
		goto out;
	lines = arena_calloc(r->arena, out->n_units + 1u, sizeof(*lines));
	lines_expand(l->lines, table, size, out->first_line, lines,
		     out->n_units);
	out->lines = lines;
out:
	free(table);
	return rc;
}

/* A str has them behind its type, in every version. */
static int read_name_words(const struct reading *r, struct code *out)
{
	const struct layout *l = r->target.layout;

	if (l->code.version != LAYOUT_NONE)
		return 0;
	out->name_at = word_at(r->head, l->code.name) + l->object.type + 8;
	return memory_read(r->target.memory, out->name_at, out->name_words,
			   sizeof(out->name_words));
}

static int read_parts(const struct reading *r, struct code *out)
{
	const struct layout *l = r->target.layout;
	uint16_t name = l->code.qualname;
	size_t low, size;
	int rc;

	if (name == LAYOUT_NONE)
		name = l->code.name;
	rc = read_text(r, name, &out->name);
	if (!rc)
		rc = read_text(r, l->code.filename, &out->file);
	if (!rc)
		rc = count_units(r, &out->n_units);
	if (rc)
		return rc;
	out->internal = !strcmp(out->name, "__init__") &&
			!strcmp(out->file, "__init__");
	out->first_line = int_at(r->head, l->code.firstlineno);
	if (l->frames != FRAME_OBJECTS)
		out->first_instruction = r->address + l->code.code;
	code_fingerprint_range(l, &low, &size);
	code_fingerprint(l, r->head + low, out->fingerprint);
	rc = read_name_words(r, out);
	return rc ? rc : read_lines(r, out);
}

int code_read(struct code *out, struct memory *memory,
	      const struct layout *layout, uint64_t address, uint64_t code_type,
	      struct arena *arena)
{
	struct reading r = { { memory, layout }, address, { 0 }, arena };
	int rc = read_head(&r, code_type);

	memset(out, 0, sizeof(*out));
	out->address = address;
	return rc ? rc : read_parts(&r, out);
}

/* Where in the bytecode the frame is, in code units; -1: not begun. */
static int64_t unit_of(const struct code *code, const struct layout *layout,
		       uint64_t instruction, uint64_t tlbc)
{
	int64_t lasti = (int32_t)(uint32_t)instruction;

	if (layout->frames != FRAME_OBJECTS)
		return (int64_t)(instruction -
				 (tlbc ? tlbc : code->first_instruction)) >>
		       1;
	if (layout->lines == LINES_LNOTAB)
		return lasti >> 1; /* 3.6 to 3.9 count bytes */
	return lasti;
}

uint32_t code_line(const struct code *code, const struct layout *layout,
		   uint64_t instruction, uint64_t tlbc)
{
	int64_t unit = unit_of(code, layout, instruction, tlbc);

	if (unit == -1)
		return code->first_line;
	if (unit < 0 || unit >= code->n_units)
		return 0;
	return code->lines[unit];
}
