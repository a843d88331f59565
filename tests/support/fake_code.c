#include "fake_code.h"

#include "base/alloc.h"

#include <stdlib.h>

static void put(struct fake_python *p, uint64_t object, uint16_t field,
		uint64_t word)
{
	if (field != LAYOUT_NONE)
		fake_memory_put_word(p->memory, object + field, word);
}

/* The bytecode: in place since 3.11, a bytes object before. */
static void put_units(struct fake_python *p, uint64_t object, size_t units)
{
	const struct layout *l = p->layout;
	size_t size = l->lines == LINES_LNOTAB_UNSIGNED ? units : 2 * units;
	void *zeros = xcalloc(1, size + 1);

	if (l->frames == FRAME_OBJECTS)
		put(p, object, l->code.code, fake_bytes(p, zeros, size));
	else
		put(p, object, l->object.var_size, units);
	free(zeros);
}

static void put_names(struct fake_python *p, uint64_t object,
		      const struct fake_code *code)
{
	const struct layout *l = p->layout;
	uint16_t fields[] = { l->code.varnames, l->code.cellvars,
			      l->code.freevars };

	if (l->frames != FRAME_OBJECTS) {
		put(p, object, l->code.localsplusnames,
		    fake_tuple(p, code->names[0], code->n_names[0]));
		put(p, object, l->code.localspluskinds,
		    fake_bytes(p, code->kinds, code->n_names[0]));
		return;
	}
	for (int i = 0; i < 3; i++)
		put(p, object, fields[i],
		    fake_tuple(p, code->names[i], code->n_names[i]));
}

uint64_t fake_code(struct fake_python *p, const struct fake_code *code)
{
	const struct layout *l = p->layout;
	uint64_t object = fake_object(p, fake_type(p, "code", 0, 0),
				      l->code.size + 2 * code->units + 64);
	uint64_t name = fake_ascii(p, code->name);

	put(p, object, l->code.name, name);
	put(p, object, l->code.qualname, name);
	put(p, object, l->code.filename, fake_ascii(p, code->file));
	put(p, object, l->code.linetable,
	    fake_bytes(p, code->lines, code->lines_size));
	fake_memory_put_int(p->memory, object + l->code.firstlineno,
			    code->first_line);
	fake_memory_put_int(p->memory, object + l->code.flags, code->flags);
	fake_memory_put_int(p->memory, object + l->code.argcount,
			    code->arguments);
	put_units(p, object, code->units);
	put_names(p, object, code);
	return object;
}
