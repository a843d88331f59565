/* The variables of a frame.
 *
 * A frame has an array of object pointers: to 3.10 the locals (arguments
 * first), then cells of variables that inner functions use, then cells taken
 * from the enclosing function; an argument that has a cell is NULL among the
 * locals and is found in the cell. Since 3.11 it is one array in the order of
 * co_localsplusnames, whose kinds say which slots hold cells.
 *
 * Frames of modules and class bodies have no such array; their variables are in
 * a dict. Its names with two leading underscores are the machinery's. */
#include "python/code.h"

#include <stdio.h>
#include <string.h>

#include "python/object.h"

#define SLOTS_MAX    1024 /* variables of one frame that are looked at */
#define CO_OPTIMIZED 0x1
#define CO_VARARGS   0x4
#define CO_KEYWORDS  0x8
#define KIND_HIDDEN  0x10
#define KIND_CELL    0x40
#define KIND_FREE    0x80

/* Where the variables go, and what they are read from. */
struct gathering {
	struct target target;
	struct local *out;
	int count, max;
	uint64_t frame, code;
};

static uint32_t code_int(const struct gathering *g, uint16_t field)
{
	uint32_t value = 0;

	if (field != LAYOUT_NONE)
		memory_read_u32(g->target.memory, g->code + field, &value);
	return value;
}

/* How many of the first variables are arguments. */
static uint64_t count_arguments(const struct gathering *g)
{
	const struct layout *l = g->target.layout;
	uint32_t flags = code_int(g, l->code.flags);

	return (uint64_t)code_int(g, l->code.argcount) +
	       code_int(g, l->code.kwonlyargcount) + !!(flags & CO_VARARGS) +
	       !!(flags & CO_KEYWORDS);
}

/* What a cell holds; an object that is no cell is itself. */
static uint64_t look_through(const struct gathering *g, uint64_t object)
{
	struct type type;
	uint64_t inside;

	if (!object || object_type(&g->target, object, &type) ||
	    !type_is(&type, "cell"))
		return object;
	if (object_word(&g->target, object, g->target.layout->object.size,
			&inside))
		return 0;
	return inside;
}

/* A reference of a frame as an object's address; an int that the reference
 * itself holds stays as it is, value_render knows it. */
static uint64_t untag(const struct gathering *g, uint64_t reference)
{
	uint64_t tags = g->target.layout->object_tag_bits;

	if (tags && (reference & tags) == tags)
		return reference;
	return reference & ~tags;
}

static int read_name(const struct gathering *g, uint64_t object, char *name,
		     size_t size)
{
	struct buffer text = BUFFER_INIT;
	int rc = text_read(&text, g->target.memory, g->target.layout, object,
			   size - 1);

	if (!rc)
		snprintf(name, size, "%s", buffer_text(&text));
	buffer_release(&text);
	return rc;
}

static struct local *find(const struct gathering *g, const char *name)
{
	for (int i = 0; i < g->count; i++)
		if (!strcmp(g->out[i].name, name))
			return &g->out[i];
	return NULL;
}

/* Add a variable; one of that name that is unbound gets the value instead. */
static void add_local(struct gathering *g, uint64_t name, uint64_t value,
		      bool argument)
{
	struct local local = { .argument = argument, .value = value };
	struct local *known;

	if (read_name(g, name, local.name, sizeof(local.name)))
		return;
	known = find(g, local.name);
	if (known && !known->value)
		known->value = value;
	else if (!known && g->count < g->max)
		g->out[g->count++] = local;
}

/* Slots of the frame whose names are in a tuple. */
struct slots {
	uint64_t first, count;
	uint64_t names[SLOTS_MAX], values[SLOTS_MAX];
};

static int read_slots(const struct gathering *g, uint16_t field,
		      struct slots *s)
{
	const struct layout *l = g->target.layout;
	uint64_t tuple, items;
	int rc = object_word(&g->target, g->code, field, &tuple);

	if (!rc)
		rc = sequence_locate(&g->target, tuple, false, &items,
				     &s->count);
	if (rc)
		return rc;
	if (s->count > SLOTS_MAX)
		s->count = SLOTS_MAX;
	rc = memory_read(g->target.memory, items, s->names, s->count * 8);
	if (rc)
		return rc;
	return memory_read(g->target.memory,
			   g->frame + l->frame.localsplus + s->first * 8,
			   s->values, s->count * 8);
}

static int gather_old(struct gathering *g)
{
	const struct layout *l = g->target.layout;
	const uint16_t fields[] = { l->code.varnames, l->code.cellvars,
				    l->code.freevars };
	uint64_t arguments = count_arguments(g);
	struct slots s = { .first = 0 };

	for (int group = 0; group < 3; group++) {
		int rc = read_slots(g, fields[group], &s);

		if (rc)
			return rc;
		for (uint64_t i = 0; i < s.count; i++)
			add_local(g, s.names[i],
				  group ? look_through(g, s.values[i])
					: s.values[i],
				  !group && i < arguments);
		s.first += s.count;
	}
	return 0;
}

static int read_kinds(const struct gathering *g, unsigned char *kinds,
		      uint64_t count)
{
	uint64_t object, data, size;
	int rc = object_word(&g->target, g->code,
			     g->target.layout->code.localspluskinds, &object);

	if (!rc)
		rc = bytes_locate(&g->target, object, &data, &size);
	if (rc)
		return rc;
	if (size < count)
		return -ERR_CORRUPT;
	return memory_read(g->target.memory, data, kinds, count);
}

static int gather_new(struct gathering *g)
{
	uint64_t arguments = count_arguments(g);
	unsigned char kinds[SLOTS_MAX];
	struct slots s = { .first = 0 };
	int rc = read_slots(g, g->target.layout->code.localsplusnames, &s);

	if (!rc)
		rc = read_kinds(g, kinds, s.count);
	if (rc)
		return rc;
	for (uint64_t i = 0; i < s.count; i++) {
		uint64_t value = untag(g, s.values[i]);

		if (kinds[i] & KIND_HIDDEN && !value)
			continue;
		if (kinds[i] & (KIND_CELL | KIND_FREE))
			value = look_through(g, value);
		add_local(g, s.names[i], value, i < arguments);
	}
	return 0;
}

static void drop_machinery(struct gathering *g)
{
	int to = 0;

	for (int i = 0; i < g->count; i++)
		if (strncmp(g->out[i].name, "__", 2))
			g->out[to++] = g->out[i];
	g->count = to;
}

/* A module's or class body's variables. */
static int gather_dict(struct gathering *g)
{
	struct dict_iterator it;
	uint64_t dict, key, value;
	int rc = object_word(&g->target, g->frame,
			     g->target.layout->frame.locals, &dict);

	if (rc || !dict)
		return rc;
	rc = dict_begin(&it, &g->target, dict);
	if (rc)
		return rc;
	while (g->count < g->max && dict_next(&it, &key, &value)) {
		add_local(g, key, value, false);
		drop_machinery(g);
	}
	return 0;
}

int frame_locals(struct local *out, int max, struct memory *memory,
		 const struct layout *layout, uint64_t frame, uint64_t code)
{
	struct gathering g = { { memory, layout }, out, 0, max, frame, code };
	int rc;

	if (!(code_int(&g, layout->code.flags) & CO_OPTIMIZED))
		rc = gather_dict(&g);
	else if (layout->frames == FRAME_OBJECTS)
		rc = gather_old(&g);
	else
		rc = gather_new(&g);
	return rc ? rc : g.count;
}
