/* sys.modules["threading"]._active is a dict of {ident: Thread}; a thread is in
 * it from when it has begun to run until it ends. */
#include "python/names.h"

#include <stdio.h>

#include "base/buffer.h"
#include "python/attribute.h"
#include "python/code.h"

#define DIGIT_BITS   30 /* of a digit of an int */
#define IDENT_DIGITS 3	/* that 64 bits take */
#define FAILURES_MAX 16 /* entries that make no sense, before giving up */

/* threading._active */
static int find_active(const struct target *t, uint64_t interpreter,
		       uint64_t *active)
{
	const struct layout *l = t->layout;
	uint64_t modules, module, dict;
	int rc;

	if (l->interpreter.modules == LAYOUT_RUNTIME_NONE)
		return -ERR_NOT_FOUND;
	rc = memory_read_u64(t->memory, interpreter + l->interpreter.modules,
			     &modules);
	if (!rc)
		rc = dict_find(t, modules, "threading", &module);
	if (!rc) /* a module's dict is its first field */
		rc = memory_read_u64(t->memory, module + l->object.size, &dict);
	return rc ? rc : dict_find(t, dict, "_active", active);
}

/* A positive int of up to 64 bits. 2.7 has a C long for most. */
static int read_ident(const struct target *t, uint64_t object, uint64_t *ident)
{
	const struct layout *l = t->layout;
	uint32_t digits[IDENT_DIGITS] = { 0 };
	struct type type;
	uint64_t count;
	int rc;

	if (l->major == 2 && !object_type(t, object, &type) &&
	    type.flags & TYPE_INT)
		return memory_read_u64(t->memory, object + l->object.size,
				       ident);
	rc = object_word(t, object, l->integer.lv_tag, &count);
	if (rc)
		return rc;
	if (l->major == 3 && l->minor >= 12)
		count >>= 3;
	if (!count || count > IDENT_DIGITS)
		return -ERR_CORRUPT;
	rc = memory_read(t->memory, object + l->integer.digits, digits,
			 count * sizeof(*digits));
	*ident = (uint64_t)digits[0] | (uint64_t)digits[1] << DIGIT_BITS |
		 (uint64_t)digits[2] << 2 * DIGIT_BITS;
	return rc;
}

static int read_name(const struct target *t, uint64_t thread,
		     char name[THREAD_NAME_SIZE])
{
	struct buffer text = BUFFER_INIT;
	uint64_t object;
	int rc = attribute_find(t, thread,
				t->layout->major == 2 ? "_Thread__name"
						      : "_name",
				&object);

	if (!rc)
		rc = text_read(&text, t->memory, t->layout, object,
			       THREAD_NAME_SIZE - 1);
	if (!rc)
		snprintf(name, THREAD_NAME_SIZE, "%s", buffer_text(&text));
	buffer_release(&text);
	return rc;
}

int names_read(struct python_thread_name *out, int max, struct memory *memory,
	       const struct layout *layout, uint64_t interpreter)
{
	struct target t = { memory, layout };
	struct dict_iterator it;
	uint64_t active, key, thread;
	int n = 0, failures = 0, rc = find_active(&t, interpreter, &active);

	if (!rc)
		rc = dict_begin(&it, &t, active);
	while (!rc && n < max && failures < FAILURES_MAX &&
	       dict_next(&it, &key, &thread))
		if (!read_ident(&t, key, &out[n].ident) &&
		    !read_name(&t, thread, out[n].name))
			n++;
		else
			failures++;
	return rc ? rc : n;
}
