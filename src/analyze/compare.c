/* Noise: a share has a half width h in which it would lie if it were recorded
 * again (statistics.c). The difference of two independent shares then has the
 * half width sqrt(h0^2 + h1^2); what is not larger than that is noise. A box of
 * the flame graph has no interval of its own: it is called noise when the
 * difference is within the binomial one, or when that of its function is. */
#include "analyze/compare.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/origin.h"
#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"

struct comparing {
	const struct compare_side *sides;
	struct intern names;
	struct buffer name;
	uint32_t *identity[COMPARE_SIDES];  /* by function */
	struct compare_function *functions; /* by identity */
	struct compare *out;
};

/* A name that is the same in both recordings; a NUL keeps its parts apart. */
static uint32_t identify(struct comparing *c, const struct function_info *f,
			 size_t base)
{
	buffer_reset(&c->name);
	buffer_add_string(&c->name, f->name);
	buffer_add_byte(&c->name, '\0');
	if (f->kind == FUNCTION_NATIVE || f->kind == FUNCTION_KERNEL)
		origin_package(f, &c->name);
	else
		buffer_add_string(&c->name, origin_short_path(f->file, base));
	return intern_bytes(&c->names, (const char *)c->name.data,
			    c->name.size);
}

static void identify_all(struct comparing *c, int side)
{
	const struct reader *reader = c->sides[side].profile->reader;
	uint32_t n = reader_functions(reader);
	size_t base = origin_base(reader);

	c->identity[side] = xcalloc(n, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		c->identity[side][i] =
			identify(c, reader_function(reader, i), base);
}

static void begin_functions(struct comparing *c, struct arena *arena)
{
	uint32_t n = c->names.count;

	c->functions =
		arena_calloc(arena, (size_t)n + 1, sizeof(*c->functions));
	for (uint32_t i = 0; i < n; i++)
		for (int side = 0; side < COMPARE_SIDES; side++) {
			struct compare_function *f = &c->functions[i];
			uint64_t all = c->sides[side].profile->samples;
			struct confidence none = {
				.again = share_interval(0, all)
			};

			f->function[side] = ID_NONE;
			f->self[side].sure = f->total[side].sure = none;
		}
}

static void take_shares(struct comparing *c, int side)
{
	const struct shares *top = c->sides[side].top;

	for (uint32_t i = 0; i < top->n_items; i++) {
		const struct key_share *s = &top->items[i];
		struct compare_function *f =
			&c->functions[c->identity[side][s->key]];

		f->function[side] = s->key;
		f->self[side] = s->flat;
		f->total[side] = s->cum;
	}
}

static double half_of(const struct share_count s[COMPARE_SIDES])
{
	return hypot(interval_half(s[COMPARE_BASE].sure.again),
		     interval_half(s[COMPARE_NEW].sure.again));
}

static bool is_noise(const struct share_count s[COMPARE_SIDES])
{
	double change = s[COMPARE_NEW].sure.share - s[COMPARE_BASE].sure.share;

	return fabs(change) <= half_of(s);
}

static void judge_functions(struct comparing *c)
{
	for (uint32_t i = 0; i < c->names.count; i++) {
		struct compare_function *f = &c->functions[i];

		f->self_half = half_of(f->self);
		f->total_half = half_of(f->total);
		f->self_noise = is_noise(f->self);
		f->total_noise = is_noise(f->total);
	}
}

/* Put one tree on top of what is there. */
static void merge_tree(struct comparing *c, int side, uint32_t *capacity)
{
	const struct flame *f = c->sides[side].flame;
	struct compare *out = c->out;
	uint32_t *place = xcalloc(f->n_nodes, sizeof(*place));

	for (uint32_t i = 1; i < f->n_nodes; i++) {
		const struct flame_node *n = &f->nodes[i];
		uint32_t id = n->kind == FLAME_FUNCTION
				      ? c->identity[side][n->id]
				      : n->id;
		uint32_t before = out->flame.n_nodes;

		place[i] =
			flame_child(&out->flame, place[n->parent], n->kind, id);
		ALLOC_GROW(out->nodes, out->flame.n_nodes, *capacity);
		if (out->flame.n_nodes > before)
			out->nodes[place[i]] = (struct compare_node){ 0 };
		out->nodes[place[i]].samples[side] += n->total;
	}
	out->nodes[0].samples[side] = f->nodes[0].total;
	free(place);
}

static double share_of(const struct comparing *c, int side, uint64_t samples)
{
	uint64_t all = c->sides[side].profile->samples;

	return all ? (double)samples / (double)all : 0;
}

static bool is_box_noise(const struct comparing *c, uint32_t node)
{
	const struct flame_node *n = &c->out->flame.nodes[node];
	struct share_count s[COMPARE_SIDES];

	for (int side = 0; side < COMPARE_SIDES; side++) {
		uint64_t samples = c->out->nodes[node].samples[side];
		uint64_t all = c->sides[side].profile->samples;

		s[side].sure.share = share_of(c, side, samples);
		s[side].sure.again = share_interval(samples, all);
	}
	return is_noise(s) ||
	       (n->kind == FLAME_FUNCTION && c->functions[n->id].total_noise);
}

/* Widths are rounded down, so that children never exceed their caller. */
static void judge_boxes(struct comparing *c)
{
	struct compare *out = c->out;

	for (uint32_t i = 0; i < out->flame.n_nodes; i++) {
		double mean = share_of(c, 0, out->nodes[i].samples[0]) / 2 +
			      share_of(c, 1, out->nodes[i].samples[1]) / 2;

		out->flame.nodes[i].total = (uint64_t)(mean * COMPARE_WIDTH);
		out->nodes[i].noise = is_box_noise(c, i);
	}
}

static void merge_trees(struct comparing *c)
{
	uint32_t capacity = 0;

	flame_init(&c->out->flame);
	ALLOC_GROW(c->out->nodes, 1, capacity);
	c->out->nodes[0] = (struct compare_node){ 0 };
	for (int side = 0; side < COMPARE_SIDES; side++)
		merge_tree(c, side, &capacity);
	judge_boxes(c);
	flame_finish(&c->out->flame);
}

void compare_profiles(struct compare *out,
		      const struct compare_side sides[COMPARE_SIDES],
		      struct arena *arena)
{
	struct comparing c = { .sides = sides,
			       .names = INTERN_INIT,
			       .out = out };

	*out = (struct compare){ 0 };
	for (int side = 0; side < COMPARE_SIDES; side++)
		identify_all(&c, side);
	begin_functions(&c, arena);
	for (int side = 0; side < COMPARE_SIDES; side++)
		take_shares(&c, side);
	judge_functions(&c);
	out->functions = c.functions;
	out->n_functions = c.names.count;
	merge_trees(&c);
	for (int side = 0; side < COMPARE_SIDES; side++)
		free(c.identity[side]);
	intern_release(&c.names);
	buffer_release(&c.name);
}

void compare_release(struct compare *c)
{
	flame_release(&c->flame);
	free(c->nodes);
	c->nodes = NULL;
}
