/* Values as text, and what a lying target cannot do to it. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../support/fake_memory.h"
#include "python/code.h"
#include "python/layouts/layouts.h"
#include "python/numbers.h"
#include "python/object.h"

#define DEPTH 4
#define MAX   200

static void check(struct fake_python *p, uint64_t object, const char *expected)
{
	struct buffer out = BUFFER_INIT;

	value_render(&out, fake_memory_reader(p->memory), p->layout, object,
		     DEPTH, MAX);
	assert_string_equal(buffer_text(&out), expected);
	buffer_release(&out);
}

/* An object of which only its type's name is known. */
static void check_instance(struct fake_python *p, uint64_t object,
			   const char *type)
{
	char expected[80];

	snprintf(expected, sizeof(expected), "<%s at 0x%llx>", type,
		 (unsigned long long)object);
	check(p, object, expected);
}

static uint64_t small(struct fake_python *p, uint32_t value)
{
	return fake_int(p, &value, value ? 1 : 0, 1);
}

static void check_ints(const struct layout *layout, const char *suffix)
{
	struct fake_python p = { fake_memory_new(), layout };
	const uint32_t digits[] = { 0x3fffffff, 0x3fffffff, 7 };
	const uint32_t middle[] = { 0, 0, 1 }; /* 2**60 */
	static uint32_t many[1000];
	char text[64];

	snprintf(text, sizeof(text), "0%s", suffix);
	check(&p, small(&p, 0), text);
	snprintf(text, sizeof(text), "-1073741823%s", suffix);
	check(&p, fake_int(&p, digits, 1, -1), text);
	snprintf(text, sizeof(text), "9223372036854775807%s", suffix);
	check(&p, fake_int(&p, digits, 3, 1), text);
	snprintf(text, sizeof(text), "1152921504606846976%s", suffix);
	check(&p, fake_int(&p, middle, 3, 1), text);
	check(&p, fake_int(&p, many, 1000, -1),
	      "<negative int of about 30000 bits>");
	fake_memory_free(p.memory);
}

static void test_ints(void **state)
{
	(void)state;
	check_ints(&layout_2_7, "L");
	check_ints(&layout_3_8, "");
	check_ints(&layout_3_12, "");
	check_ints(&layout_3_13t, "");
}

static void test_doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{ 0.0, "0.0" },
		{ -0.0, "-0.0" },
		{ 0.1, "0.1" },
		{ 100, "100.0" },
		{ 1e15, "1000000000000000.0" },
		{ 1e16, "1e+16" },
		{ 1e-4, "0.0001" },
		{ 1e-5, "1e-05" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 5e-324, "5e-324" },
		{ 123456.789, "123456.789" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer out = BUFFER_INIT;

		number_add_double(&out, rows[i].value);
		assert_string_equal(buffer_text(&out), rows[i].text);
		buffer_release(&out);
	}
}

static void test_containers(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t one = small(&p, 1), text = fake_ascii(&p, "it's");
	uint64_t items[] = { one, text, 0 };
	uint64_t list = fake_list(&p, items, 3);

	(void)state;
	check(&p, list, "[1, \"it's\", <NULL>]");
	check(&p, fake_tuple(&p, items, 1), "(1,)");
	check(&p, fake_tuple(&p, items, 0), "()");
	check(&p, fake_list(&p, &list, 1), "[[1, \"it's\", <NULL>]]");
	check(&p, fake_bytes(&p, "a\0\xff", 3), "b'a\\x00\\xff'");
	fake_memory_free(p.memory);
}

/* A dict of 3.12: a general table, or a split one with its values apart. */
static uint64_t make_dict(struct fake_python *p, const uint64_t *pairs,
			  size_t n, bool split)
{
	const struct layout *l = p->layout;
	uint64_t type = fake_type(p, "dict", TYPE_DICT, 0);
	uint64_t dict = fake_object(p, type, 64);
	size_t entry = split ? 16 : 24, first = l->dict.keys_indices + 8;
	uint64_t keys = fake_memory_map(p->memory, first + n * entry);
	uint64_t values =
		fake_memory_map(p->memory, l->dict.values_data + n * 8);
	unsigned char bytes[] = { 3, 3, split ? 2 : 0 };

	fake_memory_put(p->memory, keys + l->dict.keys_size, bytes, 3);
	fake_memory_put_word(p->memory, keys + l->dict.keys_count, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = keys + first + i * entry + entry - 16;

		fake_memory_put_word(p->memory, at, pairs[2 * i]);
		fake_memory_put_word(p->memory,
				     split ? values + l->dict.values_data +
						     i * 8
					   : at + 8,
				     pairs[2 * i + 1]);
	}
	fake_memory_put_word(p->memory, dict + l->dict.used, n);
	fake_memory_put_word(p->memory, dict + l->dict.keys, keys);
	fake_memory_put_word(p->memory, dict + l->dict.values,
			     split ? values : 0);
	return dict;
}

static void check_dicts(const struct layout *layout)
{
	struct fake_python p = { fake_memory_new(), layout };
	uint64_t pairs[] = {
		small(&p, 1),	 fake_ascii(&p, "a"), small(&p, 2),
		0 /* deleted */, small(&p, 3),	      small(&p, 4)
	};

	check(&p, make_dict(&p, pairs, 3, false), "{1: 'a', 3: 4}");
	check(&p, make_dict(&p, pairs, 3, true), "{1: 'a', 3: 4}");
	check(&p, make_dict(&p, pairs, 0, false), "{}");
	fake_memory_free(p.memory);
}

static void test_dicts(void **state)
{
	(void)state;
	check_dicts(&layout_3_12);
	check_dicts(&layout_3_14);
	check_dicts(&layout_3_13t);
}

static void test_subclasses(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t base = fake_type(&p, "float", 0, 0);
	uint64_t derived = fake_type(&p, "Meters", TYPE_HEAP, base);
	uint64_t object = fake_object(&p, derived, 32);
	uint64_t other = fake_type(&p, "pkg.Thing", TYPE_HEAP, 0);
	double value = 2.5;

	(void)state;
	fake_memory_put(p.memory, object + p.layout->floating.value, &value, 8);
	check(&p, object, "Meters(2.5)");
	check_instance(&p, fake_object(&p, other, 32), "Thing");
	fake_memory_free(p.memory);
}

static void test_tagged_ints(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_14 };

	(void)state;
	check(&p, 42 << 2 | 3, "42");
	check(&p, (uint64_t)-5 << 2 | 3, "-5");
	p.layout = &layout_3_12;
	check(&p, 42 << 2 | 3, "<unreadable>");
	fake_memory_free(p.memory);
}

static void test_cycles_and_depth(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t self = 0, list, items;

	(void)state;
	list = fake_list(&p, &self, 1);
	memory_read_u64(fake_memory_reader(p.memory),
			list + p.layout->list.items, &items);
	fake_memory_put_word(p.memory, items, list);
	check(&p, list, "[...]");
	for (int i = 0; i < 10; i++)
		list = fake_list(&p, &list, 1);
	check(&p, list, "[[[[...]]]]");
	fake_memory_free(p.memory);
}

static void test_a_type_that_is_its_own_base(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t type = fake_type(&p, "Odd", 0, 0);
	uint64_t object = fake_object(&p, type, 16);

	(void)state;
	fake_memory_put_word(p.memory, type + p.layout->type.base, type);
	check_instance(&p, object, "Odd");
	fake_memory_free(p.memory);
}

static void test_long_ones_are_cut(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t items[1000], one = small(&p, 1);
	struct buffer out = BUFFER_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++)
		items[i] = one;
	value_render(&out, fake_memory_reader(p.memory), p.layout,
		     fake_list(&p, items, 1000), DEPTH, 9);
	assert_string_equal(buffer_text(&out), "[1, 1, 1, ...]");
	buffer_reset(&out);
	value_render(&out, fake_memory_reader(p.memory), p.layout,
		     fake_ascii(&p, "abcdefghijklmnop"), DEPTH, 5);
	assert_string_equal(buffer_text(&out), "'abcde'...");
	buffer_release(&out);
	fake_memory_free(p.memory);
}

static void test_absurd_lengths(void **state)
{
	struct fake_python p = { fake_memory_new(), &layout_3_12 };
	uint64_t one = small(&p, 1), list = fake_list(&p, &one, 1);
	uint64_t text = fake_ascii(&p, "abc"), dict;

	(void)state;
	fake_memory_put_word(p.memory, list + p.layout->list.size, 1u << 30);
	check(&p, list, "<unreadable>");
	fake_memory_put_word(p.memory, list + p.layout->list.size, UINT64_MAX);
	check(&p, list, "<unreadable>");
	fake_memory_put_word(p.memory, text + p.layout->unicode.length,
			     UINT64_MAX / 2);
	check(&p, text, "<unreadable>");
	dict = make_dict(&p, NULL, 0, false);
	fake_memory_put_word(p.memory, dict + p.layout->dict.keys, 64);
	check(&p, dict, "<unreadable>");
	fake_memory_free(p.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ints),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_dicts),
		cmocka_unit_test(test_subclasses),
		cmocka_unit_test(test_tagged_ints),
		cmocka_unit_test(test_cycles_and_depth),
		cmocka_unit_test(test_a_type_that_is_its_own_base),
		cmocka_unit_test(test_long_ones_are_cut),
		cmocka_unit_test(test_absurd_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
