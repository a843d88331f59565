/* Modules, sites and symbols: written, read back, and resolved into frames. */
#include <stdio.h>

#include "record/unpack.h"
#include "test_record_support.h"

#define LIBRARY "/usr/lib/libfoo.so.1"

static const struct module_info library = { LIBRARY, "abcdef01", 0x7f0000000000,
					    0x7f0000001000, 0x7f0000009000 };

struct recording {
	int fd;
	struct writer *w;
	struct buffer bytes;
	struct reader *r;
	uint32_t module, root; /* root: a Python node */
};

static void begin(struct recording *t)
{
	memset(t, 0, sizeof(*t));
	t->fd = memory_file();
	t->w = new_writer(t->fd);
	define_process_and_thread(t->w);
	t->module = writer_module(t->w, &library);
	t->root = define_stack(t->w, ID_NONE, "main", 3);
}

static uint32_t add_site(struct recording *t, uint64_t address)
{
	struct site_info info = { t->module, address, FUNCTION_NATIVE };

	return writer_site(t->w, &info);
}

static uint32_t add_node(struct recording *t, uint32_t parent, uint32_t site)
{
	return writer_node(t->w, parent, writer_site_frame(t->w, site));
}

/* One tick of thread 0 in `node`. */
static void see(struct recording *t, uint32_t tick, uint32_t node)
{
	writer_tick(t->w, START + tick * PERIOD);
	writer_sample(t->w, 0, node, STATE_NATIVE);
}

static void open_it(struct recording *t)
{
	t->bytes = file_bytes(t->fd);
	assert_int_equal(reader_open_memory(&t->r, t->bytes.data, t->bytes.size,
					    NULL),
			 0);
	check_sound(t->r);
}

static void finish(struct recording *t)
{
	assert_int_equal(writer_finish(t->w, NULL), 0);
	open_it(t);
	assert_null(reader_notice(t->r));
}

static void end(struct recording *t)
{
	reader_free(t->r);
	writer_free(t->w);
	buffer_release(&t->bytes);
	close(t->fd);
}

/* The stack that thread 0 had at a tick, "main:3>sum:10". */
static const char *stack_at(struct recording *t, uint32_t tick)
{
	static char text[1024];
	struct sample_block b;
	char copy[1024];

	text[0] = 0;
	assert_int_equal(reader_block(t->r, 0, &b, NULL), 0);
	assert_true(tick < b.n_runs);
	for (uint32_t n = b.runs[tick].node; n != ID_NONE;
	     n = reader_node(t->r, n).parent) {
		struct frame_info f =
			reader_frame(t->r, reader_node(t->r, n).frame);

		snprintf(copy, sizeof(copy), "%s", text);
		snprintf(text, sizeof(text), "%s:%u%s%.900s",
			 reader_function(t->r, f.function)->name, f.line,
			 copy[0] ? ">" : "", copy);
	}
	return text;
}

static struct frame_info leaf_at(struct recording *t, uint32_t tick)
{
	struct sample_block b;

	assert_int_equal(reader_block(t->r, 0, &b, NULL), 0);
	return reader_frame(t->r, reader_node(t->r, b.runs[tick].node).frame);
}

static const struct function_info inlined[] = {
	{ .name = "add", .file = "/src/a.h", .line = 2 },
	{ .name = "sum", .file = "/src/a.c", .line = 9 },
};

static void test_known_things_keep_their_ids(void **state)
{
	struct recording t;
	struct module_info elsewhere = library, other = library;
	struct site_info absolute = { ID_NONE, 0x1000, FUNCTION_NATIVE };
	uint32_t site, frame;

	begin(&t);
	elsewhere.bias = 1; /* the same file in another process */
	assert_int_equal(writer_module(t.w, &elsewhere), t.module);
	other.build_id = "02";
	assert_int_equal(writer_module(t.w, &other), t.module + 1);
	site = add_site(&t, 0x1000);
	assert_int_equal(add_site(&t, 0x1000), site);
	assert_int_equal(writer_site(t.w, &absolute), site + 1);
	absolute.kind = FUNCTION_KERNEL;
	assert_int_equal(writer_site(t.w, &absolute), site + 2);
	frame = writer_site_frame(t.w, site);
	assert_int_equal(writer_site_frame(t.w, site), frame);
	finish(&t);
	assert_int_equal(reader_modules(t.r), 2);
	assert_int_equal(reader_sites(t.r), 3);
	assert_string_equal(reader_module(t.r, 0)->path, LIBRARY);
	assert_string_equal(reader_module(t.r, 0)->build_id, "abcdef01");
	assert_true(reader_module(t.r, 0)->bias == library.bias);
	assert_true(reader_module(t.r, 0)->start == library.start);
	assert_true(reader_module(t.r, 0)->end == library.end);
	assert_int_equal(reader_site(t.r, 0).module, 0);
	assert_int_equal(reader_site(t.r, 0).address, 0x1000);
	assert_int_equal(reader_site(t.r, 1).module, ID_NONE);
	assert_int_equal(reader_site(t.r, 2).kind, FUNCTION_KERNEL);
	end(&t);
}

static void test_symbols_name_frames(void **state)
{
	struct function_info f = { .name = "foo", .file = "foo.c", .line = 7 };
	struct recording t;
	struct frame_info leaf;
	uint32_t line = 8;

	begin(&t);
	see(&t, 0, add_node(&t, t.root, add_site(&t, 0x1234)));
	writer_symbol(t.w, 0, &f, &line, 1);
	finish(&t);
	assert_string_equal(stack_at(&t, 0), "main:3>foo:8");
	leaf = leaf_at(&t, 0);
	assert_int_equal(leaf.site, 0);
	assert_string_equal(reader_function(t.r, leaf.function)->module,
			    LIBRARY);
	assert_int_equal(reader_function(t.r, leaf.function)->kind,
			 FUNCTION_NATIVE);
	assert_int_equal(reader_function(t.r, leaf.function)->line, 7);
	assert_int_equal(reader_site_depth(t.r, 0), 1);
	assert_int_equal(reader_unnamed_sites(t.r), 0);
	end(&t);
}

static void test_inlined_calls_are_nodes(void **state)
{
	struct recording t;
	uint32_t here[] = { 4, 10 }, there[] = { 5, 10 }, node;

	begin(&t);
	node = add_node(&t, t.root, add_site(&t, 0x10));
	see(&t, 0, node);
	see(&t, 1, add_node(&t, t.root, add_site(&t, 0x20)));
	/* Python called from inlined code, so numbers shift below it too. */
	see(&t, 2, define_stack(t.w, node, "back", 1));
	assert_int_equal(writer_flush(t.w, NULL), 0);
	writer_symbol(t.w, 0, inlined, here, 2);
	writer_symbol(t.w, 1, inlined, there, 2);
	finish(&t);
	assert_string_equal(stack_at(&t, 0), "main:3>sum:10>add:4");
	assert_string_equal(stack_at(&t, 1), "main:3>sum:10>add:5");
	assert_string_equal(stack_at(&t, 2), "main:3>sum:10>add:4>back:1");
	/* main, sum (shared), two of add, back */
	assert_int_equal(reader_nodes(t.r), 5);
	assert_int_equal(leaf_at(&t, 1).site, 1);
	assert_int_equal(reader_site_depth(t.r, 1), 2);
	end(&t);
}

static void test_the_first_word_counts(void **state)
{
	struct function_info again = { .name = "other" };
	struct recording t;
	uint32_t lines[] = { 4, 10 };

	begin(&t);
	see(&t, 0, add_node(&t, t.root, add_site(&t, 0x10)));
	writer_symbol(t.w, 0, inlined, lines, 2);
	writer_symbol(t.w, 0, &again, lines, 1);
	finish(&t);
	assert_string_equal(stack_at(&t, 0), "main:3>sum:10>add:4");
	end(&t);
}

static void test_more_inlined_than_fit(void **state)
{
	struct function_info many[LIMIT_INLINED + 5];
	uint32_t lines[LIMIT_INLINED + 5];
	struct recording t;

	begin(&t);
	see(&t, 0, add_node(&t, t.root, add_site(&t, 0x10)));
	for (uint32_t i = 0; i < LIMIT_INLINED + 5; i++) {
		many[i] = (struct function_info){ .name = "f", .line = i };
		lines[i] = i;
	}
	writer_symbol(t.w, 0, many, lines, LIMIT_INLINED + 5);
	finish(&t);
	assert_int_equal(reader_nodes(t.r), 1 + LIMIT_INLINED);
	/* The outermost, which is the one with code, is there. */
	assert_int_equal(reader_frame(t.r, reader_node(t.r, 1).frame).line,
			 LIMIT_INLINED + 4);
	end(&t);
}

static void test_without_symbols_there_is_an_address(void **state)
{
	struct site_info absolute = { ID_NONE, 0xabc, FUNCTION_NATIVE };
	struct site_info kernel = { ID_NONE, 0xffffffff81000000,
				    FUNCTION_KERNEL };
	struct recording t;
	uint32_t node;

	begin(&t);
	node = add_node(&t, t.root, add_site(&t, 0x1234));
	see(&t, 0, node);
	see(&t, 1, add_node(&t, node, writer_site(t.w, &absolute)));
	see(&t, 2, add_node(&t, node, writer_site(t.w, &kernel)));
	finish(&t);
	assert_string_equal(stack_at(&t, 0), "main:3>libfoo.so.1+0x1234:0");
	assert_string_equal(stack_at(&t, 1),
			    "main:3>libfoo.so.1+0x1234:0>0xabc:0");
	assert_string_equal(
		stack_at(&t, 2),
		"main:3>libfoo.so.1+0x1234:0>[kernel]+0xffffffff81000000:0");
	assert_int_equal(reader_unnamed_sites(t.r), 3);
	end(&t);
}

static void name_late(void *context, uint32_t site,
		      const struct site_info *info,
		      const struct module_info *module)
{
	uint32_t lines[] = { 4, (uint32_t)info->address };

	assert_string_equal(module->path, LIBRARY);
	if (info->address != 0x30)
		reader_set_symbols(context, site, inlined, lines, 2);
}

static void test_names_that_come_late(void **state)
{
	struct recording t;
	uint32_t functions;

	begin(&t);
	for (uint32_t i = 0; i < 3; i++)
		see(&t, i, add_node(&t, t.root, add_site(&t, 0x10 + 0x10 * i)));
	assert_int_equal(writer_flush(t.w, NULL), 0);
	open_it(&t); /* the recorder was killed */
	assert_int_equal(reader_unnamed_sites(t.r), 3);
	functions = reader_functions(t.r);
	reader_each_site(t.r, name_late, t.r);
	reader_resolve(t.r);
	check_sound(t.r);
	assert_int_equal(reader_unnamed_sites(t.r), 1);
	assert_string_equal(stack_at(&t, 0), "main:3>sum:16>add:4");
	assert_string_equal(stack_at(&t, 1), "main:3>sum:32>add:4");
	assert_string_equal(stack_at(&t, 2), "main:3>libfoo.so.1+0x30:0");
	/* Two names that were made up went, two functions came. */
	assert_int_equal(reader_functions(t.r), functions);
	end(&t);
}

static int take_bytes(void *context, const void *data, size_t size)
{
	buffer_add(context, data, size);
	return 0;
}

/* The page of the viewer gets a copy, which must have late names too. */
static void test_copies_have_late_names(void **state)
{
	struct recording t;
	struct buffer copy = BUFFER_INIT;
	struct reader *original;

	begin(&t);
	for (uint32_t i = 0; i < 3; i++)
		see(&t, i, add_node(&t, t.root, add_site(&t, 0x10 + 0x10 * i)));
	assert_int_equal(writer_flush(t.w, NULL), 0);
	open_it(&t);
	reader_each_site(t.r, name_late, t.r);
	reader_resolve(t.r);
	assert_int_equal(reader_unpack(t.r, take_bytes, &copy), 0);
	original = t.r;
	assert_int_equal(reader_open_memory(&t.r, copy.data, copy.size, NULL),
			 0);
	check_sound(t.r);
	assert_string_equal(stack_at(&t, 1), "main:3>sum:32>add:4");
	assert_string_equal(stack_at(&t, 2), "main:3>libfoo.so.1+0x30:0");
	assert_int_equal(reader_functions(t.r), reader_functions(original));
	reader_free(original);
	buffer_release(&copy);
	end(&t);
}

static void test_counts_of_native_samples(void **state)
{
	struct recording_info info = { .native = 1000,
				       .broken = 3,
				       .unmerged = 2,
				       .registers = REGISTERS_CLOCK };
	struct recording t;

	begin(&t);
	writer_info(t.w, &info);
	finish(&t);
	assert_int_equal(reader_info(t.r)->native, 1000);
	assert_int_equal(reader_info(t.r)->broken, 3);
	assert_int_equal(reader_info(t.r)->unmerged, 2);
	assert_int_equal(reader_info(t.r)->registers, REGISTERS_CLOCK);
	end(&t);
}

struct visits {
	struct writer *w;
	char text[256];
};

/* Takes files of native code, not those of Python. */
static bool visit_file(void *context, const struct function_info *f)
{
	struct visits *v = context;
	size_t n = strlen(v->text);

	snprintf(v->text + n, sizeof(v->text) - n, "%d %s %s;", f->kind,
		 f->file, f->module);
	if (f->kind == FUNCTION_PYTHON)
		return false;
	writer_source(v->w, f->file, "int x;\n", 7);
	return true;
}

static void test_files_of_native_code(void **state)
{
	struct function_info f = { .name = "a", .file = "/src/a.c" };
	struct visits v = { 0 };
	struct recording t;
	uint32_t line = 1;

	begin(&t);
	v.w = t.w;
	add_site(&t, 1);
	add_site(&t, 2);
	writer_symbol(t.w, 0, &f, &line, 1);
	f.name = "b";
	f.module = "/other.so";
	writer_symbol(t.w, 1, &f, &line, 1);
	writer_each_file(t.w, visit_file, &v);
	finish(&t);
	/* Python first, and the C file only until it was taken. */
	if (strcmp(v.text, "0 /a.py ;1 /src/a.c " LIBRARY ";"))
		assert_string_equal(v.text, "0 /a.py ;1 /src/a.c /other.so;");
	assert_string_equal(reader_source(t.r, "/src/a.c", NULL), "int x;\n");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_things_keep_their_ids),
		cmocka_unit_test(test_symbols_name_frames),
		cmocka_unit_test(test_inlined_calls_are_nodes),
		cmocka_unit_test(test_the_first_word_counts),
		cmocka_unit_test(test_more_inlined_than_fit),
		cmocka_unit_test(test_without_symbols_there_is_an_address),
		cmocka_unit_test(test_names_that_come_late),
		cmocka_unit_test(test_copies_have_late_names),
		cmocka_unit_test(test_counts_of_native_samples),
		cmocka_unit_test(test_files_of_native_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
