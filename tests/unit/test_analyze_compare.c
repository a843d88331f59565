#include "analyze/compare.h"
#include "analyze/top.h"
#include "analyze_support.h"

struct side {
	struct fake fake;
	struct arena arena;
	struct shares top;
	struct flame flame;
};

/* `hot` of a thousand samples in hot(), one in gone() or fresh(), the others in
 * cold(), mixed well. */
static void make(struct side *s, const char *directory, int hot,
		 const char *rare)
{
	struct flame_options options = { 0 };
	uint32_t thread, stacks[3];
	char text[200];

	*s = (struct side){ .fake = fake_begin() };
	thread = fake_thread(&s->fake, 0, 100, "A");
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "main@%s/m.py;%s@%s/m.py",
			 directory,
			 i == 0	  ? "hot"
			 : i == 1 ? "cold"
				  : rare,
			 directory);
		stacks[i] = fake_stack(&s->fake, text);
	}
	for (int i = 0; i < 1000; i++)
		fake_run(&s->fake, thread,
			 stacks[i == 500	     ? 2
				: i * 7 % 1000 < hot ? 0
						     : 1],
			 1);
	fake_profile(&s->fake, NULL);
	assert_int_equal(top_count(&s->top, s->fake.profile, BY_FLAT, &s->arena,
				   NULL),
			 0);
	flame_build(&s->flame, s->fake.profile, NULL, &options);
}

static void unmake(struct side *s)
{
	flame_release(&s->flame);
	arena_release(&s->arena);
	fake_end(&s->fake);
}

static const struct compare_function *find(const struct compare *c,
					   const struct side *s, int side,
					   const char *name)
{
	uint32_t id = fake_function(&s->fake, name);

	for (uint32_t i = 0; i < c->n_functions; i++)
		if (c->functions[i].function[side] == id)
			return &c->functions[i];
	assert_true(false);
	return NULL;
}

static void compare(struct compare *c, struct side *base, struct side *new,
		    struct arena *arena)
{
	struct compare_side sides[] = {
		{ base->fake.profile, &base->top, &base->flame },
		{ new->fake.profile, &new->top, &new->flame },
	};

	compare_profiles(c, sides, arena);
}

static void tells_change_from_noise(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct compare_function *f;
	struct side base, new;
	struct compare c;

	make(&base, "/old/app", 200, "gone");
	make(&new, "/srv/new/app", 500, "fresh");
	compare(&c, &base, &new, &arena);
	f = find(&c, &new, COMPARE_NEW, "hot");
	assert_int_equal(f->function[COMPARE_BASE],
			 fake_function(&base.fake, "hot"));
	assert_false(f->self_noise);
	assert_float_equal(f->self[COMPARE_BASE].sure.share, 0.2, 0.002);
	assert_float_equal(f->self[COMPARE_NEW].sure.share, 0.5, 0.002);
	f = find(&c, &new, COMPARE_NEW, "fresh");
	assert_int_equal(f->function[COMPARE_BASE], ID_NONE);
	assert_true(f->self_noise);
	f = find(&c, &base, COMPARE_BASE, "gone");
	assert_int_equal(f->function[COMPARE_NEW], ID_NONE);
	f = find(&c, &new, COMPARE_NEW, "main");
	assert_true(f->total_noise);
	compare_release(&c);
	unmake(&base);
	unmake(&new);
	arena_release(&arena);
}

static void lays_both_trees_on_each_other(void **state)
{
	struct arena arena = ARENA_INIT;
	struct side base, new;
	struct compare c;
	uint64_t children = 0;

	make(&base, "/app", 300, "gone");
	make(&new, "/app", 300, "fresh");
	compare(&c, &base, &new, &arena);
	/* The root, main, and four functions below it. */
	assert_int_equal(c.flame.n_nodes, 6);
	assert_int_equal(c.nodes[1].samples[COMPARE_BASE], 1000);
	assert_int_equal(c.nodes[1].samples[COMPARE_NEW], 1000);
	for (uint32_t i = 2; i < c.flame.n_nodes; i++) {
		children += c.flame.nodes[i].total;
		assert_true(c.nodes[i].noise);
	}
	assert_true(children <= c.flame.nodes[1].total);
	assert_true(children > COMPARE_WIDTH / 100 * 99);
	compare_release(&c);
	unmake(&base);
	unmake(&new);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_change_from_noise),
		cmocka_unit_test(lays_both_trees_on_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
