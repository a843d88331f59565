#include "fake_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/object.h"

#define FIRST_ADDRESS UINT64_C(0x10000000)
#define SPACING	      UINT64_C(0x10000000) /* between regions */

struct region {
	uint64_t address;
	size_t size;
	unsigned char *bytes;
};

struct fake_memory {
	struct memory memory;
	struct region *regions;
	size_t count, capacity;
	void (*hook)(void *context, uint64_t address);
	void *context;
};

static unsigned char *find(struct fake_memory *f, uint64_t address, size_t size)
{
	for (size_t i = 0; i < f->count; i++) {
		struct region *r = &f->regions[i];

		if (address >= r->address && size <= r->size &&
		    address - r->address <= r->size - size)
			return r->bytes + (address - r->address);
	}
	return NULL;
}

static ssize_t fake_read(struct memory *m, const struct memory_piece *pieces,
			 size_t n)
{
	struct fake_memory *f = (struct fake_memory *)m;
	ssize_t total = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char *from;

		if (f->hook)
			f->hook(f->context, pieces[i].address);
		from = find(f, pieces[i].address, pieces[i].size);
		if (!from)
			return total ? total : -ERR_UNREADABLE;
		memcpy(pieces[i].into, from, pieces[i].size);
		total += (ssize_t)pieces[i].size;
	}
	return total;
}

static const struct memory_ops fake_ops = { fake_read, NULL };

struct fake_memory *fake_memory_new(void)
{
	struct fake_memory *f = xcalloc(1, sizeof(*f));

	f->memory.ops = &fake_ops;
	return f;
}

void fake_memory_free(struct fake_memory *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->regions[i].bytes);
	free(f->regions);
	free(f);
}

struct memory *fake_memory_reader(struct fake_memory *f)
{
	return &f->memory;
}

uint64_t fake_memory_map(struct fake_memory *f, size_t size)
{
	struct region *r;

	ALLOC_GROW(f->regions, f->count + 1, f->capacity);
	r = &f->regions[f->count];
	r->address = FIRST_ADDRESS + SPACING * f->count++;
	r->size = size;
	r->bytes = xcalloc(1, size ? size : 1);
	return r->address;
}

void fake_memory_unmap(struct fake_memory *f, uint64_t address)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->regions[i].address == address)
			f->regions[i].size = 0;
}

void fake_memory_hook(struct fake_memory *f,
		      void (*hook)(void *context, uint64_t address),
		      void *context)
{
	f->hook = hook;
	f->context = context;
}

void fake_memory_put(struct fake_memory *f, uint64_t address, const void *data,
		     size_t size)
{
	unsigned char *to = find(f, address, size);

	assert(to);
	if (size)
		memcpy(to, data, size);
}

void fake_memory_put_word(struct fake_memory *f, uint64_t address,
			  uint64_t word)
{
	fake_memory_put(f, address, &word, sizeof(word));
}

void fake_memory_put_int(struct fake_memory *f, uint64_t address, uint32_t v)
{
	fake_memory_put(f, address, &v, sizeof(v));
}

uint64_t fake_type(struct fake_python *p, const char *name, uint64_t flags,
		   uint64_t base)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_memory_map(p->memory, 1024);
	uint64_t text = fake_memory_map(p->memory, TYPE_NAME_MAX);

	fake_memory_put(p->memory, text, name, strlen(name) + 1);
	fake_memory_put_word(p->memory, type + l->type.name, text);
	fake_memory_put_word(p->memory, type + l->type.flags, flags);
	fake_memory_put_word(p->memory, type + l->type.base, base);
	return type;
}

uint64_t fake_object(struct fake_python *p, uint64_t type, size_t size)
{
	uint64_t object = fake_memory_map(p->memory, size);

	fake_memory_put_word(p->memory, object + p->layout->object.type, type);
	return object;
}

static uint64_t fake_unicode27(struct fake_python *p, const void *data,
			       size_t n, unsigned width)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, "unicode", TYPE_UNICODE, 0);
	uint64_t object = fake_object(p, type, 64);
	uint64_t text = fake_memory_map(p->memory, (n + 1) * width);

	fake_memory_put(p->memory, text, data, n * width);
	fake_memory_put_word(p->memory, object + l->unicode.length, n);
	fake_memory_put_word(p->memory, object + l->unicode.data, text);
	return object;
}

static uint64_t put_text(struct fake_python *p, const void *data, size_t n,
			 unsigned width, bool ascii)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, "str", TYPE_UNICODE, 0);
	size_t head = ascii ? l->unicode.ascii_data : l->unicode.compact_data;
	uint64_t object = fake_object(p, type, head + (n + 1) * width);

	fake_memory_put_word(p->memory, object + l->unicode.length, n);
	fake_memory_put_int(p->memory, object + l->unicode.state,
			    (width | 8 | (ascii ? 16 : 0))
				    << l->unicode.kind_bit);
	fake_memory_put(p->memory, object + head, data, n * width);
	return object;
}

uint64_t fake_text(struct fake_python *p, const void *data, size_t n,
		   unsigned width)
{
	if (p->layout->text == TEXT_BYTES)
		return fake_unicode27(p, data, n, width);
	return put_text(p, data, n, width, false);
}

uint64_t fake_ascii(struct fake_python *p, const char *text)
{
	if (p->layout->text == TEXT_BYTES)
		return fake_bytes(p, text, strlen(text));
	return put_text(p, text, strlen(text), 1, true);
}

uint64_t fake_bytes(struct fake_python *p, const void *data, size_t n)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, l->text == TEXT_BYTES ? "str" : "bytes",
				  TYPE_BYTES, 0);
	uint64_t object = fake_object(p, type, l->bytes.data + n + 1);

	fake_memory_put_word(p->memory, object + l->bytes.size, n);
	fake_memory_put(p->memory, object + l->bytes.data, data, n);
	return object;
}

uint64_t fake_tuple(struct fake_python *p, const uint64_t *items, size_t n)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, "tuple", TYPE_TUPLE, 0);
	uint64_t object = fake_object(p, type, l->tuple.items + n * 8);

	fake_memory_put_word(p->memory, object + l->tuple.size, n);
	fake_memory_put(p->memory, object + l->tuple.items, items, n * 8);
	return object;
}

uint64_t fake_list(struct fake_python *p, const uint64_t *items, size_t n)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, "list", TYPE_LIST, 0);
	uint64_t object = fake_object(p, type, l->list.items + 8);
	uint64_t array = fake_memory_map(p->memory, n * 8);

	fake_memory_put(p->memory, array, items, n * 8);
	fake_memory_put_word(p->memory, object + l->list.size, n);
	fake_memory_put_word(p->memory, object + l->list.items, array);
	return object;
}

uint64_t fake_int(struct fake_python *p, const uint32_t *digits, size_t n,
		  int sign)
{
	const struct layout *l = p->layout;
	uint64_t type =
		fake_type(p, l->major == 2 ? "long" : "int", TYPE_LONG, 0);
	uint64_t object = fake_object(p, type, l->integer.digits + n * 4 + 8);
	bool tagged = l->major == 3 && l->minor >= 12;
	uint64_t tag = n << 3 | (!n ? 1 : sign < 0 ? 2 : 0);

	fake_memory_put_word(p->memory, object + l->integer.lv_tag,
			     tagged	? tag
			     : sign < 0 ? 0 - (uint64_t)n
					: n);
	fake_memory_put(p->memory, object + l->integer.digits, digits, n * 4);
	return object;
}
