/* Objects of a target: what they are and where their contents lie. Inside
 * src/python only; everything is bounded, nothing is believed. */
#ifndef PYROMETER_PYTHON_OBJECT_H
#define PYROMETER_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "os/memory.h"
#include "python/layout.h"

/* Bits of tp_flags, the same in every version that has them. */
#define TYPE_INLINE    (UINT64_C(1) << 2) /* 3.13+: attributes in place */
#define TYPE_MANAGED   (UINT64_C(1) << 4) /* 3.11+: dict before the object */
#define TYPE_HEAP      (UINT64_C(1) << 9)
#define TYPE_INT       (UINT64_C(1) << 23) /* 2.7 only; reused since */
#define TYPE_LONG      (UINT64_C(1) << 24)
#define TYPE_LIST      (UINT64_C(1) << 25)
#define TYPE_TUPLE     (UINT64_C(1) << 26)
#define TYPE_BYTES     (UINT64_C(1) << 27) /* 2.7: str */
#define TYPE_UNICODE   (UINT64_C(1) << 28)
#define TYPE_DICT      (UINT64_C(1) << 29)
#define TYPE_EXCEPTION (UINT64_C(1) << 30)
#define TYPE_TYPE      (UINT64_C(1) << 31)

#define TYPE_NAME_MAX 128
#define TYPE_HEAD_MAX 512 /* of a type object, up to the fields we read */

/* A target to read: what each function below needs. */
struct target {
	struct memory *memory;
	const struct layout *layout;
};

struct type {
	uint64_t address, base, flags;
	char name[TYPE_NAME_MAX]; /* without the module; "" when unreadable */
};

/* The type of the object at `object`. 0 or a negative code. */
int object_type(const struct target *t, uint64_t object, struct type *out);
/* Read the type object at `address`. */
int type_read(const struct target *t, uint64_t address, struct type *out);
/* Whether the type is built in and has this name. */
bool type_is(const struct type *type, const char *name);

/* A machine word at offset `field` of the object. */
int object_word(const struct target *t, uint64_t object, uint16_t field,
		uint64_t *word);

/* The items of a tuple or list: where and how many. */
int sequence_locate(const struct target *t, uint64_t object, bool list,
		    uint64_t *items, uint64_t *count);
/* The bytes of a bytes object (2.7: str): where and how many. */
int bytes_locate(const struct target *t, uint64_t object, uint64_t *data,
		 uint64_t *count);

#define DICT_SCAN_MAX 4096 /* slots of a table that are looked at */
#define DICT_CHUNK    32   /* and read at a time */

/* Walks the items of a dict in their order. */
struct dict_iterator {
	const struct target *target;
	uint64_t entries, values; /* values: 0 or the split ones */
	uint64_t at, count;
	bool with_hash;
	bool cut; /* there may be more than are walked */
	unsigned char chunk[DICT_CHUNK * 24]; /* entries around `at` */
	uint64_t chunk_values[DICT_CHUNK];
};

int dict_begin(struct dict_iterator *it, const struct target *t, uint64_t dict);
/* 3.11+: the attributes of an instance that has no dict of its own, whose keys
 * are its type's. */
int dict_begin_shared(struct dict_iterator *it, const struct target *t,
		      uint64_t keys, uint64_t values);
/* The next item; false at the end or when the table cannot be read. */
bool dict_next(struct dict_iterator *it, uint64_t *key, uint64_t *value);

/* The first code points of a str (2.7: unicode; a 2.7 str gives bytes): at most
 * `max` to `points`. Returns how many were stored or a negative code; *length
 * gets the length of the whole. */
int text_points(const struct target *t, uint64_t object, uint32_t *points,
		size_t max, uint64_t *length);
/* One code point as UTF-8 to out[4]; returns the bytes used. Surrogates and
 * what lies beyond Unicode become U+FFFD. */
size_t text_encode(uint32_t point, char out[4]);

static inline uint64_t word_at(const void *bytes, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)bytes + offset, sizeof(v));
	return v;
}

static inline uint32_t int_at(const void *bytes, size_t offset)
{
	uint32_t v;

	memcpy(&v, (const char *)bytes + offset, sizeof(v));
	return v;
}

#endif
