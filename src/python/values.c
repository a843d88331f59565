/* Values as text, from memory alone: nothing runs in the target.
 *
 * Any pointer may be stale and any length a lie, so each rendering has a budget
 * of objects to look at beside the limits of depth and length, and what cannot
 * be read becomes "<unreadable>" in its place. A container inside itself is
 * shown as "..." because the objects being rendered are kept in a path.
 *
 * What an object is, its type's flags tell for the built-in types and their
 * subclasses that have a flag, the names along the base types for the others.
 * Instances of subclasses are shown as Name(value). */
#include "python/code.h"

#include <stdio.h>
#include <string.h>

#include "base/unicode.h"
#include "python/numbers.h"
#include "python/object.h"

#define OBJECTS_MAX 1000 /* looked at for one rendering */
#define NESTING_MAX 16	 /* levels of nesting */
#define BASES_MAX   16	 /* base types followed */
#define CHUNK	    32	 /* pointers read at a time */
#define STRING_MAX  1024 /* characters of one string */
#define INT_TAG	    3	 /* low bits of an int kept in a reference, 3.14+ */

struct rendering {
	struct buffer *out;
	struct target target;
	size_t end; /* size of the buffer where to stop */
	int depth;  /* levels left */
	int budget; /* objects left */
	uint64_t path[NESTING_MAX];
	int path_size;
};

static int render(struct rendering *r, uint64_t object);

static bool is_full(const struct rendering *r)
{
	return r->out->size >= r->end || r->budget <= 0;
}

static void add(struct rendering *r, const char *text)
{
	buffer_add_string(r->out, text);
}

/* --- strings --- */

static void add_escape(struct rendering *r, uint32_t point)
{
	static const char plain[] = "\n\r\t\\", letters[] = "nrt\\";
	const char *found = point ? strchr(plain, (int)point) : NULL;

	if (point < 0x80 && found)
		buffer_printf(r->out, "\\%c", letters[found - plain]);
	else if (point < 0x100)
		buffer_printf(r->out, "\\x%02x", point);
	else if (point < 0x10000)
		buffer_printf(r->out, "\\u%04x", point);
	else
		buffer_printf(r->out, "\\U%08x", point);
}

static bool needs_escape(uint32_t point, bool bytes)
{
	return point < 0x20 || point == '\\' || point == 0x7f ||
	       (bytes && point >= 0x80) ||
	       (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff ||
	       (point >= 0x80 && unicode_is_control(point));
}

/* Single quotes, unless only double ones need no escape. */
static char choose_quote(const uint32_t *points, int n)
{
	bool single = false, twice = false;

	for (int i = 0; i < n; i++) {
		single |= points[i] == '\'';
		twice |= points[i] == '"';
	}
	return single && !twice ? '"' : '\'';
}

static void add_quoted(struct rendering *r, const uint32_t *points, int n,
		       bool bytes, bool cut)
{
	char quote = choose_quote(points, n), utf8[4];

	buffer_add_byte(r->out, (unsigned char)quote);
	for (int i = 0; i < n; i++) {
		if (points[i] == (uint32_t)quote)
			buffer_printf(r->out, "\\%c", quote);
		else if (needs_escape(points[i], bytes))
			add_escape(r, points[i]);
		else
			buffer_add(r->out, utf8, text_encode(points[i], utf8));
	}
	buffer_add_byte(r->out, (unsigned char)quote);
	if (cut)
		add(r, "...");
}

/* How many characters of a string there is room for. */
static size_t room_for_string(const struct rendering *r)
{
	size_t room = r->end > r->out->size ? r->end - r->out->size : 1;

	return room < STRING_MAX ? room : STRING_MAX;
}

static int render_str(struct rendering *r, uint64_t object)
{
	uint32_t points[STRING_MAX];
	uint64_t length;
	int n = text_points(&r->target, object, points, room_for_string(r),
			    &length);

	if (n < 0)
		return n;
	if (r->target.layout->text == TEXT_BYTES)
		add(r, "u");
	add_quoted(r, points, n, false, length > (uint64_t)n);
	return 0;
}

static int add_byte_string(struct rendering *r, uint64_t data, uint64_t length)
{
	unsigned char raw[STRING_MAX];
	uint32_t points[STRING_MAX];
	size_t n = room_for_string(r);
	int rc;

	if (n > length)
		n = (size_t)length;
	rc = memory_read(r->target.memory, data, raw, n);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		points[i] = raw[i];
	if (r->target.layout->text != TEXT_BYTES)
		add(r, "b");
	add_quoted(r, points, (int)n, true, length > n);
	return 0;
}

static int render_bytes(struct rendering *r, uint64_t object)
{
	uint64_t data, length;
	int rc = bytes_locate(&r->target, object, &data, &length);

	return rc ? rc : add_byte_string(r, data, length);
}

/* --- numbers and singletons --- */

static int render_none(struct rendering *r, uint64_t object)
{
	(void)object;
	add(r, "None");
	return 0;
}

static int render_ellipsis(struct rendering *r, uint64_t object)
{
	(void)object;
	add(r, "Ellipsis");
	return 0;
}

static int render_int(struct rendering *r, uint64_t object)
{
	return number_add_int(r->out, &r->target, object);
}

static int render_long27(struct rendering *r, uint64_t object)
{
	int rc = render_int(r, object);

	/* One that is told by its size is no number to put it behind. */
	if (!rc && r->out->data[r->out->size - 1] != '>')
		add(r, "L");
	return rc;
}

static int render_int27(struct rendering *r, uint64_t object)
{
	uint64_t word;
	int rc = object_word(&r->target, object, r->target.layout->object.size,
			     &word);

	if (!rc)
		buffer_printf(r->out, "%lld", (long long)word);
	return rc;
}

/* 2.7 keeps the truth as a C long; an int of 3 is zero when it has no digit. */
static int render_bool(struct rendering *r, uint64_t object)
{
	const struct layout *l = r->target.layout;
	uint64_t word;
	int rc = object_word(&r->target, object, l->integer.lv_tag, &word);

	if (rc)
		return rc;
	if (l->major == 3 && l->minor >= 12)
		word = (word & 3) != 1;
	add(r, word ? "True" : "False");
	return 0;
}

static int render_float(struct rendering *r, uint64_t object)
{
	double value;
	int rc = memory_read(r->target.memory,
			     object + r->target.layout->floating.value, &value,
			     sizeof(value));

	if (!rc)
		number_add_double(r->out, value);
	return rc;
}

static int render_complex(struct rendering *r, uint64_t object)
{
	double parts[2];
	int rc = memory_read(r->target.memory,
			     object + r->target.layout->floating.value, parts,
			     sizeof(parts));

	if (rc)
		return rc;
	add(r, "complex(");
	number_add_double(r->out, parts[0]);
	add(r, ", ");
	number_add_double(r->out, parts[1]);
	add(r, ")");
	return 0;
}

/* --- containers --- */

/* Before item `i`: the separator. False when no more fits. */
static bool next_item(struct rendering *r, uint64_t i)
{
	if (i)
		add(r, ", ");
	if (!is_full(r))
		return true;
	add(r, "...");
	return false;
}

static int add_items(struct rendering *r, uint64_t items, uint64_t count)
{
	uint64_t chunk[CHUNK];

	for (uint64_t i = 0; i < count; i++) {
		uint64_t left = count - i < CHUNK ? count - i : CHUNK;

		if (!next_item(r, i))
			return 0;
		if (i % CHUNK == 0) {
			int rc = memory_read(r->target.memory, items + i * 8,
					     chunk, left * 8);
			if (rc)
				return rc;
		}
		render(r, chunk[i % CHUNK]);
	}
	return 0;
}

static int add_sequence(struct rendering *r, uint64_t object, bool list)
{
	uint64_t items, count;
	int rc = sequence_locate(&r->target, object, list, &items, &count);

	if (rc)
		return rc;
	add(r, list ? "[" : "(");
	rc = add_items(r, items, count);
	if (!list && count == 1)
		add(r, ",");
	add(r, list ? "]" : ")");
	return rc;
}

static int render_list(struct rendering *r, uint64_t object)
{
	return add_sequence(r, object, true);
}

static int render_tuple(struct rendering *r, uint64_t object)
{
	return add_sequence(r, object, false);
}

static int render_dict(struct rendering *r, uint64_t object)
{
	struct dict_iterator it;
	uint64_t key, value, n = 0;
	int rc = dict_begin(&it, &r->target, object);

	if (rc)
		return rc;
	add(r, "{");
	while (dict_next(&it, &key, &value)) {
		if (!next_item(r, n++))
			break;
		render(r, key);
		add(r, ": ");
		render(r, value);
	}
	if (it.cut && it.at == it.count)
		add(r, ", ...");
	add(r, "}");
	r->budget -= (int)(it.at / DICT_CHUNK);
	return 0;
}

/* Slots of a set are (key, hash), in 2.7 (hash, key); a deleted one has the
 * hash -1, which no object has. False when no more fits. */
static bool add_slots(struct rendering *r, const uint64_t *slots, size_t n,
		      uint64_t *shown)
{
	bool old = r->target.layout->text == TEXT_BYTES;

	for (size_t i = 0; i < n; i++) {
		const uint64_t *slot = slots + 2 * i;

		if (!slot[old] || slot[!old] == UINT64_MAX)
			continue;
		if (!next_item(r, (*shown)++))
			return false;
		render(r, slot[old]);
	}
	return true;
}

static int add_members(struct rendering *r, uint64_t table, uint64_t count)
{
	uint64_t slots[2 * CHUNK], shown = 0;

	for (uint64_t i = 0; i < count; i += CHUNK, r->budget--) {
		size_t n = count - i < CHUNK ? (size_t)(count - i) : CHUNK;
		int rc;

		if (i >= DICT_SCAN_MAX) {
			add(r, ", ...");
			break;
		}
		rc = memory_read(r->target.memory, table + i * 16, slots,
				 n * 16);
		if (rc)
			return rc;
		if (!add_slots(r, slots, n, &shown))
			break;
	}
	return 0;
}

static int add_set(struct rendering *r, uint64_t object)
{
	const struct layout *l = r->target.layout;
	uint64_t used, mask, table;
	int rc = object_word(&r->target, object, l->set.used, &used);

	if (!rc)
		rc = object_word(&r->target, object, l->set.mask, &mask);
	if (!rc)
		rc = object_word(&r->target, object, l->set.table, &table);
	if (rc || !used)
		return rc;
	add(r, "{");
	rc = add_members(r, table, mask + 1);
	add(r, "}");
	return rc;
}

static int render_set(struct rendering *r, uint64_t object)
{
	size_t before = r->out->size;
	int rc = add_set(r, object);

	if (!rc && r->out->size == before)
		add(r, "set()");
	return rc;
}

static int render_frozenset(struct rendering *r, uint64_t object)
{
	int rc;

	add(r, "frozenset(");
	rc = add_set(r, object);
	add(r, ")");
	return rc;
}

/* start, stop and step are objects right behind the head. */
static int render_range(struct rendering *r, uint64_t object)
{
	uint64_t parts[3];
	size_t before;
	int rc = memory_read(r->target.memory,
			     object + r->target.layout->object.size, parts,
			     sizeof(parts));

	if (rc)
		return rc;
	add(r, "range(");
	render(r, parts[0]);
	add(r, ", ");
	render(r, parts[1]);
	before = r->out->size;
	add(r, ", ");
	render(r, parts[2]);
	if (!strcmp(buffer_text(r->out) + before, ", 1"))
		r->out->size = before;
	add(r, ")");
	return 0;
}

/* --- anything else --- */

static int render_type(struct rendering *r, uint64_t object)
{
	struct type type;
	int rc = type_read(&r->target, object, &type);

	if (rc)
		return rc;
	add(r, "<class '");
	add(r, type.name);
	add(r, "'>");
	return 0;
}

/* args is the second pointer of every exception. */
static int render_exception(struct rendering *r, uint64_t object)
{
	uint64_t args, items, count;
	int rc = object_word(&r->target, object,
			     r->target.layout->object.size + 8, &args);

	if (!rc)
		rc = sequence_locate(&r->target, args, false, &items, &count);
	return rc ? rc : add_items(r, items, count);
}

/* --- what an object is --- */

enum wrap {
	WRAP_SUBCLASS, /* Name(...) around instances of subclasses */
	WRAP_ALWAYS,
	WRAP_NEVER,
};

struct kind {
	uint64_t flag;	  /* of its type and subclasses; 0: by name */
	const char *name; /* of the built-in type */
	int (*render)(struct rendering *r, uint64_t object);
	enum wrap wrap;
	bool nests;	 /* contains other objects */
	unsigned majors; /* bit n: Python n has it */
};

#define PYTHON_2   (1u << 2)
#define PYTHON_3   (1u << 3)
#define PYTHON_ANY (PYTHON_2 | PYTHON_3)

/* bool before int, whose flag it has. */
static const struct kind kinds[] = {
	{ 0, "NoneType", render_none, WRAP_NEVER, false, PYTHON_ANY },
	{ 0, "bool", render_bool, WRAP_NEVER, false, PYTHON_ANY },
	{ TYPE_INT, "int", render_int27, WRAP_SUBCLASS, false, PYTHON_2 },
	{ TYPE_LONG, "long", render_long27, WRAP_SUBCLASS, false, PYTHON_2 },
	{ TYPE_LONG, "int", render_int, WRAP_SUBCLASS, false, PYTHON_3 },
	{ TYPE_UNICODE, "str", render_str, WRAP_SUBCLASS, false, PYTHON_3 },
	{ TYPE_UNICODE, "unicode", render_str, WRAP_SUBCLASS, false, PYTHON_2 },
	{ TYPE_BYTES, "bytes", render_bytes, WRAP_SUBCLASS, false, PYTHON_3 },
	{ TYPE_BYTES, "str", render_bytes, WRAP_SUBCLASS, false, PYTHON_2 },
	{ TYPE_LIST, "list", render_list, WRAP_SUBCLASS, true, PYTHON_ANY },
	{ TYPE_TUPLE, "tuple", render_tuple, WRAP_SUBCLASS, true, PYTHON_ANY },
	{ TYPE_DICT, "dict", render_dict, WRAP_SUBCLASS, true, PYTHON_ANY },
	{ TYPE_TYPE, "type", render_type, WRAP_NEVER, false, PYTHON_ANY },
	{ TYPE_EXCEPTION, "BaseException", render_exception, WRAP_ALWAYS, true,
	  PYTHON_ANY },
	{ 0, "float", render_float, WRAP_SUBCLASS, false, PYTHON_ANY },
	{ 0, "complex", render_complex, WRAP_SUBCLASS, false, PYTHON_ANY },
	{ 0, "set", render_set, WRAP_SUBCLASS, true, PYTHON_ANY },
	{ 0, "frozenset", render_frozenset, WRAP_SUBCLASS, true, PYTHON_ANY },
	{ 0, "frozendict", render_dict, WRAP_ALWAYS, true, PYTHON_3 },
	{ 0, "range", render_range, WRAP_NEVER, true, PYTHON_3 },
	{ 0, "ellipsis", render_ellipsis, WRAP_NEVER, false, PYTHON_ANY },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The kind with this type's flag, or of exactly this built-in type. */
static const struct kind *kind_of_type(const struct rendering *r,
				       const struct type *type)
{
	unsigned major = 1u << r->target.layout->major;

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].majors & major &&
		    (type->flags & kinds[i].flag ||
		     (!kinds[i].flag && type_is(type, kinds[i].name))))
			return &kinds[i];
	return NULL;
}

static const struct kind *find_kind(const struct rendering *r,
				    const struct type *type)
{
	const struct kind *kind = kind_of_type(r, type);
	struct type base = *type;

	for (int i = 0; !kind && i < BASES_MAX && base.base; i++) {
		if (type_read(&r->target, base.base, &base))
			return NULL;
		kind = kind_of_type(r, &base);
	}
	return kind;
}

static bool is_on_path(const struct rendering *r, uint64_t object)
{
	for (int i = 0; i < r->path_size; i++)
		if (r->path[i] == object)
			return true;
	return false;
}

static int render_nested(struct rendering *r, const struct kind *kind,
			 uint64_t object)
{
	int rc;

	if (r->depth <= 0 || r->path_size == NESTING_MAX ||
	    is_on_path(r, object)) {
		add(r, "...");
		return 0;
	}
	r->path[r->path_size++] = object;
	r->depth--;
	rc = kind->render(r, object);
	r->depth++;
	r->path_size--;
	return rc;
}

static int render_as(struct rendering *r, const struct kind *kind,
		     const struct type *type, uint64_t object)
{
	bool wrap = kind->wrap == WRAP_ALWAYS ||
		    (kind->wrap == WRAP_SUBCLASS && !type_is(type, kind->name));
	size_t before = r->out->size;
	int rc;

	if (wrap)
		buffer_printf(r->out, "%s(", type->name);
	rc = kind->nests ? render_nested(r, kind, object)
			 : kind->render(r, object);
	if (rc)
		r->out->size = before;
	else if (wrap)
		add(r, ")");
	return rc;
}

static int render_object(struct rendering *r, uint64_t object)
{
	const struct kind *kind;
	struct type type;
	int rc = object_type(&r->target, object, &type);

	if (rc)
		return rc;
	kind = find_kind(r, &type);
	if (kind)
		return render_as(r, kind, &type, object);
	buffer_printf(r->out, "<%s at 0x%llx>",
		      type.name[0] ? type.name : "object",
		      (unsigned long long)object);
	return 0;
}

static bool is_tagged_int(const struct rendering *r, uint64_t object)
{
	return r->target.layout->object_tag_bits == INT_TAG &&
	       (object & INT_TAG) == INT_TAG;
}

static int render(struct rendering *r, uint64_t object)
{
	int rc = 0;

	r->budget--;
	if (is_tagged_int(r, object))
		buffer_printf(r->out, "%lld", (long long)object >> 2);
	else if (!object)
		add(r, "<NULL>");
	else
		rc = render_object(r, object);
	if (rc)
		add(r, "<unreadable>");
	return rc;
}

int value_render(struct buffer *out, struct memory *memory,
		 const struct layout *layout, uint64_t address, int depth,
		 size_t max)
{
	struct rendering r = {
		.out = out,
		.target = { memory, layout },
		.end = out->size + max,
		.depth = depth,
		.budget = OBJECTS_MAX,
	};

	return render(&r, address);
}
