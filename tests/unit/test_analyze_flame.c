#include "analyze/flame.h"
#include "analyze_support.h"
#include "base/buffer.h"

#define LIB "@/usr/lib/python3.12/json/x.py"

/* The boxes as text: "name*3 " each, a dot for each level. */
static const char *text_of(struct fake *f, const struct flame *flame,
			   uint32_t root, uint64_t narrowest, uint32_t most)
{
	static char kept[2048];
	struct buffer out = BUFFER_INIT;
	struct flame_boxes b;

	flame_arrange(&b, flame, root, narrowest, most);
	for (uint32_t i = 0; i < b.count; i++) {
		const struct flame_node *n = &flame->nodes[b.items[i].node];

		for (uint32_t d = 0; d < b.items[i].depth; d++)
			buffer_add_byte(&out, '.');
		buffer_printf(&out, "%s*%d@%d ",
			      n->kind == FLAME_FUNCTION
				      ? reader_function(f->reader, n->id)->name
			      : n->kind == FLAME_THREAD
				      ? reader_thread(f->reader, n->id)->name
			      : n->kind == FLAME_NO_STACK ? "none"
			      : n->kind == FLAME_GC	  ? "gc"
							  : "all",
			      (int)n->total, (int)b.items[i].start);
	}
	snprintf(kept, sizeof(kept), "%s", buffer_text(&out));
	buffer_release(&out);
	flame_boxes_release(&b);
	return kept;
}

static struct fake make(void)
{
	struct fake f = fake_begin();
	uint32_t a = fake_thread(&f, 0, 100, "A"),
		 b = fake_thread(&f, 0, 2, "B");

	fake_run(&f, a, fake_stack(&f, "main:1;load:2"), 3);
	fake_run(&f, a, fake_stack(&f, "main:9;load:3;load:4"), 2);
	fake_run(&f, a, fake_stack(&f, "main;dumps" LIB ";enc" LIB ";mine"), 6);
	fake_run(&f, b, fake_stack(&f, "work;load:2"), 4);
	fake_run(&f, b, ID_NONE, 1);
	fake_profile(&f, NULL);
	return f;
}

static void check(const struct flame_options *options, const char *expected)
{
	struct fake f = make();
	struct arena arena = ARENA_INIT;
	struct tally tally;
	struct flame flame;

	assert_int_equal(tally_count(&tally, f.profile, &arena, NULL), 0);
	flame_build(&flame, f.profile, &tally, options);
	assert_string_equal(text_of(&f, &flame, 0, 1, 100), expected);
	flame_release(&flame);
	arena_release(&arena);
	fake_end(&f);
}

static void merges_lines_and_keeps_recursion(void **state)
{
	struct flame_options options = { 0 };

	check(&options,
	      "all*16@0 .main*11@0 ..dumps*6@0 ...enc*6@0 ....mine*6@0 "
	      "..load*5@6 ...load*2@6 .work*4@11 ..load*4@11 .none*1@15 ");
}

static void folds_libraries(void **state)
{
	struct flame_options options = { .mine = true };

	check(&options, "all*16@0 .main*11@0 ..dumps*6@0 ...mine*6@0 "
			"..load*5@6 ...load*2@6 .work*4@11 ..load*4@11 "
			".none*1@15 ");
}

static void inverts(void **state)
{
	struct flame_options options = { .inverted = true };

	check(&options,
	      "all*16@0 .load*9@0 ..work*4@0 ..main*3@4 ..load*2@7 "
	      "...main*2@7 .mine*6@9 ..enc*6@9 ...dumps*6@9 ....main*6@9 "
	      ".none*1@15 ");
}

static void inverts_folded(void **state)
{
	struct flame_options options = { .inverted = true, .mine = true };

	check(&options, "all*16@0 .load*9@0 ..work*4@0 ..main*3@4 ..load*2@7 "
			"...main*2@7 .mine*6@9 ..dumps*6@9 ...main*6@9 "
			".none*1@15 ");
}

static void splits_by_thread(void **state)
{
	struct flame_options options = { .threads = true, .mine = true };

	check(&options, "all*16@0 .A*11@0 ..main*11@0 ...dumps*6@0 "
			"....mine*6@0 ...load*5@6 ....load*2@6 .B*5@11 "
			"..work*4@11 ...load*4@11 ..none*1@15 ");
}

static void leaves_out_what_is_narrow(void **state)
{
	struct flame_options options = { .mine = true };
	struct fake f = make();
	struct flame flame;
	uint64_t path[2];
	uint32_t node;

	flame_build(&flame, f.profile, NULL, &options);
	assert_string_equal(text_of(&f, &flame, 0, 5, 100),
			    "all*16@0 .main*11@0 ..dumps*6@0 ...mine*6@0 "
			    "..load*5@6 ");
	assert_string_equal(text_of(&f, &flame, 0, 1, 2),
			    "all*16@0 .main*11@0 ");
	path[0] = flame_path_word(FLAME_FUNCTION, fake_function(&f, "main"));
	path[1] = flame_path_word(FLAME_FUNCTION, fake_function(&f, "load"));
	node = flame_find(&flame, path, 2);
	assert_string_equal(text_of(&f, &flame, node, 1, 100),
			    "load*5@0 .load*2@0 ");
	path[1] = flame_path_word(FLAME_FUNCTION, fake_function(&f, "work"));
	assert_int_equal(flame_find(&flame, path, 2), ID_NONE);
	flame_release(&flame);
	fake_end(&f);
}

/* One sample in 40,000 could not be seen: where it goes is not followed. */
static void follows_only_what_is_wide(void **state)
{
	struct flame_options options = { 0 };
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct flame flame;

	fake_run(&f, t, fake_stack(&f, "main;hot;deep"), 39999);
	fake_run(&f, t, fake_stack(&f, "main;rare;deep"), 1);
	fake_profile(&f, NULL);
	flame_build(&flame, f.profile, NULL, &options);
	assert_string_equal(text_of(&f, &flame, 0, 1, 100),
			    "all*40000@0 .main*40000@0 ..hot*39999@0 "
			    "...deep*39999@0 ..rare*1@39999 ");
	flame_release(&flame);
	options.inverted = true;
	flame_build(&flame, f.profile, NULL, &options);
	assert_string_equal(text_of(&f, &flame, 0, 1, 100),
			    "all*40000@0 .deep*40000@0 ..hot*39999@0 "
			    "...main*39999@0 ..rare*1@39999 ");
	flame_release(&flame);
	fake_end(&f);
}

static void goes_around_a_function(void **state)
{
	struct fake f = make();
	struct callers callers;
	struct flame flame;

	callers_count(&callers, f.profile, fake_function(&f, "load"));
	flame_around(&flame, f.profile, &callers, true, false);
	assert_string_equal(text_of(&f, &flame, 1, 1, 100),
			    "load*9@0 .main*5@0 .work*4@5 ");
	flame_release(&flame);
	flame_around(&flame, f.profile, &callers, false, false);
	assert_string_equal(text_of(&f, &flame, 1, 1, 100), "load*9@0 ");
	flame_release(&flame);
	callers_release(&callers);
	fake_end(&f);
}

/* Around "mine", which libraries call and which calls libraries. */
static void goes_around_with_libraries_folded(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct callers callers;
	struct flame flame;

	fake_run(&f, t,
		 fake_stack(&f, "main;run" LIB ";call" LIB ";mine;dump" LIB
				";enc" LIB ";hook"),
		 3);
	fake_run(&f, t, fake_stack(&f, "run" LIB ";mine;dump" LIB ";enc" LIB),
		 2);
	fake_profile(&f, NULL);
	callers_count(&callers, f.profile, fake_function(&f, "mine"));
	flame_around(&flame, f.profile, &callers, true, true);
	assert_string_equal(text_of(&f, &flame, 1, 1, 100),
			    "mine*5@0 .run*5@0 ..main*3@0 ");
	flame_release(&flame);
	flame_around(&flame, f.profile, &callers, false, true);
	assert_string_equal(text_of(&f, &flame, 1, 1, 100),
			    "mine*5@0 .dump*5@0 ..hook*3@0 ");
	flame_release(&flame);
	callers_release(&callers);
	fake_end(&f);
}

/* A collects 2 of 5 in load; B once in the same stack. */
static struct fake make_collecting(void)
{
	struct fake f = fake_begin();
	uint32_t a = fake_thread(&f, 0, 100, "A"),
		 b = fake_thread(&f, 0, 2, "B");
	uint32_t load = fake_stack(&f, "main;load");

	fake_run(&f, a, load, 3);
	for (int i = 0; i < 2; i++) {
		fake_tick(&f);
		fake_see(&f, a, load, FAKE_CPU | STATE_GC);
		if (i)
			fake_see(&f, b, load, FAKE_CPU | STATE_GC);
	}
	fake_profile(&f, NULL);
	return f;
}

static void shows_garbage_collection(void **state)
{
	static const struct {
		struct flame_options options;
		const char *expected;
	} cases[] = {
		{ { 0 }, "all*6@0 .main*6@0 ..load*6@0 ...gc*3@0 " },
		{ { .threads = true },
		  "all*6@0 .A*5@0 ..main*5@0 ...load*5@0 ....gc*2@0 "
		  ".B*1@5 ..main*1@5 ...load*1@5 ....gc*1@5 " },
		{ { .inverted = true },
		  "all*6@0 .gc*3@0 ..load*3@0 ...main*3@0 "
		  ".load*3@3 ..main*3@3 " },
	};
	struct fake f = make_collecting();
	struct arena arena = ARENA_INIT;
	struct tally tally;
	struct flame flame;

	assert_int_equal(tally_count(&tally, f.profile, &arena, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		flame_build(&flame, f.profile, &tally, &cases[i].options);
		assert_string_equal(text_of(&f, &flame, 0, 1, 100),
				    cases[i].expected);
		flame_release(&flame);
	}
	arena_release(&arena);
	fake_end(&f);
}

/* Many boxes, so that their list grows under every hand that holds it. */
static void loses_no_sample(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "A");
	struct flame flame;
	char stack[32];

	for (int i = 0; i < 300; i++) {
		snprintf(stack, sizeof(stack), "main;f%d;g%d", i, i);
		fake_tick(&f);
		fake_see(&f, t, fake_stack(&f, stack), FAKE_CPU | STATE_GC);
		if (i % 16 == 0) {
			fake_tick(&f);
			fake_see(&f, t, ID_NONE, 0);
		}
	}
	fake_profile(&f, NULL);
	for (int i = 0; i < 4; i++) {
		struct flame_options options = { .inverted = i & 1,
						 .mine = i & 2 };

		flame_build(&flame, f.profile, NULL, &options);
		assert_int_equal(flame.nodes[0].total, f.profile->samples);
		flame_release(&flame);
	}
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_lines_and_keeps_recursion),
		cmocka_unit_test(folds_libraries),
		cmocka_unit_test(inverts),
		cmocka_unit_test(inverts_folded),
		cmocka_unit_test(splits_by_thread),
		cmocka_unit_test(leaves_out_what_is_narrow),
		cmocka_unit_test(follows_only_what_is_wide),
		cmocka_unit_test(goes_around_a_function),
		cmocka_unit_test(goes_around_with_libraries_folded),
		cmocka_unit_test(shows_garbage_collection),
		cmocka_unit_test(loses_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
