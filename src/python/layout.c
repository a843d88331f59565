/* Choosing a layout, and taking a target's own word for it.
 *
 * A target of 3.13 or later tells its offsets in _Py_DebugOffsets, an array of
 * 64-bit words for our purposes: the tables layout_told_* say what each word
 * means in which minor version. The struct has no version of its own, and words
 * are inserted in its middle between minors (and among pre-releases), so an
 * unknown minor is an error and every word is checked against the size that the
 * target gives for the struct: a shifted table or a lie does not get through
 * as offsets that point anywhere. What a version does not tell stays as its
 * constant table has it. */
#include "python/layout.h"

#include <string.h>

#include "python/layouts/layouts.h"

#define COOKIE		"xdebugpy"
#define STATE_SIZE_MAX	(1u << 26) /* of the runtime and of an interpreter */
#define STRUCT_SIZE_MAX 0x4000u	   /* of anything else */
#define WORDS_MAX	160	   /* of a _Py_DebugOffsets that we look at */

struct self_described {
	uint8_t minor;
	const struct layout *plain, *free_threaded;
	const struct layout_told *told;
};

static const struct self_described self_described[] = {
	{ 13, &layout_3_13, &layout_3_13t, layout_told_3_13 },
	{ 14, &layout_3_14, &layout_3_14t, layout_told_3_14 },
	{ 15, &layout_3_15, &layout_3_15t, layout_told_3_15 },
};

struct constant {
	uint32_t since; /* PY_VERSION_HEX of the first version it is good for */
	const struct layout *plain, *debug;
};

/* Ascending. From 3.8 on a debug build lays its structs out like any other. */
static const struct constant constants[] = {
	{ 0x02070000, &layout_2_7, &layout_2_7d },
	{ 0x03000000, NULL, NULL },
	{ 0x03060000, &layout_3_6, &layout_3_6d },
	{ 0x03070000, &layout_3_7_0, &layout_3_7_0d },
	{ 0x03070400, &layout_3_7, &layout_3_7d },
	{ 0x03080000, &layout_3_8, &layout_3_8 },
	{ 0x03090000, &layout_3_9, &layout_3_9 },
	{ 0x030a0000, &layout_3_10, &layout_3_10 },
	{ 0x030b0000, &layout_3_11, &layout_3_11 },
	{ 0x030c0000, &layout_3_12, &layout_3_12 },
	{ 0x030d0000, NULL, NULL },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct layout *layout_for_version(uint32_t hex, bool free_threaded,
					bool debug)
{
	const struct constant *found = NULL;

	for (size_t i = 0; i < COUNT(constants); i++)
		if (hex >= constants[i].since)
			found = &constants[i];
	if (!found || free_threaded)
		return NULL;
	return debug ? found->debug : found->plain;
}

/* The first words of _PyRuntime. */
struct header {
	char cookie[8];
	uint64_t version, free_threaded;
};

static const struct self_described *find_minor(uint64_t version)
{
	for (size_t i = 0; i < COUNT(self_described); i++)
		if (version >> 24 == 3 &&
		    (version >> 16 & 0xff) == self_described[i].minor)
			return &self_described[i];
	return NULL;
}

static void store(struct layout *layout, const struct layout_told *row,
		  uint64_t value)
{
	char *field = (char *)layout + row->field;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	if (row->width == sizeof(v16))
		memcpy(field, &v16, sizeof(v16));
	else if (row->width == sizeof(v32))
		memcpy(field, &v32, sizeof(v32));
}

/* Where in the struct the field lies that the word is about. */
static uint64_t offset_of(const struct layout *layout,
			  const struct layout_told *row, uint64_t word)
{
	if (row->kind == TOLD_IN_GIL)
		return word - layout->interpreter.gil_state;
	if (row->kind == TOLD_IN_GC)
		return word + layout->interpreter.gc;
	return word;
}

/* Take one word. False when it cannot be true. */
static bool take(struct layout *layout, const struct layout_told *row,
		 uint64_t word, uint64_t *size)
{
	bool state = row->width == sizeof(uint32_t) || !row->width;
	uint64_t max = state ? STATE_SIZE_MAX : STRUCT_SIZE_MAX;

	if (row->kind == TOLD_UNUSED)
		return true;
	if (row->kind == TOLD_SIZE) {
		*size = word;
		store(layout, row, word);
		return word > 0 && word <= max;
	}
	if (word >= *size || word % row->align)
		return false;
	word = offset_of(layout, row, word);
	store(layout, row, word);
	return word < max;
}

static int take_all(struct layout *layout, const struct layout_told *told,
		    const uint64_t *words, struct error *err)
{
	uint64_t size = 0;

	for (size_t i = 0; told[i].kind != TOLD_END; i++)
		if (!take(layout, &told[i], words[i], &size))
			return fail(err, ERR_CORRUPT,
				    "Python %d.%d describes its own memory in "
				    "a way that cannot be true (word %zu is "
				    "%#llx); a pre-release, or damaged",
				    layout->major, layout->minor, i,
				    (unsigned long long)words[i]);
	return 0;
}

/* Fields that stand beside ones that were told, and those that are told even by
 * builds which do not have them. */
static void derive(struct layout *l)
{
	l->thread.datastack_top = l->thread.datastack_chunk + 8;
	l->frame.size = l->frame.localsplus;
	l->code.size = l->code.code;
	l->object.var_size = l->tuple.size;
	if (!l->free_threaded) {
		l->frame.tlbc_index = LAYOUT_NONE;
		l->code.tlbc = LAYOUT_NONE;
	}
}

/* A field of a struct that readers take in one piece of `size` bytes: it must
 * lie inside, also where only a constant table names it. */
struct inside {
	uint16_t size, field; /* offsets in struct layout */
	uint8_t bytes;
};

#define IN(group, f, bytes)                                     \
	{                                                       \
		offsetof(struct layout, group.size),            \
			offsetof(struct layout, group.f), bytes \
	}

static const struct inside insides[] = {
	IN(thread, previous, 8),
	IN(thread, next, 8),
	IN(thread, interpreter, 8),
	IN(thread, frame, 8),
	IN(thread, base_frame, 8),
	IN(thread, thread_id, 8),
	IN(thread, native_thread_id, 8),
	IN(thread, datastack_chunk, 8),
	IN(thread, datastack_top, 8),
	IN(thread, status, 4),
	IN(thread, state, 4),
	IN(thread, holds_gil, 4),
	IN(thread, gil_requested, 4),
	IN(thread, dict, 8),
	IN(thread, id, 8),
	IN(frame, previous, 8),
	IN(frame, code, 8),
	IN(frame, instruction, 8),
	IN(frame, owner, 1),
	IN(frame, stacktop, 4),
	IN(frame, tlbc_index, 4),
	IN(frame, frame_object, 8),
	IN(frame, locals, 8),
	IN(frame, function, 8),
	IN(code, filename, 8),
	IN(code, name, 8),
	IN(code, qualname, 8),
	IN(code, linetable, 8),
	IN(code, firstlineno, 4),
	IN(code, argcount, 4),
	IN(code, kwonlyargcount, 4),
	IN(code, posonlyargcount, 4),
	IN(code, flags, 4),
	IN(code, nlocals, 4),
	IN(code, localsplusnames, 8),
	IN(code, localspluskinds, 8),
	IN(code, tlbc, 8),
	IN(code, version, 4),
};

static uint16_t load(const struct layout *layout, uint16_t field)
{
	uint16_t value;

	memcpy(&value, (const char *)layout + field, sizeof(value));
	return value;
}

static int check_inside(const struct layout *layout, struct error *err)
{
	for (size_t i = 0; i < COUNT(insides); i++) {
		uint16_t size = load(layout, insides[i].size);
		uint16_t field = load(layout, insides[i].field);

		if (field != LAYOUT_NONE && field + insides[i].bytes > size)
			return fail(err, ERR_CORRUPT,
				    "Python %d.%d describes a struct of %u "
				    "bytes with a field at %u; a pre-release, "
				    "or damaged",
				    layout->major, layout->minor, size, field);
	}
	return 0;
}

static size_t count_words(const struct layout_told *told)
{
	size_t n = 0;

	while (told[n].kind != TOLD_END)
		n++;
	return n;
}

static int read_header(struct header *header, struct memory *memory,
		       uint64_t runtime, struct error *err)
{
	if (memory_read(memory, runtime, header, sizeof(*header)))
		return fail(err, ERR_UNREADABLE,
			    "cannot read the Python runtime at %#llx",
			    (unsigned long long)runtime);
	if (memcmp(header->cookie, COOKIE, sizeof(header->cookie)) ||
	    header->free_threaded > 1)
		return fail(err, ERR_CORRUPT,
			    "no Python runtime that describes itself at %#llx",
			    (unsigned long long)runtime);
	return 0;
}

int layout_from_debug_offsets(struct layout *out, struct memory *memory,
			      uint64_t runtime, struct error *err)
{
	const struct self_described *minor;
	uint64_t words[WORDS_MAX];
	struct header header;
	size_t n;
	int rc;

	rc = read_header(&header, memory, runtime, err);
	if (rc)
		return rc;
	minor = find_minor(header.version);
	if (!minor)
		return fail(err, ERR_UNSUPPORTED,
			    "Python %u.%u is not known to this version of "
			    "pyrometer",
			    (unsigned)(header.version >> 24 & 0xff),
			    (unsigned)(header.version >> 16 & 0xff));
	n = count_words(minor->told);
	if (n > WORDS_MAX ||
	    memory_read(memory, runtime + sizeof(header), words, n * 8))
		return fail(err, ERR_UNREADABLE,
			    "cannot read the offsets at %#llx",
			    (unsigned long long)runtime);
	*out = header.free_threaded ? *minor->free_threaded : *minor->plain;
	rc = take_all(out, minor->told, words, err);
	if (rc)
		return rc;
	derive(out);
	return check_inside(out, err);
}
