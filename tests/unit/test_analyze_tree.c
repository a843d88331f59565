#include "analyze/callers.h"
#include "analyze/hotspots.h"
#include "analyze/outline.h"
#include "analyze_support.h"
#include "base/buffer.h"

#define LIB "@/usr/lib/python3.12/json/x.py"

struct made {
	struct arena arena;
	struct spread spread;
	struct calltree tree;
	struct outline outline;
};

/* The tree of all threads, and its outline. */
static void make(struct made *m, struct fake *f, struct outline_options options)
{
	struct tally tally;

	*m = (struct made){ 0 };
	fake_profile(f, NULL);
	assert_int_equal(tally_count(&tally, f->profile, &m->arena, NULL), 0);
	spread_init(&m->spread, f->reader);
	for (uint32_t i = 0; i < tally.n_threads; i++)
		spread_add(&m->spread, &tally.threads[i]);
	spread_sum(&m->spread);
	calltree_init(&m->tree);
	calltree_add(&m->tree, &m->spread);
	calltree_sum(&m->tree);
	outline_make(&m->outline, &m->tree, f->reader, &options, &m->arena);
}

static void unmake(struct made *m)
{
	calltree_release(&m->tree);
	spread_release(&m->spread);
	arena_release(&m->arena);
}

static const char *name_of(const struct fake *f, const struct outline_line *l)
{
	if (l->kind == OUTLINE_CALL)
		return reader_function(f->reader, l->function)->name;
	return l->kind == OUTLINE_SELF ? "=self" : "=rest";
}

/* The outline as text: "name*3 " per line, indented by dots; "=self*2". */
static const char *text_of(struct made *m, struct fake *f)
{
	struct buffer out = BUFFER_INIT;
	const char *kept;

	for (uint32_t i = 0; i < m->outline.n_lines; i++) {
		const struct outline_line *l = &m->outline.lines[i];

		for (uint32_t d = 0; d < l->depth; d++)
			buffer_add_byte(&out, '.');
		buffer_add_string(&out, name_of(f, l));
		buffer_printf(&out, "*%d", (int)l->samples);
		if (l->hidden && l->kind == OUTLINE_CALL)
			buffer_printf(&out, "+%u:%s", l->hidden,
				      l->packages[0]);
		buffer_add_string(&out, l->recursive ? "@ " : " ");
	}
	kept = arena_strdup(&m->arena, buffer_text(&out));
	buffer_release(&out);
	return kept;
}

static void test_merges_lines_and_orders_by_weight(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main:1;light:5"), 2);
	fake_run(&f, t, fake_stack(&f, "main:2;heavy:7"), 3);
	fake_run(&f, t, fake_stack(&f, "main:3;heavy:8"), 4);
	fake_run(&f, t, fake_stack(&f, "main:4"), 1);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f),
			    "main*10 .heavy*7 .light*2 .=self*1 ");
	assert_true(m.outline.lines[3].last);
	assert_false(m.outline.lines[1].last);
	unmake(&m);
	fake_end(&f);
}

static void test_recursion_is_folded_away(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main;walk;gen;walk;gen;walk"), 4);
	fake_run(&f, t, fake_stack(&f, "main;walk;gen;walk;leaf"), 3);
	fake_run(&f, t, fake_stack(&f, "main;walk;gen"), 1);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f),
			    "main*8 .walk*8@ ..=self*4 ..leaf*3 ..gen*1 ");
	unmake(&m);
	fake_end(&f);
}

/* What runs every generator leads to each of them where it stands. */
static void test_native_recursion_ends_at_python(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t,
		 fake_stack(&f, "main;send+16@/app/c.so;worker;"
				"send+16@/app/c.so;send+16@/app/c.so;evens"),
		 5);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f), "main*5 .send*5 ..worker*5 "
					     "...send*5@ ....evens*5 ");
	unmake(&m);
	fake_end(&f);
}

static void test_library_code_is_folded_into_its_entry(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main;loads" LIB ";decode" LIB), 4);
	fake_run(&f, t,
		 fake_stack(&f,
			    "main;loads" LIB ";decode" LIB ";scan" LIB ";hook"),
		 3);
	fake_run(&f, t, fake_stack(&f, "main;loads" LIB ";again" LIB ";hook"),
		 2);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f),
			    "main*9 .loads*9+3:json ..hook*5 ..=self*4 ");
	unmake(&m);
	make(&m, &f, (struct outline_options){ .unfolded = true });
	assert_string_equal(text_of(&m, &f),
			    "main*9 .loads*9 ..decode*7 ...=self*4 ...scan*3 "
			    "....hook*3 ..again*2 ...hook*2 ");
	unmake(&m);
	fake_end(&f);
}

static void test_all_library_is_not_folded(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "run" LIB ";loads" LIB ";scan" LIB), 99);
	fake_run(&f, t, fake_stack(&f, "mine"), 1);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f),
			    "run*99 .loads*99 ..scan*99 mine*1 ");
	unmake(&m);
	fake_end(&f);
}

static void test_light_branches_are_left_out_and_counted(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main;big"), 80);
	fake_run(&f, t, fake_stack(&f, "main;a"), 8);
	fake_run(&f, t, fake_stack(&f, "main;b"), 7);
	fake_run(&f, t, fake_stack(&f, "main;c"), 5);
	make(&m, &f, (struct outline_options){ .least = 0.1 });
	assert_string_equal(text_of(&m, &f), "main*100 .big*80 .=rest*20 ");
	assert_int_equal(m.outline.branches, 3);
	assert_int_equal(m.outline.largest, 8);
	unmake(&m);
	make(&m, &f, (struct outline_options){ .limit = 2 });
	assert_string_equal(text_of(&m, &f),
			    "main*100 .big*80 .a*8 .=rest*12 ");
	unmake(&m);
	fake_end(&f);
}

/* Of whatever limit, not a line more; what is shown is the heaviest. */
static void test_exact_limit(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main;a;b;c;d;e"), 50);
	fake_run(&f, t, fake_stack(&f, "main;a;b;x"), 20);
	fake_run(&f, t, fake_stack(&f, "main;y;z"), 15);
	fake_run(&f, t, fake_stack(&f, "main"), 10);
	for (uint32_t limit = 1; limit < 14; limit++) {
		make(&m, &f,
		     (struct outline_options){ .limit = limit, .exact = true });
		assert_true(m.outline.n_lines <= limit);
		assert_true(m.outline.n_lines >= (limit < 10 ? limit / 2 : 10));
		assert_string_equal(name_of(&f, m.outline.lines), "main");
		unmake(&m);
	}
	fake_end(&f);
}

static void test_limit_does_not_cut_a_path(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, fake_stack(&f, "a;b;c;d;e;hot"), 60);
	fake_run(&f, t, fake_stack(&f, "a;b;c;d;e;warm"), 30);
	fake_run(&f, t, fake_stack(&f, "a;b;c;d;e;cold"), 10);
	make(&m, &f, (struct outline_options){ .limit = 2 });
	assert_string_equal(text_of(&m, &f),
			    "a*100 .b*100 ..c*100 ...d*100 ....e*100 "
			    ".....hot*60 .....warm*30 .....=rest*10 ");
	unmake(&m);
	fake_end(&f);
}

static void test_samples_without_a_stack(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct made m;

	fake_run(&f, t, ID_NONE, 3);
	make(&m, &f, (struct outline_options){ 0 });
	assert_string_equal(text_of(&m, &f), "=self*3 ");
	assert_int_equal(m.outline.lines[0].function, ID_NONE);
	unmake(&m);
	fake_end(&f);
}

static void test_hotspots_are_the_users(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct hotspots spots;
	struct made m;

	fake_run(&f, t, fake_stack(&f, "main;parse;loads" LIB ";scan" LIB), 5);
	fake_run(&f, t, fake_stack(&f, "main;parse;dumps" LIB), 2);
	fake_run(&f, t, fake_stack(&f, "main;parse"), 1);
	fake_run(&f, t, fake_stack(&f, "main"), 1);
	fake_run(&f, t, fake_stack(&f, "run" LIB ";wait" LIB), 4);
	make(&m, &f, (struct outline_options){ 0 });
	hotspots_count(&spots, &m.spread, &m.arena);
	assert_int_equal(spots.n_spots, 2);
	assert_int_equal(spots.samples, 9);
	assert_int_equal(spots.spots[0].function, fake_function(&f, "parse"));
	assert_int_equal(spots.spots[0].samples, 8);
	assert_int_equal(spots.spots[0].call, fake_function(&f, "loads"));
	assert_int_equal(spots.spots[0].call_samples, 5);
	assert_int_equal(spots.spots[1].call, ID_NONE);
	assert_int_equal(spots.elsewhere, 4);
	assert_int_equal(spots.elsewhere_in, fake_function(&f, "wait"));
	unmake(&m);
	fake_end(&f);
}

static uint64_t total_of(const struct calltree *t, uint32_t parent,
			 uint32_t function)
{
	uint32_t node = map_get(&t->by_caller, parent, function);

	return node == MAP_NONE ? 0 : t->nodes[node].total;
}

static void test_callers_and_callees(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct callers c;

	fake_run(&f, t, fake_stack(&f, "main;a;work;leaf"), 5);
	fake_run(&f, t, fake_stack(&f, "main;b;work;work"), 3);
	fake_run(&f, t, fake_stack(&f, "main;b"), 2);
	fake_profile(&f, NULL);
	callers_count(&c, f.profile, fake_function(&f, "work"));
	assert_int_equal(c.samples, 8);
	assert_int_equal(c.self, 3);
	assert_int_equal(total_of(&c.above, 0, fake_function(&f, "a")), 5);
	assert_int_equal(total_of(&c.above, 0, fake_function(&f, "b")), 3);
	assert_int_equal(total_of(&c.below, 0, fake_function(&f, "leaf")), 5);
	assert_int_equal(total_of(&c.below, 0, fake_function(&f, "main")), 0);
	assert_int_equal(c.above.nodes[0].total, 8);
	assert_int_equal(c.below.nodes[0].total, 8);
	callers_release(&c);
	fake_end(&f);
}

static void test_callers_are_found_by_name(void **state)
{
	struct fake f = fake_begin();
	struct arena arena = ARENA_INIT;
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");
	struct callers_found found;

	fake_run(&f, t, fake_stack(&f, "main;Shop.load"), 5);
	fake_run(&f, t, fake_stack(&f, "main;load"), 3);
	fake_run(&f, t, fake_stack(&f, "main;Cart.load_all"), 2);
	fake_profile(&f, NULL);
	callers_find(&found, f.profile, "load", &arena, NULL);
	assert_int_equal(found.n_functions, 1);
	assert_int_equal(found.functions[0], fake_function(&f, "load"));
	callers_find(&found, f.profile, "load_all", &arena, NULL);
	assert_int_equal(found.n_functions, 1);
	callers_find(&found, f.profile, "*load*", &arena, NULL);
	assert_int_equal(found.n_functions, 3);
	assert_int_equal(found.functions[0], fake_function(&f, "Shop.load"));
	callers_find(&found, f.profile, "nothing", &arena, NULL);
	assert_int_equal(found.n_functions, 0);
	arena_release(&arena);
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merges_lines_and_orders_by_weight),
		cmocka_unit_test(test_recursion_is_folded_away),
		cmocka_unit_test(test_native_recursion_ends_at_python),
		cmocka_unit_test(test_library_code_is_folded_into_its_entry),
		cmocka_unit_test(test_all_library_is_not_folded),
		cmocka_unit_test(test_light_branches_are_left_out_and_counted),
		cmocka_unit_test(test_limit_does_not_cut_a_path),
		cmocka_unit_test(test_exact_limit),
		cmocka_unit_test(test_samples_without_a_stack),
		cmocka_unit_test(test_hotspots_are_the_users),
		cmocka_unit_test(test_callers_and_callees),
		cmocka_unit_test(test_callers_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
