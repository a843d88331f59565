/* The items of a dict, read from outside.
 *
 * 2.7 keeps one open hash table of (hash, key, value). Since 3.6 a keys object
 * holds a table of indices and behind it the entries in order of insertion;
 * values may lie apart (a split table, shared keys of instances). Since 3.11
 * tables whose keys are all str leave the hash out. We never hash: entries are
 * walked in order, those without a value are skipped. */
#include "python/object.h"

enum keys_kind {
	KEYS_GENERAL = 0,
	KEYS_UNICODE = 1,
	KEYS_SPLIT = 2,
};

#define LOG2_SIZE_MAX 40

/* Bytes of the index table of a keys object of 3.6 to 3.10. */
static int old_index_bytes(uint64_t size, uint64_t *bytes)
{
	if (!size || size & (size - 1) || size > UINT64_C(1) << LOG2_SIZE_MAX)
		return -ERR_CORRUPT;
	*bytes = size * (size <= 0xff	       ? 1
			 : size <= 0xffff      ? 2
			 : size <= 0xffffffffu ? 4
					       : 8);
	return 0;
}

static int begin_compact(struct dict_iterator *it, uint64_t keys)
{
	const struct target *t = it->target;
	uint64_t size, bytes;
	int rc = object_word(t, keys, t->layout->dict.keys_size, &size);

	if (!rc)
		rc = old_index_bytes(size, &bytes);
	if (rc)
		return rc;
	it->with_hash = true;
	it->entries = keys + t->layout->dict.keys_indices + bytes;
	return 0;
}

static int begin_kinds(struct dict_iterator *it, uint64_t keys)
{
	const struct target *t = it->target;
	unsigned char log2_bytes, kind;
	int rc;

	rc = memory_read(t->memory, keys + t->layout->dict.keys_index_bytes,
			 &log2_bytes, 1);
	if (!rc)
		rc = memory_read(t->memory, keys + t->layout->dict.keys_kind,
				 &kind, 1);
	if (rc)
		return rc;
	if (log2_bytes > LOG2_SIZE_MAX || kind > KEYS_SPLIT)
		return -ERR_CORRUPT;
	it->with_hash = kind == KEYS_GENERAL;
	it->entries = keys + t->layout->dict.keys_indices +
		      (UINT64_C(1) << log2_bytes);
	return 0;
}

static int begin_open(struct dict_iterator *it, uint64_t dict)
{
	const struct target *t = it->target;
	uint64_t mask;
	int rc = object_word(t, dict, t->layout->dict.mask, &mask);

	if (!rc)
		rc = object_word(t, dict, t->layout->dict.keys, &it->entries);
	it->with_hash = true;
	it->count = mask + 1;
	return rc;
}

/* 3.6+: entries behind the keys, perhaps values apart. */
static int begin_keys(struct dict_iterator *it, uint64_t keys, uint64_t values)
{
	const struct layout *l = it->target->layout;
	int rc = object_word(it->target, keys, l->dict.keys_count, &it->count);

	if (rc)
		return rc;
	it->values = values ? values + l->dict.values_data : 0;
	return l->dicts == DICT_COMPACT ? begin_compact(it, keys)
					: begin_kinds(it, keys);
}

static int begin_ordered(struct dict_iterator *it, uint64_t dict)
{
	const struct target *t = it->target;
	uint64_t keys, values;
	int rc = object_word(t, dict, t->layout->dict.keys, &keys);

	if (!rc)
		rc = object_word(t, dict, t->layout->dict.values, &values);
	return rc ? rc : begin_keys(it, keys, values);
}

static void bound(struct dict_iterator *it)
{
	it->cut = it->count > DICT_SCAN_MAX;
	if (it->cut)
		it->count = DICT_SCAN_MAX;
}

int dict_begin(struct dict_iterator *it, const struct target *t, uint64_t dict)
{
	int rc;

	memset(it, 0, sizeof(*it));
	it->target = t;
	rc = t->layout->dicts == DICT_OPEN ? begin_open(it, dict)
					   : begin_ordered(it, dict);
	bound(it);
	return rc;
}

int dict_begin_shared(struct dict_iterator *it, const struct target *t,
		      uint64_t keys, uint64_t values)
{
	int rc;

	memset(it, 0, sizeof(*it));
	it->target = t;
	rc = begin_keys(it, keys, values);
	bound(it);
	return rc;
}

/* Read the entries from `at` on, a chunk of them. */
static int read_chunk(struct dict_iterator *it, size_t entry_size)
{
	struct memory *memory = it->target->memory;
	uint64_t left = it->count - it->at;
	size_t n = left < DICT_CHUNK ? (size_t)left : DICT_CHUNK;
	int rc = memory_read(memory, it->entries + it->at * entry_size,
			     it->chunk, n * entry_size);

	if (rc || !it->values)
		return rc;
	return memory_read(memory, it->values + it->at * 8, it->chunk_values,
			   n * 8);
}

bool dict_next(struct dict_iterator *it, uint64_t *key, uint64_t *value)
{
	size_t size = it->with_hash ? 24 : 16;

	while (it->at < it->count) {
		size_t i = it->at % DICT_CHUNK;

		if (!i && read_chunk(it, size))
			return false;
		*key = word_at(it->chunk, i * size + size - 16);
		*value = it->values ? it->chunk_values[i]
				    : word_at(it->chunk, i * size + size - 8);
		it->at++;
		if (*key && *value)
			return true;
	}
	return false;
}
