/* What an object is: its type, found by name and flags rather than by address,
 * because a stripped interpreter does not tell where its types lie. */
#include "python/object.h"

#define SEQUENCE_MAX (UINT64_C(1) << 40) /* items; more is a lie */

int object_word(const struct target *t, uint64_t object, uint16_t field,
		uint64_t *word)
{
	if (field == LAYOUT_NONE)
		return -ERR_UNSUPPORTED;
	return memory_read_u64(t->memory, object + field, word);
}

/* tp_name of a built-in type in a module carries the module's name. */
static void drop_module(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot[1])
		memmove(name, dot + 1, strlen(dot));
}

/* The name: what can be read of it, since it may end a mapping. */
static void read_name(const struct target *t, uint64_t address, char *name)
{
	if (memory_read_string(t->memory, address, name, TYPE_NAME_MAX))
		name[0] = '\0';
	drop_module(name);
}

int type_read(const struct target *t, uint64_t address, struct type *out)
{
	const struct layout *l = t->layout;
	unsigned char head[TYPE_HEAD_MAX];
	size_t size = (size_t)l->type.base + 8;
	int rc;

	if (l->type.name + 8u > size || l->type.flags + 8u > size ||
	    size > sizeof(head))
		return -ERR_CORRUPT;
	rc = memory_read(t->memory, address, head, size);
	if (rc)
		return rc;
	out->address = address;
	out->base = word_at(head, l->type.base);
	out->flags = word_at(head, l->type.flags);
	read_name(t, word_at(head, l->type.name), out->name);
	return 0;
}

int object_type(const struct target *t, uint64_t object, struct type *out)
{
	uint64_t address;
	int rc = object_word(t, object, t->layout->object.type, &address);

	return rc ? rc : type_read(t, address, out);
}

bool type_is(const struct type *type, const char *name)
{
	return !(type->flags & TYPE_HEAP) && !strcmp(type->name, name);
}

int sequence_locate(const struct target *t, uint64_t object, bool list,
		    uint64_t *items, uint64_t *count)
{
	const struct layout *l = t->layout;
	int rc;

	rc = object_word(t, object, list ? l->list.size : l->tuple.size, count);
	if (rc)
		return rc;
	if (*count > SEQUENCE_MAX)
		return -ERR_CORRUPT;
	*items = object + l->tuple.items;
	return list ? object_word(t, object, l->list.items, items) : 0;
}

int bytes_locate(const struct target *t, uint64_t object, uint64_t *data,
		 uint64_t *count)
{
	int rc = object_word(t, object, t->layout->bytes.size, count);

	if (rc)
		return rc;
	if (*count > SEQUENCE_MAX)
		return -ERR_CORRUPT;
	*data = object + t->layout->bytes.data;
	return 0;
}
