/* Raw stacks to nodes of the recording, and code objects that change. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/fake_code.h"
#include "../support/fake_thread.h"
#include "python/layouts/layouts.h"
#include "sample/nodes.h"

#define BIG_UNITS (1 << 20) /* of a code object whose lines take 4 MB */

struct scene {
	struct fake_memory *memory;
	struct fake_python objects;
	struct python python;
	struct writer *writer;
	struct codes *codes;
	struct node_table table;
	int fd;
};

static void begin(struct scene *s, const struct layout *layout)
{
	struct writer_options options = { .period = 1000000 };

	memset(s, 0, sizeof(*s));
	s->memory = fake_memory_new();
	s->objects = (struct fake_python){ s->memory, layout };
	s->python = fake_python_over(s->memory, layout);
	s->fd = memfd_create("recording", MFD_CLOEXEC);
	assert_int_equal(writer_new(&s->writer, s->fd, &options, NULL), 0);
	s->codes = codes_new(&s->python, s->writer);
	node_table_init(&s->table, s->codes, s->writer);
}

static void end(struct scene *s)
{
	node_table_release(&s->table);
	codes_free(s->codes);
	writer_free(s->writer);
	close(s->fd);
	fake_memory_free(s->memory);
}

static uint64_t code_of(struct scene *s, const char *name, size_t units)
{
	const struct fake_code code = {
		.name = name,
		.file = "/a.py",
		.first_line = 1,
		.lines = "\xf8\0",
		.lines_size = 2,
		.units = units,
		.kinds = "",
	};

	return fake_code(&s->objects, &code);
}

/* Another code object takes the place of the one at the address. */
static void replace(struct scene *s, uint64_t address, const char *name)
{
	const struct layout *l = s->objects.layout;
	uint64_t text = fake_ascii(&s->objects, name);

	fake_memory_put_word(s->memory, address + l->code.name, text);
	if (l->code.qualname != LAYOUT_NONE)
		fake_memory_put_word(s->memory, address + l->code.qualname,
				     text);
}

/* The frame that the recording has for a function of this name. */
static uint32_t frame_named(struct scene *s, const char *name, uint32_t line)
{
	struct function_info f = { name, "/a.py", 1, FUNCTION_PYTHON, "" };

	return writer_frame(s->writer, writer_function(s->writer, &f), line);
}

static struct raw_frame frame_at(const struct scene *s, uint64_t code,
				 uint64_t frame)
{
	return (struct raw_frame){
		.code = code,
		.instruction = code + s->objects.layout->code.code,
		.frame = frame,
	};
}

static struct stack stack_of(struct raw_frame *frames, uint32_t n,
			     uint64_t walk)
{
	return (struct stack){ .frames = frames, .n_frames = n, .walk = walk };
}

static void test_root_part_is_shared(void **state)
{
	struct node_path path = NODE_PATH_INIT;
	struct raw_frame frames[3];
	struct stack whole, root;
	uint32_t node, parent;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	frames[0] = frame_at(&s, code_of(&s, "leaf", 4), 0x300);
	frames[1] = frame_at(&s, code_of(&s, "middle", 4), 0x200);
	frames[2] = frame_at(&s, code_of(&s, "root", 4), 0x100);
	whole = stack_of(frames, 3, 1);
	root = stack_of(frames + 1, 2, 2);
	node = node_of_stack(&s.table, &path, &whole, 1);
	parent = node_of_stack(&s.table, &path, &root, 1);
	assert_int_not_equal(node, parent);
	assert_int_equal(node, writer_node(s.writer, parent,
					   codes_frame(s.codes, &frames[0])));
	whole.walk = 3;
	assert_int_equal(node_of_stack(&s.table, &path, &whole, 1), node);
	root.n_frames = 0;
	assert_int_equal(node_of_stack(&s.table, &path, &root, 1), ID_NONE);
	node_path_release(&path);
	end(&s);
}

/* Names native frames by their addresses. */
static uint32_t name_address(struct node_namer *n, const struct merged_frame *f)
{
	struct counting_namer {
		struct node_namer namer;
		struct scene *scene;
		uint32_t asked;
	} *c = (struct counting_namer *)n;
	char name[32];

	c->asked++;
	snprintf(name, sizeof(name), "%llx", (unsigned long long)f->address);
	return frame_named(c->scene, name, 0);
}

/* Native frames stand between Python's, are named once, and share roots. */
static void test_native_frames_have_nodes(void **state)
{
	struct merged_path path = { 0 };
	struct scene s;
	struct {
		struct node_namer namer;
		struct scene *scene;
		uint32_t asked;
	} namer = { { name_address }, &s, 0 };
	struct merged_frame frames[3] = {
		{ .kind = MERGED_PYTHON },
		{ .kind = MERGED_NATIVE, .address = 0x7000, .module = 2 },
		{ .kind = MERGED_NATIVE, .address = 0x8000, .module = 2 },
	};
	struct merged stack = { frames, 3, 3 };
	uint32_t whole, part;

	(void)state;
	begin(&s, &layout_3_15);
	frames[0].python = frame_at(&s, code_of(&s, "root", 4), 0x100);
	whole = node_of_merged(&s.table, &path, &stack, 1, &namer.namer);
	stack.count = 2;
	part = node_of_merged(&s.table, &path, &stack, 1, &namer.namer);
	assert_int_equal(whole, writer_node(s.writer, part,
					    frame_named(&s, "8000", 0)));
	stack.count = 3;
	assert_int_equal(node_of_merged(&s.table, &path, &stack, 1,
					&namer.namer),
			 whole);
	assert_int_equal(namer.asked, 2);
	frames[2].module = 3; /* another file is mapped there by now */
	node_of_merged(&s.table, &path, &stack, 1, &namer.namer);
	assert_int_equal(namer.asked, 3);
	stack.count = 0;
	assert_int_equal(node_of_merged(&s.table, &path, &stack, 1,
					&namer.namer),
			 ID_NONE);
	merged_path_release(&path);
	end(&s);
}

/* Looks whose samples were left out lie between two samples of a thread. */
static void test_short_way_needs_the_same_walk(void **state)
{
	struct node_path path = NODE_PATH_INIT, fresh = NODE_PATH_INIT;
	struct raw_frame one[2], other[2];
	struct stack stack;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_15);
	one[0] = frame_at(&s, code_of(&s, "leaf", 4), 0x200);
	one[1] = frame_at(&s, code_of(&s, "one", 4), 0x100);
	other[0] = one[0];
	other[1] = frame_at(&s, code_of(&s, "other", 4), 0x100);
	stack = stack_of(one, 2, 1);
	node_of_stack(&s.table, &path, &stack, 1);
	stack = stack_of(other, 2, 2);
	stack.same = true;
	assert_int_equal(node_of_stack(&s.table, &path, &stack, 1),
			 node_of_stack(&s.table, &fresh, &stack, 1));
	/* And from the same walk, only the leaf is looked at again. */
	other[0].instruction += 2;
	assert_int_equal(node_of_stack(&s.table, &path, &stack, 1),
			 writer_node(s.writer,
				     writer_node(s.writer, ID_NONE,
						 codes_frame(s.codes,
							     &other[1])),
				     codes_frame(s.codes, &other[0])));
	node_path_release(&path);
	node_path_release(&fresh);
	end(&s);
}

/* The address of a freed code object was taken by another one. A thread that
 * has made a call since comes to see it; what others know is void then too. */
static void test_taken_address_gets_another_node(void **state)
{
	static const struct layout *const layouts[] = { &layout_3_12,
							&layout_3_8 };

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		struct node_path a = NODE_PATH_INIT, b = NODE_PATH_INIT;
		struct raw_frame frames[2];
		struct stack stack;
		uint32_t before, after;
		struct scene s;

		begin(&s, layouts[i]);
		frames[0] = frame_at(&s, code_of(&s, "leaf", 4), 0x200);
		frames[1] = frame_at(&s, code_of(&s, "before", 4), 0x100);
		stack = stack_of(frames, 2, 1);
		before = node_of_stack(&s.table, &a, &stack, 0);
		node_of_stack(&s.table, &b, &stack, 0);
		replace(&s, frames[1].code, "after");
		frames[1].frame = 0x300;
		stack.walk = 2;
		after = node_of_stack(&s.table, &a, &stack, 0);
		assert_int_not_equal(after, before);
		frames[1].frame = 0x100;
		assert_int_equal(node_of_stack(&s.table, &b, &stack, 0), after);
		node_path_release(&a);
		node_path_release(&b);
		end(&s);
	}
}

/* From 3.14 on the interpreter says that it freed some: even a stack that is
 * the same word for word may be another one. */
static void test_freed_code_is_noticed_in_the_same_stack(void **state)
{
	struct node_path path = NODE_PATH_INIT;
	struct raw_frame frames[2];
	struct stack stack;
	struct scene s;
	uint32_t before;

	(void)state;
	begin(&s, &layout_3_15);
	frames[0] = frame_at(&s, code_of(&s, "leaf", 4), 0x200);
	frames[1] = frame_at(&s, code_of(&s, "before", 4), 0x100);
	stack = stack_of(frames, 2, 1);
	before = node_of_stack(&s.table, &path, &stack, 1);
	assert_int_equal(node_of_stack(&s.table, &path, &stack, 2), before);
	replace(&s, frames[1].code, "after");
	assert_int_equal(node_of_stack(&s.table, &path, &stack, 2), before);
	assert_int_not_equal(node_of_stack(&s.table, &path, &stack, 3), before);
	node_path_release(&path);
	end(&s);
}

static void test_code_is_compared_when_some_was_freed(void **state)
{
	struct raw_frame frame;
	struct memory *m;
	struct scene s;
	uint64_t reads;

	(void)state;
	begin(&s, &layout_3_15);
	m = fake_memory_reader(s.memory);
	frame = frame_at(&s, code_of(&s, "f", 4), 0x100);
	codes_frame(s.codes, &frame);
	assert_false(codes_check(s.codes, &frame, 1, 5));
	reads = m->reads;
	assert_false(codes_check(s.codes, &frame, 1, 5));
	assert_int_equal(m->reads, reads);
	assert_false(codes_check(s.codes, &frame, 1, 6));
	assert_int_equal(m->reads, reads + 1);
	replace(&s, frame.code, "g");
	assert_false(codes_check(s.codes, &frame, 1, 6));
	assert_true(codes_check(s.codes, &frame, 1, 7));
	assert_int_equal(codes_frame(s.codes, &frame), frame_named(&s, "g", 0));
	end(&s);
}

static void test_no_code_object_is_unreadable(void **state)
{
	struct raw_frame one, other;
	struct scene s;

	(void)state;
	begin(&s, &layout_3_12);
	one = frame_at(&s, 0x1000, 0x100);
	other = frame_at(&s, fake_memory_map(s.memory, 1024), 0x200);
	assert_int_equal(codes_frame(s.codes, &one),
			 codes_frame(s.codes, &other));
	codes_check(s.codes, &one, 1, 0);
	codes_check(s.codes, &other, 1, 0);
	end(&s);
}

/* A program that compiles all the time does not fill our memory. */
static void test_what_is_gone_is_forgotten(void **state)
{
	struct raw_frame big, small;
	bool forgotten = false;
	struct scene s;
	char name[16];

	(void)state;
	begin(&s, &layout_3_12);
	big = frame_at(&s, code_of(&s, "big", BIG_UNITS), 0x100);
	small = frame_at(&s, code_of(&s, "small", 4), 0x200);
	codes_frame(s.codes, &big);
	codes_frame(s.codes, &small);
	for (int i = 0; i < 6 && !forgotten; i++) {
		/* A check of what has not changed tells only the one thing. */
		forgotten = codes_check(s.codes, &small, 1, 0);
		snprintf(name, sizeof(name), "big%d", i);
		replace(&s, big.code, name);
		codes_check(s.codes, &big, 1, 0);
		assert_int_equal(codes_frame(s.codes, &big),
				 frame_named(&s, name, 0));
	}
	assert_true(forgotten);
	assert_int_equal(codes_frame(s.codes, &small),
			 frame_named(&s, "small", 0));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root_part_is_shared),
		cmocka_unit_test(test_native_frames_have_nodes),
		cmocka_unit_test(test_short_way_needs_the_same_walk),
		cmocka_unit_test(test_taken_address_gets_another_node),
		cmocka_unit_test(test_freed_code_is_noticed_in_the_same_stack),
		cmocka_unit_test(test_code_is_compared_when_some_was_freed),
		cmocka_unit_test(test_no_code_object_is_unreadable),
		cmocka_unit_test(test_what_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
