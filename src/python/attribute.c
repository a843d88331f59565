/* Where an instance keeps its attributes.
 *
 * To 3.10 in a dict, whose place in the object its type tells. Since 3.11 an
 * ordinary instance has values only, in the order of keys that its type keeps
 * for all of them, and gets a dict when somebody asks for one:
 *
 *   3.11    four words before the object the values, three before it the dict
 *   3.12    one word for both, three before the object; the lowest bit tells
 *           the values, which then begin one byte later
 *   3.13+   the values behind the object; the dict as before (one word before
 *           the object in free-threaded builds), which says where the values
 *           are once it is there
 *
 * A type made in C keeps to the old way. */
#include "python/attribute.h"

#define NAME_MAX_SIZE 64 /* of a name looked for */
#define TEXT_HEAD_MAX 64 /* of a str, in front of its characters */
#define SHARED_MAX    32 /* keys that instances may share; 30 in CPython */

/* From the end of PyTypeObject to ht_cached_keys: the slots of a heap type and
 * three names, the same since 3.11. */
#define KEYS_BEHIND_TYPE 464

/* sizeof(PyTypeObject) without its object header; 0: none that shares keys. */
static uint64_t type_size(const struct layout *l)
{
	static const uint16_t sizes[] = {
		[11] = 392, [12] = 400, [13] = 400, [14] = 400, [15] = 408
	};

	if (l->major != 3 || l->minor >= sizeof(sizes) / sizeof(*sizes))
		return 0;
	return sizes[l->minor];
}

/* Whether the head of a str says: compact, ASCII, this long. */
static bool is_ascii_head(const struct layout *l, const char *bytes,
			  size_t head, size_t length)
{
	const unsigned one_byte = 1, compact = 8, ascii = 16;
	uint32_t state;

	if (l->unicode.length + 8u > head || l->unicode.state + 4u > head)
		return false;
	state = int_at(bytes, l->unicode.state) >> l->unicode.kind_bit;
	return word_at(bytes, l->unicode.length) == length &&
	       (state & 31) == (one_byte | compact | ascii);
}

/* Whether a key is this name. One read: names are ASCII nearly always. */
static bool is_name(const struct target *t, uint64_t key, const char *name)
{
	const struct layout *l = t->layout;
	bool old = l->text == TEXT_BYTES;
	size_t size = strlen(name);
	size_t head = old ? l->bytes.data : l->unicode.ascii_data;
	char bytes[TEXT_HEAD_MAX + NAME_MAX_SIZE];

	if (size > NAME_MAX_SIZE || head > TEXT_HEAD_MAX ||
	    memory_read(t->memory, key, bytes, head + size))
		return false;
	if (old ? word_at(bytes, l->bytes.size) != size
		: !is_ascii_head(l, bytes, head, size))
		return false;
	return !memcmp(bytes + head, name, size);
}

static int search(struct dict_iterator *it, int most, const char *name,
		  uint64_t *value)
{
	uint64_t key;

	while (most-- > 0 && dict_next(it, &key, value))
		if (is_name(it->target, key, name))
			return 0;
	return -ERR_NOT_FOUND;
}

int dict_find(const struct target *t, uint64_t dict, const char *name,
	      uint64_t *value)
{
	struct dict_iterator it;
	int rc = dict_begin(&it, t, dict);

	return rc ? rc : search(&it, DICT_SCAN_MAX, name, value);
}

/* Attributes by the keys of their type. */
static int find_shared(const struct target *t, const struct type *type,
		       uint64_t values, const char *name, uint64_t *value)
{
	const struct layout *l = t->layout;
	struct dict_iterator it;
	uint64_t keys, size = type_size(l);
	int rc;

	if (!size || !(type->flags & TYPE_HEAP))
		return -ERR_NOT_FOUND;
	rc = memory_read_u64(t->memory,
			     type->address + l->object.size + size +
				     KEYS_BEHIND_TYPE,
			     &keys);
	if (!rc)
		rc = dict_begin_shared(&it, t, keys, values);
	return rc ? rc : search(&it, SHARED_MAX, name, value);
}

/* The words in front of an object: see above. */
static int find_managed(const struct target *t, uint64_t object,
			const struct type *type, const char *name,
			uint64_t *value)
{
	const struct layout *l = t->layout;
	uint64_t words[2], values = 0, dict;
	uint64_t before = l->free_threaded ? 16 : 32;
	int rc = memory_read(t->memory, object - before, words, sizeof(words));

	if (rc)
		return rc;
	dict = words[1];
	if (l->minor == 11)
		values = words[0];
	else if (l->minor == 12 && dict & 1)
		values = dict + 1;
	else if (l->minor > 12 && !dict && type->flags & TYPE_INLINE)
		values = object + l->object.size;
	if (values)
		return find_shared(t, type, values, name, value);
	return dict ? dict_find(t, dict, name, value) : -ERR_NOT_FOUND;
}

int attribute_find(const struct target *t, uint64_t object, const char *name,
		   uint64_t *value)
{
	struct type type;
	uint64_t offset, dict;
	int rc = object_type(t, object, &type);

	if (rc)
		return rc;
	if (t->layout->minor >= 11 && type.flags & TYPE_MANAGED)
		return find_managed(t, object, &type, name, value);
	rc = memory_read_u64(t->memory,
			     type.address + t->layout->type.dictoffset,
			     &offset);
	if (rc)
		return rc;
	if (!offset || (int64_t)offset < 0)
		return -ERR_NOT_FOUND;
	rc = memory_read_u64(t->memory, object + offset, &dict);
	if (rc)
		return rc;
	return dict ? dict_find(t, dict, name, value) : -ERR_NOT_FOUND;
}
